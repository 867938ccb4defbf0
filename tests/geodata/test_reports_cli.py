"""``zephyrus data reports parse`` as a user meets it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from click.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).parent))  # for the texts beside the tests

from report_texts import OFFICE, SHORT_RANGE

from zephyrus_geodata.cli import data
from zephyrus_geodata.reports import discussion_text, parse_product

WORDS = str(len(discussion_text(parse_product(OFFICE)).split()))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(data, ["reports", "parse", *arguments])


def test_a_table(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text(f"{OFFICE}\n{SHORT_RANGE}")
    result = run(str(file))
    assert result.exit_code == 0
    head, first, second, note = result.output.splitlines()
    assert head.split() == ["product", "office", "issued", "(UTC)", "words", "sections"]
    assert first.split()[:5] == ["AFD", "KXYZ", "2026-10-14", "10:31", WORDS]
    assert "KEY MESSAGES, SHORT TERM, EVENING UPDATE" in first
    assert second.startswith("PMDSPD   KWBC    2026-10-14 19:58")
    assert first.endswith("[two.txt]")
    assert note == "words: of the text that is scored (--text prints it)"


def test_the_text(tmp_path: Path) -> None:
    file = tmp_path / "afd.txt"
    file.write_text(OFFICE)
    assert "VFR" not in run(str(file), "--text").output
    kept = run(str(file), "--text", "--keep", "aviation, fire").output
    assert kept.startswith("KEY MESSAGES:\n- Snow above")
    assert "AVIATION (12Z TAFS):\nVFR until 03Z, then MVFR.\n\nFIRE WEATHER:" in kept
    second = tmp_path / "spd.txt"
    second.write_text(SHORT_RANGE)
    both = run(str(file), str(second), "--text").output
    assert "=== 202610141958-KWBC-FXUS01-PMDSPD\nLake-effect snow" in both


def test_json(tmp_path: Path) -> None:
    good, bad = tmp_path / "afd.txt", tmp_path / "stub.txt"
    good.write_text(OFFICE)
    bad.write_text("This is short text, just for testing.")
    result = run(str(good), str(bad), "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    (product,) = record["products"]
    assert product["id"] == "202610141031-KXYZ-FXUS65-AFDXYZ-CCA"
    assert product["issued"] == "2026-10-14T10:31:00+00:00"
    assert product["sections"][1]["period"] == "TODAY THROUGH 6 PM THURSDAY"
    assert product["text"].startswith("KEY MESSAGES:")
    assert "raw" not in product
    assert record["refused"] == [
        {"file": str(bad), "reason": "it is a stub: only 7 words below its head"}
    ]


def test_what_is_refused_is_told_and_the_rest_is_printed(tmp_path: Path) -> None:
    good, bad, undated = tmp_path / "a.txt", tmp_path / "b.json", tmp_path / "c.txt"
    good.write_text(OFFICE)
    bad.write_text('{"@graph": [{"id": 1}]}')
    undated.write_text(OFFICE.replace("431 AM MDT Wed Oct 14 2026\n", ""))
    result = run(str(bad), str(good), str(undated))
    assert result.exit_code == 1
    assert "AFD      KXYZ" in result.stdout
    first, second = result.stderr.splitlines()
    assert first.endswith(
        "b.json: this is a listing of 1 products without their texts: fetch each by its id"
    )
    assert "c.txt: it can't be dated" in second
    dated = run(str(undated), "--near", "2026-10-20")
    assert (dated.exit_code, "2026-10-14 10:31" in dated.stdout) == (0, True)


def test_wrong_commands(tmp_path: Path) -> None:
    file = tmp_path / "afd.txt"
    file.write_text(OFFICE)
    for arguments, words in (
        ([str(tmp_path / "none.txt")], "does not exist"),
        ([str(file), "--keep", "avation"], "'avation' is no kind of section"),
        ([str(file), "--json", "--text"], "not both"),
        ([str(file), "--near", "soon"], "soon"),
        ([], "Missing argument"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.output


def test_a_text_can_not_drive_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "afd.txt"
    file.write_text(
        OFFICE.replace("Radar", "\x1b[31mRadar\u202e\x07").replace(
            "SHORT TERM", "SHORT\x1b[2J TERM"
        )
    )
    for output in (run(str(file)).output, run(str(file), "--text").output):
        assert not {"\x1b", "\x07", "\u202e"} & set(output)


def test_standard_input() -> None:
    result = CliRunner().invoke(data, ["reports", "parse", "-", "--text"], input=OFFICE)
    assert result.exit_code == 0
    assert result.output.strip() == discussion_text(parse_product(OFFICE)).strip()


def test_a_picture_is_refused_once(tmp_path: Path) -> None:
    file = tmp_path / "map.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 40)
    result = run(str(file))
    assert result.exit_code == 1
    (line,) = result.output.splitlines()
    assert line.startswith(f"refused  {file}: is no text: it holds zero bytes")
