"""A task is one question with its gold answer; a task set is a bank of them."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, overload

from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat, LaterFormatError
from zephyrus.jsonlines import write_whole
from zephyrus.messages import brief, clean_text

SPLITS = ("train", "validation", "test")

FORMAT = FileFormat("task", "0.1.0")
"""A line of a bank."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question.

    Attributes:
        id: Unique in its bank and stable across rebuilds from one seed.
        prompt: What the agent is asked.
        gold: The right answer (a JSON value), hidden from the agent.
        answer_type: How the verifier compares ("numerical", "time", "location", ...).
        template: The template that it was made from.
        split: "train", "validation" or "test".
        required_tools: Tools of each of which at least one call must succeed for a reward.
        world: What the environment needs to set the scene (dataset, forecast, ...).
        program: The tool calls that answer it, for the scripted policy.
        provenance: Where it comes from: source, exact semantics, margin, seed.
    """

    id: str
    prompt: str
    gold: Any
    answer_type: str = ""
    template: str = ""
    split: str = "test"
    required_tools: tuple[str, ...] = ()
    world: dict[str, Any] = field(default_factory=dict)
    program: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Task({self.id!r}, {brief(self.prompt)}, gold={brief(str(self.gold))})"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.things import task_html

        return task_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "required_tools": list(self.required_tools)}

    def facts(self) -> dict[str, Any]:
        """What a trajectory keeps of its task, for tables and rescoring."""
        names = ("template", "answer_type", "split", "gold")
        kept = {name: getattr(self, name) for name in names}
        return {**kept, "required_tools": list(self.required_tools)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Task:
        """The inverse of `to_dict`; unknown keys are an error."""
        known = set(cls.__slots__)
        if unknown := set(data) - known:
            raise UserError(
                f"a task has the unknown keys {sorted(unknown)}; known: {sorted(known)}"
            )
        return cls(**{**data, "required_tools": tuple(data.get("required_tools", ()))})


class TaskSet:
    """An ordered, immutable bank of tasks with unique ids."""

    def __init__(self, tasks: Iterable[Task], name: str = "") -> None:
        self._tasks = tuple(tasks)
        self.name = name
        self._by_id = {task.id: task for task in self._tasks}
        if len(self._by_id) != len(self._tasks):
            raise UserError(f"the bank {name!r} holds two tasks with one id")

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks)

    @overload
    def __getitem__(self, key: int) -> Task: ...
    @overload
    def __getitem__(self, key: str) -> Task: ...
    def __getitem__(self, key: int | str) -> Task:
        if isinstance(key, int):
            return self._tasks[key]
        if key not in self._by_id:
            raise UserError(f"no task {key!r} in the bank {self.name!r} of {len(self)} tasks")
        return self._by_id[key]

    def __repr__(self) -> str:
        return f"TaskSet({self.name!r}, {len(self)} tasks)"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.things import task_set_html

        return task_set_html(self)

    def filter(self, keep: Callable[[Task], bool]) -> TaskSet:
        """The tasks for which ``keep`` is true."""
        return TaskSet((t for t in self._tasks if keep(t)), self.name)

    def split(self, name: str) -> TaskSet:
        """The tasks of one split."""
        if name not in SPLITS:
            raise UserError(f"no split {name!r}; the splits are {', '.join(SPLITS)}")
        return self.filter(lambda task: task.split == name)

    def shuffle(self, seed: int) -> TaskSet:
        """The same tasks in an order that ``seed`` fixes."""
        tasks = list(self._tasks)
        random.Random(seed).shuffle(tasks)
        return TaskSet(tasks, self.name)

    def take(self, n: int) -> TaskSet:
        """The first ``n`` tasks, taken in turn from each template so that none is left out."""
        queues: dict[str, list[Task]] = {}
        for task in self._tasks:
            queues.setdefault(task.template, []).append(task)
        order: list[Task] = []
        rank = 0
        while len(order) < min(n, len(self)):
            order += [queue[rank] for queue in queues.values() if rank < len(queue)]
            rank += 1
        return TaskSet(order[:n], self.name)

    def save(self, path: Path) -> None:
        """Write JSON lines, complete or not at all; gzipped if the name ends in ``.gz``.

        The same tasks give the same bytes.
        """
        lines = (
            json.dumps(FORMAT.stamp(task.to_dict()), ensure_ascii=False) + "\n"
            for task in self._tasks
        )
        data = clean_text("".join(lines)).encode()
        write_whole(path, gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)

    @classmethod
    def load(cls, path: Path) -> TaskSet:
        """Read JSON lines, gzipped if the name ends in ``.gz``.

        Raises:
            UserError: If there is no such file, a later release wrote it, or it is no bank; the
                first wrong line is named.
        """
        if not path.is_file():
            raise UserError(f"there is no bank at {path}; make one with: zephyrus env build-bank")
        try:
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise UserError(f"the bank {path} can't be read: {error}") from error
        tasks = []
        # Only a line feed ends a line: a prompt may hold U+2028 and the like.
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                found = FORMAT.read(json.loads(line.decode()), f"{path}, line {number},")
                tasks.append(Task.from_dict(found))
            except LaterFormatError:
                raise
            except (ValueError, TypeError, UserError) as error:
                raise UserError(f"{path}, line {number}: not a task ({error})") from error
        return cls(tasks, path.name.split(".")[0])


def bank_file(output: Path | str | None) -> Path | None:
    """The file that a bank is to be written to, checked before the work is done.

    Raises:
        UserError: If its name ends in neither ``.jsonl`` nor ``.jsonl.gz``.
    """
    if output is None:
        return None
    path = Path(output)
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise UserError(f"a bank is a .jsonl or .jsonl.gz file, not {path.name!r}")
    return path
