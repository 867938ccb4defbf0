"""`Run`: the folder that keeps the rollouts of one policy on one bank of tasks.

``config.yaml``         what was run; a resume must ask for the same
``trajectories.jsonl``  one line per finished rollout, appended whole and synced to disk
``errors.jsonl``        rollouts whose world or endpoint broke: not scored, tried again on resume
``summary.json``        accuracy, rewards and diagnostics, made from the above

A rollout is *finished* once its line is in ``trajectories.jsonl``, newline included. A process
that is killed may leave its last line half written; the next one that writes cuts it off. A key
that was in ``errors.jsonl`` and finishes later counts as finished; its old error is history.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat, LaterFormatError
from zephyrus.jsonlines import append, damaged, lines, mend, open_to_append, refusals, write_whole
from zephyrus.lock import FileLock, LockHeldError
from zephyrus.runconfig import CONFIG, check_same, read_config, to_yaml
from zephyrus.summary import summarise
from zephyrus.trajectory import FORMAT as ROLLOUT
from zephyrus.trajectory import Key, Trajectory

if TYPE_CHECKING:
    import pandas as pd

    from zephyrus.frames import Level

TRAJECTORIES, ERRORS, SUMMARY = "trajectories.jsonl", "errors.jsonl", "summary.json"

SUMMARY_FORMAT = FileFormat("run-summary", "0.1.0")

NAMED_RUNS = 8
"""Runs below ``runs``, the latest first, that `find` names when it finds none."""

_LOCK = ".lock"


class Run:
    """A run folder. Make one with `create` (to write) or `open` (to read).

    Iterating yields the finished rollouts one at a time, as they are read from the file.

    Attributes:
        path: The folder.
        config: What ``config.yaml`` says.
    """

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        self.path = path
        self.config = config
        self._lock: FileLock | None = None
        self._done: set[Key] = set()
        self._broken: Counter[Key] = Counter()
        self._files: dict[str, int] = {}
        self._guard = threading.Lock()  # append runs in a thread; close must wait for it

    @classmethod
    def create(cls, path: str | Path, config: Mapping[str, Any]) -> Self:
        """Start a run or go on with one, locked for writing until `close`.

        Args:
            path: The folder; made if missing.
            config: Plain values. If the folder holds a run, they must be the same, but for
                what `zephyrus.runconfig` names.

        Raises:
            UserError: If another process writes the run, if the folder can't be written or holds
                something else, or if the configuration differs; the first key that does is named.
        """
        folder = Path(path)
        wanted: dict[str, Any] = json.loads(json.dumps(config, default=str))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{folder} can't be a run folder: {error}") from error
        if not (folder / CONFIG).exists() and (other := _strangers(folder)):
            raise UserError(
                f"{folder} is no run folder but holds {other}; give another output folder"
            )
        run = cls(folder, wanted)
        run._acquire()
        try:
            if (folder / CONFIG).exists():
                check_same(read_config(folder), wanted, folder)
            write_whole(folder / CONFIG, to_yaml(wanted))
            run._recover()
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """A run to read, also while another process writes it.

        Raises:
            UserError: If there is no run at ``path``.
        """
        folder = Path(path)
        if not (folder / CONFIG).is_file():
            raise UserError(f"there is no run at {folder}: it has no {CONFIG}")
        return cls(folder, read_config(folder))

    # Reading ----------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.resolve().name

    def __iter__(self) -> Iterator[Trajectory]:
        return _trajectories(self.path / TRAJECTORIES)

    def __len__(self) -> int:
        return sum(1 for _ in lines(self.path / TRAJECTORIES))

    def __bool__(self) -> bool:
        return True  # an empty run is still a run

    def done_keys(self) -> set[Key]:
        """The keys of the finished rollouts."""
        if self._lock is not None:
            return set(self._done)
        return {_key(json.loads(line)) for line in lines(self.path / TRAJECTORIES)}

    def failures(self) -> Counter[Key]:
        """How often each rollout broke, also those that have finished since."""
        if self._lock is not None:
            return Counter(self._broken)
        return Counter(_key(json.loads(line)) for line in lines(self.path / ERRORS))

    def errors(self) -> list[Trajectory]:
        """The last error of every rollout that broke and has not finished since."""
        latest = {t.key: t for t in _trajectories(self.path / ERRORS)}
        done = self.done_keys() if latest else set()
        return [trajectory for key, trajectory in latest.items() if key not in done]

    @property
    def summary(self) -> dict[str, Any]:
        """``summary.json``, or a fresh summary where it is missing, damaged or out of date."""
        file = self.path / SUMMARY
        sources = [self.path / name for name in (TRAJECTORIES, ERRORS)]
        newest = max((s.stat().st_mtime_ns for s in sources if s.exists()), default=0)
        if file.exists() and file.stat().st_mtime_ns >= newest:
            kept = _read_summary(file)
            if kept is not None:
                return kept
        return self._summarise()

    def to_dataframe(self, level: Level = "rollouts", *, errors: bool = False) -> pd.DataFrame:
        """The finished rollouts as a table. ``task``, ``seed`` and ``repeat`` are always the key.

        Args:
            level: What a row is: "rollouts", "turns" (assistant messages) or "calls" (of tools).
            errors: Whether rollouts that broke follow the finished ones, those of `errors`.

        Returns:
            Of rollouts: ``template``, ``answer_type``, ``split``, ``gold`` and ``answer``; ``stop``
            (why it ended), ``error`` (what broke) and ``unscored`` (why there is no reward);
            ``turns``, ``calls``, ``failed_calls``, ``recovered_calls``, ``prompt_tokens`` and
            ``completion_tokens`` (counts); ``seconds`` and ``policy_seconds`` (wall-clock); then one
            for each component of the reward under its own name, in `zephyrus_bench` ``score``,
            ``required_tool``, ``turn_penalty`` and ``reward`` (one of a name above is
            ``reward_NAME``).
            Of turns: ``turn`` (from 1), ``text``, ``reasoning``, ``calls``, ``failed_calls``,
            ``observations`` (characters that came back) and ``images``.
            Of calls: ``turn`` and ``call`` (from 1), ``tool``, ``arguments`` (as they were
            written), ``error`` (missing, or a kind), ``seconds`` and ``observation``.

        Raises:
            UserError: If there is no such level, or the run is damaged.
        """
        from zephyrus.frames import to_dataframe

        return to_dataframe(chain(self, self.errors() if errors else ()), level)

    def __await__(self) -> Generator[Any, None, Self]:
        """The run itself, at once: ``await zephyrus.rollout(…)`` is ``zephyrus.rollout(…)``."""
        yield from ()
        return self

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, {len(self)} rollouts)"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.run import run_html

        return run_html(self)

    # Writing ----------------------------------------------------------------------------------

    def lock(self) -> Self:
        """Lock an opened run for writing; use it as ``with run.lock():``.

        Raises:
            UserError: If another process writes it, or it can't be written.
        """
        self._acquire()
        try:
            self._recover()
        except BaseException:
            self.close()
            raise
        return self

    def append(self, *trajectories: Trajectory) -> None:
        """Keep rollouts that have ended, and return when they are on the disk.

        Those that broke go to ``errors.jsonl``. May be called from any thread.

        Raises:
            RuntimeError: If the run is not locked, or a key is finished already.
            OSError: If the disk refuses; nothing of this call is then kept in that file.
        """
        new: dict[str, list[bytes]] = {}
        for trajectory in trajectories:
            name = ERRORS if trajectory.failed else TRAJECTORIES
            new.setdefault(name, []).append(trajectory.to_json().encode() + b"\n")
        finished = [t.key for t in trajectories if not t.failed]
        with self._guard:
            if self._lock is None:
                raise RuntimeError("the run is not open for writing")
            if len(set(finished)) < len(finished) or not self._done.isdisjoint(finished):
                raise RuntimeError(f"a rollout was done twice: {', '.join(map(str, finished))}")
            for name, data in new.items():
                append(self._file(name), b"".join(data))
            self._done.update(finished)
            self._broken.update(t.key for t in trajectories if t.failed)

    def write_summary(self) -> dict[str, Any]:
        """Make the summary anew and keep it in ``summary.json``."""
        summary = self._summarise()
        text = json.dumps(SUMMARY_FORMAT.stamp(summary), indent=2, ensure_ascii=False)
        write_whole(self.path / SUMMARY, text + "\n")
        return summary

    def replace(self, trajectories: Iterator[Trajectory]) -> None:
        """Put other contents in the place of ``trajectories.jsonl``, all or nothing.

        Args:
            trajectories: Every rollout of the run, for instance with new rewards.

        Raises:
            RuntimeError: If the run is not locked.
            UserError: If it can't be written.
        """
        if self._lock is None:
            raise RuntimeError("the run is not open for writing")
        with self._guard:
            if (handle := self._files.pop(TRAJECTORIES, None)) is not None:
                os.close(handle)
            write_whole(self.path / TRAJECTORIES, (t.to_json() + "\n" for t in trajectories))

    def reconfigure(self, changes: Mapping[str, Any]) -> None:
        """Change keys of ``config.yaml``.

        Raises:
            RuntimeError: If the run is not locked.
            UserError: If it can't be written.
        """
        if self._lock is None:
            raise RuntimeError("the run is not open for writing")
        self.config = {**self.config, **changes}
        write_whole(self.path / CONFIG, to_yaml(self.config))

    def close(self) -> None:
        """Give up the lock."""
        with self._guard:
            for handle in self._files.values():
                os.close(handle)
            self._files.clear()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _acquire(self) -> None:
        try:
            with refusals(self.path):
                self._lock = FileLock(self.path / _LOCK)
        except LockHeldError as owner:
            raise UserError(f"the run {self.path} is being written by {owner}") from None

    def _recover(self) -> None:
        self._broken = Counter(mend(self.path / ERRORS, _key))
        keys = mend(self.path / TRAJECTORIES, _key)
        self._done = set(keys)
        if len(self._done) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise UserError(f"{self.path / TRAJECTORIES} is damaged: it holds {twice} twice")

    def _file(self, name: str) -> int:
        if name not in self._files:
            self._files[name] = open_to_append(self.path / name)
        return self._files[name]

    def _summarise(self) -> dict[str, Any]:
        return summarise(chain(self, self.errors()))


def find(path: str | Path) -> Run:
    """A run to read, by its folder or by the folder's name below ``runs``.

    Raises:
        UserError: If there is no such run.
    """
    runs = Path("runs")
    places = (Path(path), runs / path)
    for folder in places:
        if (folder / CONFIG).is_file():
            return Run.open(folder)
    if Path(path).is_absolute() or any(folder.exists() for folder in places):
        return Run.open(next((folder for folder in places if folder.exists()), path))
    made = sorted(runs.glob(f"*/{CONFIG}"), key=lambda file: file.stat().st_mtime, reverse=True)
    names = [file.parent.name for file in made]
    rest = f" and {len(names) - NAMED_RUNS} more" if len(names) > NAMED_RUNS else ""
    there = f"; runs/ has {', '.join(names[:NAMED_RUNS])}{rest}" if names else ""
    raise UserError(f"there is no run {str(path)!r}, here or in runs/{there}")


# Files ----------------------------------------------------------------------------------------


def _trajectories(path: Path) -> Iterator[Trajectory]:
    for number, line in enumerate(lines(path), 1):
        try:
            yield Trajectory.from_json(line, f"{path}, line {number},")
        except ValueError as error:
            raise damaged(path, number, error) from error


def _key(data: Any) -> Key:
    try:
        task, seed, repeat = ROLLOUT.read(data, "a rollout")["key"]
        return Key(str(task), int(seed), int(repeat))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no key ({error})") from error


def _strangers(folder: Path) -> str:
    ours = {_LOCK, CONFIG + ".part"}  # a process may have been killed just before the config
    return ", ".join(sorted({file.name for file in folder.iterdir()} - ours)[:3])


def _read_summary(file: Path) -> dict[str, Any] | None:
    try:
        kept = SUMMARY_FORMAT.read(json.loads(file.read_text(encoding="utf-8")), file)
    except (OSError, ValueError, LaterFormatError):
        return None
    return kept if summarise([]).keys() <= kept.keys() else None
