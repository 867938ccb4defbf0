"""WeatherQA's and ScienceQA's files: what is read, what is refused and how it is named."""

import json

import pytest

from zephyrus.errors import UserError
from zephyrus_chartqa.item import Item
from zephyrus_chartqa.scienceqa import is_about_weather, load_scienceqa
from zephyrus_chartqa.weatherqa import export_weatherqa, load_weatherqa, split_problem

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 8
ROW = {
    "id": 1,
    "split": "train",
    "category": "500hpa_situation",
    "image_path": "500hpa_situation/Height_at_500hPa_2017_01_01_06.png",
    "answer": "D",
    "metadata": {"date": "2017/01/01", "location": "somewhere"},
    "cn": {"question": "哪个系统？", "choices": {"A": "甲", "B": "乙", "C": "丙", "D": "丁"}},
    "en": {
        "question": "Which system influences the region?",
        "choices": {"A": "a trough", "B": "a ridge", "C": "a cut-off low", "D": "a high"},
    },
}


def write(folder, rows, name="all_split.json", images=True):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    if images:
        for row in rows:
            image = folder / "image" / row["image_path"]
            image.parent.mkdir(parents=True, exist_ok=True)
            image.write_bytes(PNG)
    return folder


def broken(**changes):
    return {**ROW, **changes}


def test_the_published_form_is_read_in_both_languages(tmp_path):
    rows = [ROW, {**ROW, "id": 2, "split": "val"}, {**ROW, "id": 3, "split": "test"}]
    folder = write(tmp_path / "WeatherQA", rows)
    items = load_weatherqa(folder)
    assert [item.id for item in items] == ["1", "2", "3"]
    assert [item.split for item in items] == ["train", "validation", "test"]
    assert items[0].choices == ("a trough", "a ridge", "a cut-off low", "a high")
    assert (items[0].answer, items[0].category) == ("D", "500hpa_situation")
    assert (folder / items[0].image_path).read_bytes() == PNG
    assert items[0].provenance["metadata"] == ROW["metadata"]
    assert load_weatherqa(folder, language="cn")[0].question == "哪个系统？"


def test_training_files_are_read_with_the_images_two_folders_up(tmp_path):
    write(tmp_path, [ROW])
    rows = [
        {
            "problem": "<image>Which?\nA. a trough\nB. a ridge\nC. a low\nD. a high",
            "answer": "B",
            "images": ["500hpa_situation/Height_at_500hPa_2017_01_01_06.png"],
        }
    ]
    file = tmp_path / "train" / "split" / "train_500hpa_situation.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(rows))
    (item,) = load_weatherqa(file)
    assert (item.question, item.answer, item.split) == ("Which?", "B", "train")
    assert item.category == "500hpa_situation"
    assert item.choices == ("a trough", "a ridge", "a low", "a high")
    assert (file.parent / item.image_path).is_file()


@pytest.mark.parametrize(
    "problem",
    [
        "<image>\nQuestion: Which one?\nChoices:\nA. x y\nB. z",
        "Which one?\nOptions:\n(A) x y\n(B) z",
        "<image> Which one?\nA: x y\nB: z",
    ],
)
def test_a_problem_is_taken_apart(problem):
    assert split_problem(problem) == ("Which one?", ["x y", "z"])


