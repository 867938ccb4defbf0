"""The page of a run (`zephyrus env view`): one HTML file that needs no network.

The rows of the table lie in it as one piece, the traces in pieces of `PIECE` rollouts, each as
gzip in Base64, and the images one by one. The browser unpacks a piece when a rollout of it is
opened, so that a page of thousands of rollouts is there at once.

Everything a model, a tool or a judge wrote is untrusted. The scripts (ours, and Preact, which makes
elements of our templates) only ever set it as text; packed, it can't end its element; and the
content security policy names the hashes of our style and scripts, lets nothing load but images
from ``data:`` URLs, and forbids by Trusted Types that any text is read as markup.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

from zephyrus.jsonlines import write_whole
from zephyrus.run import Run
from zephyrus.view.page import fill, harmless, part, source_hash
from zephyrus.view.plain import plain
from zephyrus.view.run.comparison import difference, pair
from zephyrus.view.run.pictures import Pictures
from zephyrus.view.run.questions import split_lead
from zephyrus.view.run.rollout import row, trace

IMAGES_MB = 200
"""Megabytes of images in a page, by default: browsers take some time over more."""

PIECE = 50
"""Rollouts whose traces are packed, and unpacked, together."""

_VENDOR = ("preact.js", "preact-hooks.js", "htm.js")
_SCRIPTS = (
    "data.js",
    "state.js",
    "parts.js",
    "overview.js",
    "table.js",
    "trace.js",
    "rollout.js",
    "keys.js",
    "main.js",
)
_STYLES = ("base.css", "run/page.css", "run/table.css", "run/rollout.css")


@dataclass(frozen=True, slots=True)
class Written:
    """What a page holds.

    Attributes:
        rollouts: Of all its runs.
        images: Different ones that are in it.
        left_out: Different images for which there was no room.
        bytes: The size of the file.
    """

    rollouts: int
    images: int
    left_out: int
    bytes: int


def write_run_view(path: Path, runs: Sequence[Run], *, images_mb: float = IMAGES_MB) -> Written:
    """Write the page of a run, or of two beside each other.

    Args:
        path: The file.
        runs: One run, or two to compare: the change is from the first to the second.
        images_mb: Megabytes that images may take up; those that come later are left out, with
            what they show in words.

    Raises:
        ValueError: If there are not one or two runs.
        UserError: If the file can't be written or a run is damaged.
    """
    if not 1 <= len(runs) <= 2:
        raise ValueError("a page shows one run or two")
    pictures = Pictures(int(images_mb * 1e6))
    texts: dict[str, int] = {}
    rows: list[list[dict[str, Any]]] = []
    pieces: list[tuple[str, str]] = []
    for number, run in enumerate(runs):
        rows.append([])
        waiting: list[dict[str, Any]] = []
        for trajectory in chain(run, run.errors()):
            rows[number].append(row(trajectory))
            waiting.append(trace(trajectory, pictures, texts))
            if len(waiting) == PIECE:
                pieces.append((_piece_id(number, rows[number]), packed(waiting)))
                waiting = []
        if waiting:
            pieces.append((_piece_id(number, rows[number]), packed(waiting)))
    split_lead([some for run_rows in rows for some in run_rows])
    two = len(rows) == 2
    pairs = pair(rows[0], rows[1]) if two else []
    index = {
        "runs": [_about(run, some) for run, some in zip(runs, rows, strict=True)],
        "rows": rows,
        "pairs": pairs if two else None,
        "difference": difference(rows[0], rows[1], pairs) if two else None,
        "piece": PIECE,
        "texts": list(texts),
    }
    title = " and ".join(f"{run.name}{_policy(run)}" for run in runs)
    write_whole(path, _page(title, index, pieces, pictures))
    return Written(sum(map(len, rows)), len(pictures), pictures.left_out, path.stat().st_size)


def packed(data: Any) -> str:
    """A JSON value as gzip in Base64: the same for the same value."""
    text = json.dumps(harmless(data), separators=(",", ":"), ensure_ascii=False)
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _piece_id(number: int, rows: Sequence[Any]) -> str:
    return f"piece-{number}-{(len(rows) - 1) // PIECE}"


def _page(
    title: str, index: Any, pieces: Sequence[tuple[str, str]], pictures: Pictures
) -> Iterator[str]:
    style = "".join(map(part, _STYLES))
    vendor = "\n".join(part(f"vendor/{name}") for name in _VENDOR)
    script = "".join(part(f"run/{name}") for name in _SCRIPTS)
    values = {
        "TITLE": escape(plain(title)),
        "STYLE_HASH": source_hash(style),
        "VENDOR_HASH": source_hash(vendor),
        "SCRIPT_HASH": source_hash(script),
        "STYLE": style,
        "VENDOR": vendor,
        "SCRIPT": script,
        "INDEX": packed(index),
    }
    before, after = part("run/page.html").split("{{DATA}}")
    yield fill(before, values)
    data = chain(pieces, ((f"image-{n}", image) for n, image in enumerate(pictures)))
    for name, content in data:
        yield f'<script type="application/octet-stream" id="{name}">{content}</script>\n'
    yield fill(after, values)


def _about(run: Run, rows: Sequence[Any]) -> dict[str, Any]:
    """What the head of the page says of a run."""
    summary = run.summary
    kept = ("accuracy", "accuracy_ci95", "rewards", "templates", "failure_rate", "tools_per_turn")
    return {
        "name": run.name,
        "policy": str((run.config.get("policy") or {}).get("name") or ""),
        "limits": dict(run.config.get("limits") or {}),
        "config": run.config,
        "summary": {name: summary[name] for name in kept},
        "rollouts": len(rows),
        "wanted": run.config.get("n", 0) * run.config.get("repeats", 1),
    }


def _policy(run: Run) -> str:
    name = (run.config.get("policy") or {}).get("name")
    return f" ({name})" if name else ""
