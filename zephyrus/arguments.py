"""Argument types as tools mean them: a number is not a boolean.

Pydantic reads ``true`` as 1 wherever a number is asked for. A model that sends it has mistaken the
argument, and is told so; "5" for 5 is still taken.
"""

import types
import typing
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_MAY_BE_MISTAKEN = (bool, dict, list, tuple, set, frozenset)


def without_booleans(hint: Any) -> Any:
    """Return the type, except that its numbers refuse true and false.

    Args:
        hint: A type; numbers inside unions, lists, dictionaries and `Annotated` are found too.
    """
    if not _holds_numbers(hint):
        return hint

    def check(value: Any) -> Any:
        if _is_mistaken(value, hint):
            raise PydanticCustomError("number", "give a number, not true or false")
        return value

    # Around the whole type: put at its numbers, it would hide them from a bound such as Field(ge=0).
    return Annotated[hint, BeforeValidator(check)]


def _holds_numbers(hint: Any) -> bool:
    """Whether a number is among the types, or inside one of them."""
    options = list(_options(hint))
    inside = (a for o in options for a in typing.get_args(o) if a is not ...)
    return int in options or float in options or any(map(_holds_numbers, inside))


def _is_mistaken(value: Any, hint: Any) -> bool:
    """Whether a boolean stands where the type has a number and no boolean."""
    if not isinstance(value, _MAY_BE_MISTAKEN):
        return False
    options = list(_options(hint))
    if isinstance(value, bool):
        numbers = int in options or float in options
        return numbers and not any(option in (bool, Any, object) for option in options)
    items: Iterable[Any] = value.values() if isinstance(value, dict) else value
    # Of a dictionary the values have the last type; a tuple's items may have one each.
    inside = [a for o in options for a in typing.get_args(o)[typing.get_origin(o) is dict :]]
    within = typing.Union[tuple(a for a in inside if a is not ...)] if inside else Any  # noqa: UP007
    return any(_is_mistaken(item, within) for item in items)


def _options(hint: Any) -> Iterable[Any]:
    """The types that a union is made of, without their annotations."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        yield from _options(typing.get_args(hint)[0])
    elif origin is typing.Union or origin is types.UnionType:
        for option in typing.get_args(hint):
            yield from _options(option)
    elif origin is not typing.Literal:
        yield hint
