"""Types of the tools' arguments.

Every token of a schema is paid for in every request. A text argument therefore leaves its type out
of the schema: a name in words is what a model writes anyhow, and anything else is refused.
"""

from typing import Annotated

from pydantic import WithJsonSchema

Text = Annotated[str, WithJsonSchema({})]
"""A required text."""

OptionalText = Annotated[str | None, WithJsonSchema({})]
"""A text that may be left out."""
