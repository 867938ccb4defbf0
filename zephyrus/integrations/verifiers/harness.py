"""The harness: our loop in the process of verifiers, no program and no tool server of its own."""

from __future__ import annotations

from dataclasses import replace

import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.runtimes import ProgramResult

from zephyrus.crew import take_turn
from zephyrus.env import ToolEnv
from zephyrus.episode import Episode
from zephyrus.errors import PolicyError
from zephyrus.integrations.verifiers.record import INFO, STOPS, stop_reason, to_info
from zephyrus.integrations.verifiers.session import InterceptedSession
from zephyrus.integrations.verifiers.task import EpisodeData
from zephyrus.integrations.verifiers.worlds import environment
from zephyrus.limits import StopReason
from zephyrus.messages import Message
from zephyrus.modeltable import Sampling
from zephyrus.policy.base import ContextLengthError, Session
from zephyrus.policy.table import PolicyEntry
from zephyrus.trajectory import Key


class EpisodeHarnessConfig(vf.HarnessConfig):
    """What ``--env.agent.harness.*`` sets.

    Attributes:
        vision: Whether the model sees pictures; if not it gets their description.
        retries: How often a model call is repeated after 429, 5xx or a lost connection.
    """

    vision: bool = False
    retries: int = Field(default=3, ge=0)


class _Unscored(Episode):
    """An episode that verifiers scores, when the harness is through and under its own deadline."""

    async def _score(self) -> None:
        pass


class EpisodeHarness(vf.Harness[EpisodeHarnessConfig]):
    """Runs `zephyrus.Episode` for tasks of `EpisodeTaskset`."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        """Roll one task out; see `verifiers.v1.Harness.launch`.

        Raises:
            RuntimeError: If the world broke.
            PolicyError: If no answer could be had from the model.
            TypeError: If the task is of another taskset.
        """
        if not isinstance(data, EpisodeData):
            raise TypeError(f"the harness runs tasks of Zephyrus, not {type(data).__name__}")
        env = environment(data.environment, data.options)
        episode = self._begin(env, data)
        if hasattr(trace.state, "trajectory"):
            trace.state.trajectory = episode.trajectory
        entry = PolicyEntry(
            model=ctx.model,
            base_url=endpoint,
            sampling=Sampling(max_tokens=None),
            retries=self.config.retries,
            vision=self.config.vision,
        )
        verbatim = isinstance(ctx.client, vf.TrainClientConfig)
        hidden = self.config.disabled_tools or ()
        session = InterceptedSession(entry, secret, env, verbatim=verbatim, hidden=hidden)
        try:
            await _drive(session, episode, trace)
        finally:
            trace.info[INFO] = to_info(episode.trajectory)
        if episode.trajectory.failed:
            raise RuntimeError(episode.trajectory.error)
        if episode.trajectory.stop is StopReason.TIME:
            trace.record_timeout("agent")
        elif episode.trajectory.stop not in (None, StopReason.ANSWERED):
            trace.stop(STOPS[episode.trajectory.stop])
        return ProgramResult(exit_code=0, stdout="", stderr="")

    def _begin(self, env: ToolEnv, data: EpisodeData) -> Episode:
        system, prompt = self.resolve_text_prompt(data)
        task = data.to_task()
        hidden = self.config.disabled_tools or ()
        tools = {name: tool for name, tool in env.tools.items() if name not in hidden}
        world = env.world(task)
        episode = _Unscored(env, task, tools, world, env.limits, Key(task.id, 0, 0))
        if system is not None:
            episode.messages[0] = Message("system", system)
        if prompt is not None:
            episode.messages[1] = replace(episode.messages[1], content=prompt)
        return episode


async def _drive(session: Session, episode: Episode, trace: vf.Trace) -> None:
    while not episode.done:
        try:
            await take_turn(session, episode)
        except ContextLengthError:
            await episode.truncate(StopReason.TOKENS)
        except PolicyError as error:
            if trace.stop_condition is None:
                episode.fail(str(error))
                raise
            # Not the model's failure: verifiers refused the turn, for a limit of its own.
            await episode.truncate(stop_reason(trace.stop_condition, timeout=trace.is_timeout))
