"""The source of tasks: a bank of an environment, as a taskset of verifiers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import verifiers.v1 as vf
from pydantic import Field

from zephyrus.integrations.verifiers.task import EpisodeData, EpisodeTask
from zephyrus.integrations.verifiers.trace import gold_text
from zephyrus.integrations.verifiers.worlds import environment


class EpisodeTasksetConfig(vf.TasksetConfig):
    """What ``--env.taskset.*`` sets: the options of the environment, under their own names.

    Attributes:
        split: Which tasks: "train", "validation" or "test".
        dataset: The dataset that the bank is about: a name or a folder.
        bank: The bank's file; by default the one that ships for the dataset.
        tools: Names of further registered tools.
        compact: The short system prompt and tool schemas, for very small models.
        limits: Budgets that differ from the environment's own; see `zephyrus.Limits`.
    """

    split: str = "test"
    dataset: str = "demo"
    bank: Path | None = None
    tools: list[str] = Field(default_factory=list)
    compact: bool = False
    limits: dict[str, Any] = Field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """What `worlds.environment` takes, as JSON values; a rollout needs neither bank nor split."""
        shared = {*vf.TasksetConfig.model_fields, "split", "bank"}
        own: dict[str, Any] = self.model_dump(mode="json", exclude=shared)
        return own


ConfigT = TypeVar("ConfigT", bound=EpisodeTasksetConfig)


class EpisodeTaskset(vf.Taskset[EpisodeTask, ConfigT]):
    """The tasks of one environment; a subclass names it and the type of its configuration."""

    environment: ClassVar[str]

    def load(self) -> Iterator[EpisodeTask]:
        """The tasks of the split, in turn from each template, so that the first few are mixed.

        Raises:
            UserError: If there is no such split, dataset, or bank for the dataset.
        """
        options = self.config.options()
        where = {"split": self.config.split}
        if self.config.bank is not None:
            where["bank"] = str(self.config.bank.resolve())
        env = environment(self.environment, options | where)
        tasks = env.tasks()
        system = env.system_prompt()
        for task in tasks.take(len(tasks)):
            yield EpisodeTask(
                EpisodeData(
                    id=task.id,
                    name=task.template or None,
                    prompt=task.prompt,
                    system_prompt=system,
                    environment=self.environment,
                    options=options,
                    answer=gold_text(task),
                    task=task.to_dict(),
                ),
                self.config.task,
            )
