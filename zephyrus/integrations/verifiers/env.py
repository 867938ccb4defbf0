"""The environment of verifiers around a taskset: rollouts on this machine by default."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from pydantic import model_validator

from zephyrus.integrations.verifiers.taskset import EpisodeTaskset
from zephyrus.integrations.verifiers.worlds import close_endpoints, environment


class LocalEnvConfig(vf.SingleAgentEnvConfig):
    """`verifiers.v1.SingleAgentEnvConfig` without a sandbox: our harness starts no program."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())

    @model_validator(mode="before")
    @classmethod
    def _our_harness(cls, data: Any) -> Any:
        """Options of a harness without its name are our harness's: verifiers would take bash's."""
        if not isinstance(data, dict) or not isinstance(agent := data.get("agent"), dict):
            return data
        taskset = data.get("taskset")
        own = taskset.get("id") if isinstance(taskset, dict) else getattr(taskset, "id", None)
        harness = agent.get("harness")
        if own and isinstance(harness, dict) and "id" not in harness:
            return {**data, "agent": {**agent, "harness": {"id": own, **harness}}}
        return data


class LocalEnv(vf.SingleAgentEnv, vf.Env[LocalEnvConfig]):
    """One agent on one task; what the user got wrong is said before the first rollout."""

    async def start(self) -> None:
        """Open the first task's world, and ask whether the judge answers.

        Raises:
            UserError: If there is no such dataset or bank, or no judge answers.
        """
        if isinstance(self.taskset, EpisodeTaskset):
            env = environment(self.taskset.environment, self.taskset.config.options())
            first = next(iter(self.taskset), None)
            if first is not None:
                env.world(first.data.to_task())
            await env.check()

    async def stop(self) -> None:
        """Close connections."""
        await close_endpoints()
        if isinstance(self.taskset, EpisodeTaskset):
            await environment(self.taskset.environment, self.taskset.config.options()).release()
