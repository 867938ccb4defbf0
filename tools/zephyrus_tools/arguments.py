"""Types of the tools' arguments.

Every token of a schema is paid for in every request. Names and degrees therefore leave their types
out of the schema: a model knows how to write a name or a latitude, and anything else is refused.
"""

from typing import Annotated

from pydantic import WithJsonSchema

Text = Annotated[str, WithJsonSchema({})]
"""A required text."""

OptionalText = Annotated[str | None, WithJsonSchema({})]
"""A text that may be left out."""

OptionalDegrees = Annotated[float | None, WithJsonSchema({})]
"""A latitude, a longitude or an edge of a box, which may be left out."""
