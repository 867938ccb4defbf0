"""A run, or a bank, into files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from zephyrus.errors import UserError
from zephyrus.export.rows import bank_rows, run_rows
from zephyrus.export.write import Exported, write
from zephyrus.run import Run, find
from zephyrus.task import TaskSet

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv
    from zephyrus.tools import Tool


def export_run(
    run: Run | str | Path,
    output: str | Path,
    *,
    form: str = "parquet",
    env: ToolEnv | None = None,
    given: Iterable[Tool] | None = None,
    tools: bool = True,
    at_least: float | None = None,
) -> Exported:
    """Write the finished rollouts of a run as conversations to fine-tune on.

    Args:
        run: The run, its folder, or its folder's name below ``runs``.
        output: See `zephyrus.export.write.write`.
        form: "parquet", "jsonl" or "hf".
        env: The environment that it was made with; by default it is made from the run's
            configuration.
        given: Further tools that it had, if it is made from there.
        tools: Whether to fill in the tool schemas; without them the column is empty, and no
            environment is needed.
        at_least: Leave out what has a smaller reward, or none.

    Raises:
        UserError: If there is no such run, nothing is left of it, it can't be written, or its
            tools are not what they were.
    """
    opened = run if isinstance(run, Run) else find(run)
    schemas = None
    if tools:
        env = env or _env_of(opened, given)
        schemas = env.tool_schemas()
        _check_same(opened, env)
    rows = run_rows(
        opened,
        schemas,
        run=opened.name,
        policy=str((opened.config.get("policy") or {}).get("name", "")),
        at_least=at_least,
    )
    return write(rows, "rollouts", form, Path(output))


def export_bank(
    env: ToolEnv,
    output: str | Path,
    *,
    form: str = "parquet",
    tasks: TaskSet | None = None,
    split: str | None = None,
) -> Exported:
    """Write tasks as prompts for reinforcement learning.

    Args:
        env: The environment that asks them; its prompt and tools are those of the rows.
        output: See `zephyrus.export.write.write`.
        form: "parquet", "jsonl" or "hf".
        tasks: The bank; by default the environment's own.
        split: Only these.

    Raises:
        UserError: If it can't be written, or there are no such tasks.
    """
    chosen = tasks if tasks is not None else _all_tasks(env)
    if split is not None:
        chosen = chosen.split(split)
    rows = bank_rows(chosen, env.system_prompt(), env.tool_schemas(), env.name)
    return write(rows, "tasks", form, Path(output))


def _env_of(run: Run, given: Iterable[Tool] | None) -> ToolEnv:
    from zephyrus.evaluation.texts import env_of

    try:
        return env_of(run, **({"tools": given} if given else {}))
    except UserError as error:
        raise UserError(f"{error} (the tool schemas of {run.path} come from there)") from error


def _check_same(run: Run, env: ToolEnv) -> None:
    from zephyrus.rollouts import prompt_digest

    kept = run.config["env"].get("prompt_sha256")
    if kept is not None and kept != prompt_digest(env):
        raise UserError(
            f"the system prompt or a tool's schema has changed since the run {run.path} was made, "
            "and it doesn't keep the schemas: name the tools it had with --tools, or leave the "
            "column empty with --no-tools"
        )


def _all_tasks(env: ToolEnv) -> TaskSet:
    from zephyrus.task import SPLITS

    return TaskSet([task for split in SPLITS for task in env.tasks(split)], env.name)
