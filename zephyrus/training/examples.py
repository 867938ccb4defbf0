"""A rollout as tokens to train on: what the policy wrote counts, what it read does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zephyrus.local.chat import Chat
from zephyrus.local.policy import Tokens
from zephyrus.messages import Image
from zephyrus.trajectory import Trajectory


def tokens_of(
    rollout: Trajectory,
    chat: Chat,
    schemas: Sequence[Mapping[str, Any]],
    *,
    errors: bool = True,
) -> Tokens:
    """The tokens of a rollout whose own are not known: a demonstration, or another model's.

    The policy's turns are written as the chat template writes them, reasoning included.

    Args:
        rollout: A finished rollout.
        chat: How the model that is trained writes conversations.
        schemas: The tools that were offered.
        errors: Whether turns whose tool calls all failed count too.
    """
    worked = {call.turn for call in rollout.calls if call.error is None}
    failed = {call.turn for call in rollout.calls} - worked if not errors else set()
    number = 0
    messages = rollout.messages
    tokens = Tokens()
    first = next((i for i, m in enumerate(messages) if m.role == "assistant"), len(messages))
    tokens.read(chat.begin(messages[:first], schemas))
    while first < len(messages):
        turn = chat.turn(messages[: first + 1], schemas)
        tokens.ids += turn
        tokens.written += [number not in failed] * len(turn)
        number += 1
        tokens.logprobs += [0.0] * len(turn)
        following = range(first + 1, len(messages))
        after = next((i for i in following if messages[i].role == "assistant"), len(messages))
        if after < len(messages):
            observations = messages[first + 1 : after]
            tokens.read(chat.observe(observations, schemas, ended=True))
        first = after
    return tokens


def shown(rollout: Trajectory) -> list[Image]:
    """The pictures in the tokens of a rollout, in order: those before its last turn."""
    turns = [i for i, m in enumerate(rollout.messages) if m.role == "assistant"]
    before = rollout.messages[: turns[-1]] if turns else rollout.messages
    return [image for message in before for image in message.images]


def to_row(tokens: Tokens) -> dict[str, list[int]]:
    """A row of TRL's SFTTrainer: ``input_ids``, and ``assistant_masks`` (1 where trained on)."""
    return {"input_ids": list(tokens.ids), "assistant_masks": [int(w) for w in tokens.written]}
