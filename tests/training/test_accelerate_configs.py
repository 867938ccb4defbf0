from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file

FOLDER = Path(__file__).parents[2] / "curricula" / "accelerate-configs"
KINDS = {"ddp": "MULTI_GPU", "fsdp": "FSDP", "deepspeed-zero2": "DEEPSPEED"}


@pytest.mark.parametrize("name", KINDS)
def test_accelerate_reads_our_configurations(name):
    read = load_config_from_file(str(FOLDER / f"{name}.yaml"))
    assert isinstance(read, ClusterConfig)
    assert str(read.distributed_type).rpartition(".")[2] == KINDS[name]
    assert read.mixed_precision == "no"


def test_none_is_left_out():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(KINDS)
