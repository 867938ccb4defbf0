"""`ForecastEnv`: what every environment over a dataset's forecasts has in common."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from zephyrus.env import ToolEnv
from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.scenes import Scenes
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, World
from zephyrus_geodata import Dataset, Forecast, GeodataError, load_dataset
from zephyrus_tools.scenes import forecast_scenes


class ForecastEnv(ToolEnv):
    """An environment whose tasks are a bank's, each about one forecast of a dataset.

    A subclass says where the banks are that ship with it, and what `ToolEnv` leaves open.
    """

    tool_names = ("features", "dataset", "climatology", "map")
    banks: ClassVar[Path]
    """Where the banks that ship with the package are, one ``NAME.jsonl.gz`` for each dataset."""
    how_to_build: ClassVar[str]
    """The command that makes a bank, without its options."""

    def __init__(
        self,
        *,
        split: str = "test",
        dataset: str | Dataset = "demo",
        bank: str | Path | TaskSet | None = None,
        tools: Iterable[Tool | str] = (),
        limits: Limits | None = None,
        compact: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the environment up; fields are read when the first episode begins.

        Args:
            split: Which tasks a reset draws from: "train", "validation" or "test".
            dataset: The dataset that the bank is about: a name, a folder, or an open one.
            bank: The bank or its file; by default the one that ships for the dataset.
            tools: Further tools, or names of registered ones. The tool `ensemble` comes by itself
                where the dataset's forecasts have members, and `map` then draws them too.
            limits: Budgets of an episode.
            compact: The short system prompt and tool schemas, without the map tool.
            render_mode: None or "ansi".
        """
        tools = tools if isinstance(tools, str) else tuple(tools)  # ToolEnv refuses a string
        super().__init__(
            split=split, tools=tools, limits=limits, compact=compact, render_mode=render_mode
        )
        if compact and "map" not in {getattr(t, "name", t) for t in tools}:
            del self.tools["map"]
        if _is_ensemble(dataset):
            from zephyrus_tools.ensemble import ensemble
            from zephyrus_tools.map import map_image
            from zephyrus_tools.member_map import member_map

            self.tools.setdefault("ensemble", ensemble)
            if self.tools.get("map") is map_image:
                self.tools["map"] = member_map
        self.dataset = dataset
        self.bank = bank
        self._bank: TaskSet | None = bank if isinstance(bank, TaskSet) else None
        self._splits: dict[str, TaskSet] = {}

    def tasks(self, split: str | None = None) -> TaskSet:
        """The tasks of a split (the environment's own by default).

        Raises:
            UserError: If there is no such split, dataset, or bank for the dataset.
        """
        name = split or self.split
        if name not in self._splits:
            if self._bank is None:
                self._bank = TaskSet.load(self._bank_file())
            self._splits[name] = self._bank.split(name)
        return self._splits[name]

    def world(self, task: Task) -> World:
        """The task's dataset and forecast."""
        try:
            data = self._data(task.world.get("dataset"))
            forecast = data.forecast(str(task.world.get("forecast") or data.forecasts[0]))
            return {Dataset: data, Forecast: forecast}
        except GeodataError as error:
            raise UserError(f"the task {task.id} cannot be set up: {error}") from error

    def scenes(self) -> Scenes:
        """The dataset's forecasts.

        Raises:
            UserError: If the dataset is unknown or can't be opened.
        """
        try:
            return forecast_scenes(self._data(None))
        except GeodataError as error:
            raise UserError(str(error)) from error

    def describe(self) -> dict[str, Any]:
        """What a run must be repeated and scored again with."""
        data = self.dataset.name if isinstance(self.dataset, Dataset) else str(self.dataset)
        bank: str | None = None
        if isinstance(self.bank, TaskSet):
            bank = "(given in Python)"
        elif self.bank is not None:
            bank = str(Path(self.bank).resolve())
        return {**super().describe(), "dataset": data, "bank": bank}

    def _data(self, name: object) -> Dataset:
        """The given dataset, or the one that a task names."""
        given = self.dataset
        if isinstance(given, Dataset):
            return given
        # A bank knows its dataset by name; a folder may have been given for it.
        return load_dataset(given if name in (None, Path(given).name) else str(name))

    def _bank_file(self) -> Path:
        if self.bank is not None and not isinstance(self.bank, TaskSet):
            return Path(self.bank)
        name = self.dataset.name if isinstance(self.dataset, Dataset) else str(self.dataset)
        path = self.banks / f"{name}.jsonl.gz"
        if not path.is_file():
            try:
                if not isinstance(self.dataset, Dataset):
                    load_dataset(name)
            except GeodataError as error:
                raise UserError(str(error)) from error
            raise UserError(
                f"no bank ships for the dataset {name!r}; make one with: {self.how_to_build} "
                f"--dataset {name} --output bank.jsonl, then pass --bank bank.jsonl (bank=…)"
            )
        return path


def _is_ensemble(dataset: str | Dataset) -> bool:
    """Say whether a dataset's forecasts have members; an unknown one is refused later."""
    try:
        data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
        return bool(data.forecast(data.forecasts[0]).members)
    except GeodataError:
        return False
