"""A process that evaluates a run with an endpoint judge, for tests that kill it.

evaluation_worker.py RUN URL CACHE
"""

import sys
from pathlib import Path

from evaluation_parts import EVENTS, NoteEnv

from zephyrus.evaluation import evaluate

if __name__ == "__main__":
    run, url, cache = sys.argv[1:]
    found = evaluate(
        run,
        NoteEnv(EVENTS),
        f"openai:m@{url}",
        passes=2,
        concurrency=4,
        cache=Path(cache),
        progress=False,
    )
    sys.exit(1 if found.missing else 0)
