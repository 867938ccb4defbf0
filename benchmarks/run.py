"""All benchmarks: ratios against a named alternative on the same work, in one run.

    python benchmarks/run.py [ROW ...] [--list] [--quick] [--output DIR] [--update-docs]
    python benchmarks/run.py --docs-from FILE

See `benchmarks.suite`.
"""

import sys
from pathlib import Path

# The folder above instead of this one: the modules here are ``benchmarks.…``.
sys.path[0] = str(Path(__file__).resolve().parents[1])

if __name__ == "__main__":
    from benchmarks.suite import main

    sys.exit(main())