@pytest.mark.parametrize("problem", ["Which one?", "A. x\nB. y", "Which?\nA. only one", ""])
def test_a_problem_without_question_or_choices_is_refused(problem):
    with pytest.raises(ValueError, match="a line for each choice"):
        split_problem(problem)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (broken(answer="E"), "one of A, B, C, D, not 'E'"),
        (broken(answer="the high"), "not 'the high'"),
        (broken(split="holdout"), "no split 'holdout'"),
        (broken(en={"question": "Which?"}), "it has no 'choices'"),
        (broken(en={"question": " ", "choices": {"A": "x", "B": "y"}}), "question is not a text"),
        (broken(en={"question": "Q?", "choices": {"A": "x", "C": "y"}}), "lettered A, C"),
        (broken(en={"question": "Q?", "choices": {"A": "x", "B": "X "}}), "two choices"),
        (broken(en={"question": "Q?", "choices": {"A": "x", "B": 3}}), "choice is not a text"),
        (broken(image_path=""), "it names no image"),
        ({k: v for k, v in ROW.items() if k != "category"}, "it has no 'category'"),
        ({k: v for k, v in ROW.items() if k != "en"}, "it has no 'en', only cn"),
        ("text", "not a JSON object"),
    ],
)
def test_a_broken_item_is_named_by_its_place_and_id(tmp_path, row, message):
    write(tmp_path, [ROW])
    first = {**ROW, "id": 0}
    (tmp_path / "all_split.json").write_text(json.dumps([first, row]))
    with pytest.raises(UserError, match=message) as caught:
        load_weatherqa(tmp_path)
    told = str(caught.value)
    assert "item 2" in told
    if isinstance(row, dict):
        assert "(id 1)" in told


def test_two_items_of_one_id_and_missing_images_are_refused(tmp_path):
    twice = write(tmp_path / "a" / "twice", [ROW, ROW])
    with pytest.raises(UserError, match=r"item 2 \(id 1\): the item 1 has the same id"):
        load_weatherqa(twice)
    other = write(tmp_path / "b" / "other", [ROW], images=False)
    with pytest.raises(UserError, match=r"item 1 \(id 1\): there is no image 500hpa_situation/"):
        load_weatherqa(other)
    assert load_weatherqa(other, images=False)[0].image_path == ROW["image_path"]


def test_files_that_are_no_items_are_refused(tmp_path):
    with pytest.raises(UserError, match="there is no file"):
        load_weatherqa(tmp_path)
    file = tmp_path / "test.json"
    for text, message in (("[1", "not JSON"), ("3", "neither a list"), ("[]", "no items")):
        file.write_text(text)
        with pytest.raises(UserError, match=message):
            load_weatherqa(file)
    lines = tmp_path / "test.jsonl"
    lines.write_text(json.dumps(ROW) + "\n{\n")
    with pytest.raises(UserError, match="line 2: not JSON"):
        load_weatherqa(lines)


def test_a_split_comes_from_the_files_name_or_the_caller(tmp_path):
    bare = {key: value for key, value in ROW.items() if key != "split"}
    write(tmp_path, [ROW])
    for name in ("val.json", "rows.json"):
        (tmp_path / name).write_text(json.dumps([bare]))
    assert load_weatherqa(tmp_path / "val.json")[0].split == "validation"
    with pytest.raises(UserError, match="give one"):
        load_weatherqa(tmp_path / "rows.json")
    assert load_weatherqa(tmp_path / "rows.json", split="test")[0].split == "test"


def item(name, split, category="rain", **more):
    choices = ("w", "x", "y", "z")
    return Item(name, "", category, "C", split, f"Which, {name}?", choices, **more)


