from zephyrus.training.checkpoints import beside, complete, last_whole, put


def checkpoint(folder, step, *, whole=True):
    made = folder / f"checkpoint-{step}"
    (made / "ref").mkdir(parents=True)
    (made / "ref" / "adapter_model.safetensors").write_text("old")
    (made / "adapter_model.safetensors").write_text("new")
    if whole:
        complete(made, {"weights": {"updates": step}})
    return made


def test_a_half_written_checkpoint_is_not_taken_and_cleared_away(tmp_path):
    checkpoint(tmp_path, 9)
    tenth, half = checkpoint(tmp_path, 10), checkpoint(tmp_path, 11, whole=False)
    assert last_whole(tmp_path, clean=False) == tenth
    assert half.is_dir()
    assert last_whole(tmp_path) == tenth
    assert not half.exists()
    assert beside(tenth) == {"weights": {"updates": 10}}


def test_what_is_left_of_one_that_was_being_removed_is_cleared_away(tmp_path):
    old, before, last = (checkpoint(tmp_path, step) for step in (7, 8, 9))
    (old / "adapter_model.safetensors").unlink()  # its folder is now the latest touched
    assert last_whole(tmp_path) == last
    assert not old.exists()
    assert before.is_dir()


def test_none_is_none(tmp_path):
    assert last_whole(tmp_path / "missing") is None
    checkpoint(tmp_path, 1, whole=False)
    assert last_whole(tmp_path) is None


def test_the_reference_adapter_does_not_stay(tmp_path):
    # Trainer would load it in the place of the trained one, and lose all training so far.
    made = checkpoint(tmp_path, 3)
    assert sorted(f.name for f in made.iterdir()) == ["adapter_model.safetensors", "zephyrus.json"]
    assert beside(made) == {"weights": {"updates": 3}}


def test_put_replaces_whole_folders(tmp_path):
    for name, text in (("there", "old"), (".there", "new")):
        (tmp_path / name).mkdir()
        (tmp_path / name / text).write_text(text)
    put(tmp_path / ".there", tmp_path / "there")
    assert [f.name for f in (tmp_path / "there").iterdir()] == ["new"]
    assert not (tmp_path / ".there").exists()
