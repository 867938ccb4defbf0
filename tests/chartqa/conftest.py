import sys
from pathlib import Path

# For the helpers beside the tests, and for openai_server.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "zephyrus"))
