"""The policy table: names for models, with how to serve them and how to sample from them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from zephyrus.modeltable import ModelEntry, ModelTable

LOCAL_KEYS = frozenset({"local", "context", "batch", "dtype", "thinking", "compact"})
"""Keys of a row that mean something for a model in this process only."""
TABLE_VARIABLE = "ZEPHYRUS_POLICIES"


class PolicyEntry(ModelEntry):
    """One row of the table: `zephyrus.modeltable.ModelEntry` and what a policy needs besides.

    Attributes:
        tool_prompt: "native" sends ``tools``; "text" describes them in the system prompt and
            reads the calls out of the text, for models without a tool template.
        vision: Whether the model sees pictures; if not it gets their description.
        send_reasoning: Whether earlier turns' reasoning is sent back (chat templates that don't
            want it drop it).
        tool_call_parser: vLLM's ``--tool-call-parser``.
        reasoning_parser: vLLM's ``--reasoning-parser``.
        vllm_flags: Further flags of vLLM.
        local: The model runs in this process (extra ``local``): ``model`` is a folder, a packaged
            model or one of the hub, and of the keys above only ``sampling`` counts; unless they
            are given, temperature is 0 and max_tokens 512. The keys below are for these alone.
        context: Tokens of the longest conversation.
        batch: Conversations that are continued at once.
        dtype: Of the weights; "auto" is bfloat16 where the processor computes with it.
        thinking: Whether the chat template lets the model reason; None is the template's own way.
        compact: Whether it was trained with the short prompt and schemas, which it is then given.
    """

    tool_prompt: Literal["native", "text"] = "native"
    vision: bool = False
    send_reasoning: bool = True
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
    vllm_flags: list[str] = Field(default_factory=list)
    local: bool = False
    context: int = Field(default=8192, ge=1)
    batch: int = Field(default=16, ge=1)
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    thinking: bool | None = None
    compact: bool = False


TABLE = ModelTable(
    PolicyEntry,
    noun="policy",
    package="zephyrus.policy",
    file="policies.yaml",
    variable=TABLE_VARIABLE,
)


def user_table_path() -> Path:
    """Where the user's own table is looked for."""
    return TABLE.user_path


def policy_table() -> dict[str, PolicyEntry]:
    """Every named policy, the user's over the built-in ones; see `ModelTable.entries`."""
    return TABLE.entries()
