"""The room for curricula: recipes, one YAML file each; the entry points name these paths."""

from pathlib import Path

_HERE = Path(__file__).parent

ZEPHYRUS_R1_4B = _HERE / "zephyrus-r1-4b.yaml"
ZEPHYRUS_R1_27B = _HERE / "zephyrus-r1-27b.yaml"
DIRECT_RL_4B = _HERE / "direct-rl-4b.yaml"
LOCO = _HERE / "loco.yaml"
LOCO_TINY = _HERE / "loco-tiny.yaml"
TINY = _HERE / "tiny.yaml"
TINY_LONG = _HERE / "tiny-long.yaml"
