"""An environment of your own: sums, with one tool. Run it: ``python examples/my_env.py``.

For ``zephyrus env rollout --env sums`` give the class an entry point of the group
``zephyrus.envs`` in your package.
"""

import re

import zephyrus
from zephyrus import Message, Task, TaskSet, ToolCall, ToolEnv


@zephyrus.tool
def add(a: float, b: float) -> str:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return f"{a + b:g}"


class Sums(ToolEnv):
    """What is a + b?"""

    name = "sums"

    def tasks(self, split=None):
        """Ten questions."""
        prompts = {n: f"What is {n} + {n + 1}?" for n in range(10)}
        return TaskSet([Task(f"sum-{n}", p, gold=2 * n + 1) for n, p in prompts.items()], "sums")

    def world(self, task):
        """The tool needs nothing of the world."""
        return {}

    def system_prompt(self):
        """What the agent is told once."""
        return "Add with the tool, then finish with <answer>NUMBER</answer>."

    def read_answer(self, text):
        """The number in the answer tags, or None: then the agent is told so and goes on."""
        found = re.search(r"<answer>(.*?)</answer>", text)
        return found[1] if found else None

    def score(self, task, trajectory):
        """The verifier's score, and the reward."""
        score = float(trajectory.answer == str(task.gold))
        return {"score": score, "reward": score}

    def script(self, task):
        """How to solve it: serves the scripted policy."""
        a, b = re.findall(r"\d+", task.prompt)
        seen = yield Message("assistant", tool_calls=(ToolCall("add", f'{{"a": {a}, "b": {b}}}'),))
        yield Message("assistant", f"<answer>{seen[0].content}</answer>")


if __name__ == "__main__":
    run = zephyrus.rollout(Sums(tools=[add]), "scripted", output="runs/sums")
    print(f"accuracy {run.summary['accuracy']}")
