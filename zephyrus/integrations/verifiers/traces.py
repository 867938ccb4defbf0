"""Files: verifiers' ``traces.jsonl`` into our run folders, and a run out as a run of verifiers.

Both are plain JSON, so that neither needs verifiers, and a run of theirs can be looked at, plotted
and compared with the commands for our own.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zephyrus import __version__
from zephyrus.errors import UserError
from zephyrus.integrations.verifiers.record import to_trajectory
from zephyrus.integrations.verifiers.trace import gold_text, to_trace
from zephyrus.integrations.verifiers.worlds import environment
from zephyrus.jsonlines import write_whole
from zephyrus.run import Run, find
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key, Trajectory

TRACES = "traces.jsonl"
CONFIG = Path("configs", "resolved", "eval.json")
"""Where a run of verifiers keeps its rollouts, and what it was run with."""


def import_traces(source: str | Path, output: str | Path) -> Run:
    """Make a run folder of a run of verifiers.

    Rollouts that broke go to ``errors.jsonl``; those whose judge could not be had are kept unscored.
    What other tasksets' traces leave open stays empty: which tool calls failed, for instance.

    Args:
        source: A run folder of verifiers (``outputs/NAME``) or a ``traces.jsonl``.
        output: The run folder; it must not hold a run.

    Returns:
        The run, its summary made.

    Raises:
        UserError: If there are no traces, a line is none, or the folder can't be used.
    """
    path = Path(source)
    path = path / TRACES if path.is_dir() else path
    found = list(_read(path))
    if not found:
        raise UserError(f"{path} holds no traces")
    rollouts = _numbered(trajectory for _, trajectory in found)
    config = _config(found[0][0], rollouts, path)
    with Run.create(output, config) as run:
        if run.done_keys() or run.failures():
            raise UserError(f"{output} holds a run already; give another output folder")
        run.append(*rollouts)
        run.write_summary()
    return run


def export_traces(run: str | Path | Run, output: str | Path, tasks: TaskSet | None = None) -> Path:
    """Make a run folder of verifiers of one of ours: ``vf-replay`` takes it.

    Args:
        run: The run, its folder, or its name in ``runs``.
        output: The folder; made if missing, its ``traces.jsonl`` replaced.
        tasks: The bank, if the run was made with one that its configuration doesn't name.

    Returns:
        The file of traces.

    Raises:
        UserError: If there is no such run, its bank can't be had, or a task is not in it.
    """
    saved = run if isinstance(run, Run) else find(run)
    described = dict(saved.config["env"])
    name = str(described["name"])
    options = _options(saved.config)
    split = described.get("split") or "test"
    where = {"split": split} | ({"bank": described["bank"]} if described.get("bank") else {})
    env = environment(name, options | where)
    bank = env.tasks() if tasks is None else tasks
    agent = {
        "model": saved.config.get("policy", {}).get("name"),
        "harness": {"id": f"zephyrus-{name}"},
        "runtime": {"type": "subprocess"},
    }
    order = {task.id: index for index, task in enumerate(bank)}

    def episodes() -> Iterator[str]:
        for trajectory in (*saved, *saved.errors()):
            task = bank[trajectory.key.task]
            data = _data(task, trajectory, order[task.id], name, options)
            mark = hashlib.sha256(f"{saved.name}/{trajectory.key}".encode()).hexdigest()[:32]
            trace = to_trace(trajectory, data, agent, env.tool_schemas(), mark)
            episode = {
                "id": mark,
                "env": {"id": f"zephyrus-{name}"},
                "task": trace["task"],
                "ok": trace["ok"],
                "errors": [],
                "traces": [trace],
            }
            yield json.dumps(episode, ensure_ascii=False) + "\n"

    folder = Path(output)
    (folder / CONFIG).parent.mkdir(parents=True, exist_ok=True)
    write_whole(folder / TRACES, episodes())
    taskset = {"id": f"zephyrus-{name}", **where, **options}
    config = {"env": {"taskset": taskset}, "model": agent["model"], "output_dir": str(folder)}
    write_whole(folder / CONFIG, json.dumps(config, indent=2) + "\n")
    return folder / TRACES


def _read(path: Path) -> Iterator[tuple[Mapping[str, Any], Trajectory]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(f"{path} can't be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            for trace in json.loads(line)["traces"]:
                yield trace, to_trajectory(trace)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, UserError) as error:
            raise UserError(
                f"{path}, line {number}: no episode of verifiers ({type(error).__name__}: {error})"
            ) from error


def _numbered(rollouts: Iterator[Trajectory]) -> list[Trajectory]:
    """The rollouts with keys of their own: verifiers doesn't number those of one task."""
    seen: set[Key] = set()
    repeats: Counter[tuple[str, int]] = Counter()
    numbered = []
    for rollout in rollouts:
        key = rollout.key
        while key in seen:
            repeats[key.task, key.seed] += 1
            key = key._replace(repeat=repeats[key.task, key.seed])
        seen.add(key)
        numbered.append(replace(rollout, key=key))
    return numbered


def _config(trace: Mapping[str, Any], rollouts: list[Trajectory], source: Path) -> dict[str, Any]:
    data = trace["task"]["data"]
    tasks = {rollout.key.task for rollout in rollouts}
    config: dict[str, Any] = {"env": {"name": "verifiers"}}
    if "environment" in data:
        options = {"split": data["task"].get("split") or "test", **data["options"]}
        env = environment(str(data["environment"]), options)
        config = {"env": env.describe(), "limits": env.limits.to_dict()}
    return {
        **config,
        "policy": {"name": str(trace["agent"]["config"].get("model") or "unknown")},
        "seed": min(rollout.key.seed for rollout in rollouts),
        "n": len(tasks),
        "repeats": max(Counter(rollout.key.task for rollout in rollouts).values()),
        "imported": {
            "from": "verifiers",
            "version": trace["verifiers"]["version"],
            "file": source.name,
        },
        "versions": {"zephyrus": __version__, "python": platform.python_version()},
    }


def _options(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options that make a run's environment again, from its configuration."""
    described = {k: v for k, v in config["env"].items() if k not in _NO_OPTIONS and v is not None}
    known = environment(str(config["env"]["name"]), {}).tools
    described["tools"] = [tool for tool in described.get("tools", ()) if tool not in known]
    return {**described, "limits": config.get("limits") or {}}


_NO_OPTIONS = {"name", "split", "bank", "prompt_sha256"}


def _data(
    task: Task, trajectory: Trajectory, index: int, name: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """`zephyrus.integrations.verifiers.task.EpisodeData` of a rollout."""
    return {
        "idx": index,
        "id": task.id,
        "name": task.template or None,
        "prompt": task.prompt,
        "system_prompt": trajectory.messages[0].content if trajectory.messages else None,
        "environment": name,
        "options": dict(options),
        "answer": gold_text(task),
        "task": task.to_dict(),
    }