def test_what_is_written_is_read_back_the_same(tmp_path):
    items = [item("a", "train"), item("b", "train", "max_temp"), item("c", "test")]
    items += [item("d", "validation")]
    charts = {i.id: PNG + i.category.encode() for i in items}
    written = export_weatherqa(items, charts, tmp_path)
    rows = json.loads((tmp_path / "all_split.json").read_text())
    assert set(rows[0]) == {"id", "split", "category", "image_path", "answer", "metadata", "en"}
    assert [row["id"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["en"]["choices"] == {"A": "w", "B": "x", "C": "y", "D": "z"}
    assert all((tmp_path / "image" / row["image_path"]).read_bytes() for row in rows)
    back = load_weatherqa(tmp_path)
    for one, other in zip(items, back, strict=True):
        assert other.provenance["metadata"]["name"] == one.id
        for field in ("category", "answer", "split", "question", "choices"):
            assert getattr(one, field) == getattr(other, field)
    for name, ids in (
        ("train/split/train_rain.json", ["a"]),
        ("train/split/train_max_temp.json", ["b"]),
        ("val.json", ["d"]),
        ("test.json", ["c"]),
    ):
        found = load_weatherqa(tmp_path / name)
        assert [i.question for i in found] == [f"Which, {i}?" for i in ids]
        assert {i.choices for i in found} == {("w", "x", "y", "z")}
        assert {i.answer for i in found} == {"C"}
    assert all(path.is_file() for path in written)
    with pytest.raises(UserError, match="'e' has no chart"):
        export_weatherqa([item("e", "test")], {}, tmp_path / "no")


PROBLEM = {
    "question": "Does this passage describe the weather or the climate?",
    "choices": ["weather", "climate"],
    "answer": 1,
    "hint": "Figure: Marseille.",
    "image": "image.png",
    "task": "closed choice",
    "grade": "grade6",
    "subject": "natural science",
    "topic": "earth-science",
    "category": "Weather and climate",
    "skill": "Weather and climate around the world",
    "lecture": "",
    "solution": "",
    "split": "val",
}


def problems(folder, found, images=True):
    folder.mkdir(exist_ok=True)
    (folder / "problems.json").write_text(json.dumps(found))
    for key, row in found.items():
        if images and row.get("image"):
            image = folder / "images" / row["split"] / key / row["image"]
            image.parent.mkdir(parents=True)
            image.write_bytes(PNG)
    return folder


def test_scienceqa_gives_the_weather_questions_that_have_an_image(tmp_path):
    found = {
        "7": PROBLEM,
        "8": {**PROBLEM, "image": None},
        "9": {**PROBLEM, "category": "Rocks and minerals"},
        "10": {**PROBLEM, "split": "train", "hint": "", "answer": 0},
    }
    folder = problems(tmp_path / "scienceqa", found)
    items = load_scienceqa(folder)
    assert [item.id for item in items] == ["scienceqa-7", "scienceqa-10"]
    assert {item.split for item in items} == {"test"}
    assert items[0].answer == "B" and items[1].answer == "A"
    assert items[0].question.endswith("\nContext: Figure: Marseille.")
    assert items[1].question == PROBLEM["question"]
    assert items[0].provenance["split"] == "val"
    assert (folder / items[0].image_path).read_bytes() == PNG
    everything = load_scienceqa(folder, choose=lambda row: bool(row["image"]))
    assert len(everything) == 3
    assert is_about_weather(PROBLEM) and not is_about_weather({**PROBLEM, "image": ""})


def test_the_curated_file_of_weather_r1_is_read(tmp_path):
    row = {
        "id": 0,
        "split": "test",
        "category": "Weather and climate",
        "image_path": "0.png",
        "en": {"question": "Weather or climate?", "choices": {"A": "weather", "B": "climate"}},
        "answer": "B",
    }
    write(tmp_path, [row], name="ScienceQA_dataset.json")
    (item,) = load_scienceqa(tmp_path)
    assert (item.choices, item.answer) == (("weather", "climate"), "B")
    assert (tmp_path / item.image_path).is_file()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**PROBLEM, "answer": 2}, "the answer 2 is none of its 2 choices"),
        ({**PROBLEM, "answer": None}, "int"),
        ({**PROBLEM, "choices": ["one"], "answer": 0}, "has 1 choices"),
        ({k: v for k, v in PROBLEM.items() if k != "question"}, "it has no 'question'"),
    ],
)
def test_a_broken_problem_is_named(tmp_path, row, message):
    folder = problems(tmp_path / "s", {"41": row})
    with pytest.raises(UserError, match=message) as caught:
        load_scienceqa(folder)
    assert "problem 41" in str(caught.value)


def test_scienceqa_without_weather_or_images_is_refused(tmp_path):
    folder = problems(tmp_path / "s", {"1": {**PROBLEM, "category": "Rocks"}})
    with pytest.raises(UserError, match="none of the 1 problems"):
        load_scienceqa(folder)
    folder = problems(tmp_path / "t", {"1": PROBLEM}, images=False)
    with pytest.raises(UserError, match=r"no image images/val/1/image\.png"):
        load_scienceqa(folder)
    assert load_scienceqa(folder, images=False)[0].image_path == "images/val/1/image.png"
