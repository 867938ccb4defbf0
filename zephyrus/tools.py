"""`@tool`: a typed Python function becomes a tool that a language model can call.

>>> import zephyrus
>>> @zephyrus.tool
... def wind_chill(temperature: float, wind: float) -> str:
...     '''Wind chill.
...
...     Args:
...         temperature: Air temperature, °C.
...         wind: 10 m wind speed, km/h.
...     '''
...     v = wind**0.16
...     return f"{13.12 + 0.6215 * temperature - 11.37 * v + 0.3965 * temperature * v:.1f} °C"

The name, the parameters' JSON schema and the descriptions come from the signature and the Google
docstring. A parameter annotated with a *world type* (a class with ``__zephyrus_world__ = True``,
such as ``zephyrus_geodata.Forecast``) is filled in from the episode and hidden from the model.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, overload

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError

from zephyrus.arguments import without_booleans
from zephyrus.errors import UserError
from zephyrus.messages import Image, ToolResult

ERROR_KINDS = {
    "malformed_json": "the call or its arguments could not be read as a JSON object",
    "unknown_tool": "no tool has that name",
    "invalid_arguments": "an argument was missing, unknown or of the wrong type",
    "tool_error": "the tool refused the call and said why",
    "timeout": "the tool took too long",
    "budget": "a budget of calls was used up",
}

World = Mapping[type, object]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what the OpenAI API allows

_VERBATIM = ("default", "enum", "const", "examples")  # values of a schema, not schemas


class ToolError(Exception):
    """A tool's refusal. The message goes to the model: say how to mend the call.

    Any other exception out of a tool means that the world is broken and ends the episode.
    """


class Tool:
    """A function with a schema.

    Attributes:
        name: What the model calls it.
        description: One paragraph from the docstring.
        parameters: JSON schema of the arguments (the injected ones left out).
        injected: Parameter name to world type.
    """

    def __init__(
        self, function: Callable[..., Any], *, name: str | None = None, thread: bool = False
    ) -> None:
        """Wrap ``function``.

        Args:
            function: Sync or async, fully annotated, with a Google docstring.
            name: The tool's name, by default the function's.
            thread: Run a sync function in a thread: for work of more than about 5 ms, which
                would otherwise hold up every other rollout.

        Raises:
            UserError: If a parameter has no annotation, one that has no JSON schema, a default of
                another type, or is ``*args`` or positional-only.
        """
        self.function = function
        self.name = name or function.__name__
        if not _NAME.fullmatch(self.name):
            raise UserError(
                f"a tool can't be called {self.name!r}: endpoints take up to 64 letters, digits, _ and -"
            )
        self.thread = thread
        self.is_async = inspect.iscoroutinefunction(function)
        self.__doc__ = function.__doc__
        doc = docstring_parser.parse(function.__doc__ or "")
        parts = (doc.short_description, doc.long_description)
        self.description = " ".join(" ".join(p.split()) for p in parts if p)
        if not self.description:
            raise UserError(f"the tool {self.name!r} needs a docstring: the model reads it")
        self._model, self.injected = _arguments_model(function, self.name, doc)
        self.parameters = _schema(self._model)
        fields = self._model.model_fields.items()
        self._arguments = tuple((str(field.alias), attribute) for attribute, field in fields)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the plain function."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, {', '.join(self.parameters['properties']) or 'no arguments'})"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.things import tool_html

        return tool_html(self)

    def to_openai(self) -> dict[str, Any]:
        """The entry of the request's ``tools``."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    async def call(
        self, arguments: str | Mapping[str, Any], world: World, seconds: float | None = None
    ) -> ToolResult:
        """Check the arguments, run the function, and turn what it gives into a `ToolResult`.

        Args:
            arguments: The raw JSON text that the model wrote, or an object.
            world: What injected parameters are filled from.
            seconds: Time limit; an inline sync function can't be interrupted.

        Returns:
            The result, or an observation with ``error`` set if the agent made a mistake.

        Raises:
            Exception: Whatever the function raises other than ToolError: a broken world.
        """
        try:
            keywords = self._keywords(arguments, world)
            value = await self._run(keywords, seconds)
        except _RefusedError as refusal:
            return ToolResult(f"Error: {refusal}", error=refusal.kind)
        except ToolError as error:
            return ToolResult(f"Error: {error}", error="tool_error")
        return _result(value)

    def _keywords(self, arguments: str | Mapping[str, Any], world: World) -> dict[str, Any]:
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments.strip() or "{}")
            except (ValueError, RecursionError) as error:
                raise _RefusedError(
                    "malformed_json",
                    f"the arguments of {self.name} are not valid JSON ({error}). "
                    f"Send one JSON object, for example {self._example()}.",
                ) from None
        if not isinstance(arguments, Mapping):
            raise _RefusedError(
                "malformed_json",
                f"the arguments of {self.name} must be a JSON object, "
                f"for example {self._example()}.",
            )
        try:
            model = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise _RefusedError("invalid_arguments", self._complaint(error)) from None
        values = model.__dict__
        keywords = {name: values[attribute] for name, attribute in self._arguments}
        for name, world_type in self.injected.items():
            found = world.get(world_type)
            if found is None:
                raise ToolError(
                    f"{self.name} needs the {world_type.__name__.lower()}, and this episode has none."
                )
            keywords[name] = found
        return keywords

    async def _run(self, keywords: dict[str, Any], seconds: float | None) -> Any:
        if not self.is_async and not self.thread:
            return self.function(**keywords)
        work: Awaitable[Any]
        if self.is_async:
            work = self.function(**keywords)
        else:
            work = asyncio.to_thread(self.function, **keywords)
        timer = asyncio.timeout(seconds)
        try:
            async with timer:
                return await work
        except TimeoutError:
            if not timer.expired():  # a timeout inside the tool is the tool's own trouble
                raise
            raise _RefusedError(
                "timeout", f"{self.name} took longer than {seconds:g} s; ask for less at a time."
            ) from None

    def _example(self) -> str:
        properties = self.parameters["properties"]
        names = self.parameters.get("required") or list(properties)[:1]
        return json.dumps({n: _sample(properties[n]) for n in names}, ensure_ascii=False)

    def _complaint(self, error: ValidationError) -> str:
        sentences = []
        for item in error.errors():
            where = ".".join(str(p) for p in item["loc"]) or "arguments"
            if item["type"] == "extra_forbidden":
                known = ", ".join(self.parameters["properties"]) or "none"
                sentences.append(f"{self.name} has no argument {_short(where)}; it takes: {known}.")
            elif item["type"] == "missing":
                sentences.append(f"{self.name} needs the argument {where!r}.")
            else:
                sentences.append(f"{where}: {item['msg'].lower()} (got {_short(item['input'])}).")
        return " ".join(dict.fromkeys(sentences))


class _RefusedError(Exception):
    """An agent's mistake found before or around the function, with its kind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, thread: bool = False
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    thread: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a `Tool` of a function and register it: ``@tool`` or ``@tool(name=..., thread=True)``.

    Args:
        function: The function (when used without parentheses).
        name: The tool's name, by default the function's.
        thread: Run it in a thread; see `Tool`.
    """

    def wrap(inner: Callable[..., Any]) -> Tool:
        from zephyrus.registry import register

        made = Tool(inner, name=name, thread=thread)
        register("tools", made.name, made)
        return made

    return wrap(function) if function is not None else wrap


def is_world_type(annotation: object) -> bool:
    """Whether a parameter of this type is filled from the episode instead of by the model."""
    return isinstance(annotation, type) and bool(getattr(annotation, "__zephyrus_world__", False))


def _arguments_model(
    function: Callable[..., Any], name: str, doc: docstring_parser.Docstring
) -> tuple[type[BaseModel], dict[str, type]]:
    about = {p.arg_name: " ".join((p.description or "").split()) for p in doc.params}
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise UserError(f"the tool {name!r} has a type that can't be read ({error})") from None
    fields: dict[str, Any] = {}
    injected: dict[str, type] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UserError(f"the tool {name!r} can't take *{parameter.name}: name its arguments")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise UserError(
                f"the tool {name!r} is called by keyword: remove the / after {parameter.name!r}"
            )
        if parameter.name not in hints:
            raise UserError(f"the tool {name!r} needs a type for its argument {parameter.name!r}")
        hint = hints[parameter.name]
        if is_world_type(hint):
            injected[parameter.name] = hint
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        # An alias: pydantic keeps names such as "schema" or "_x" to itself.
        options: dict[str, Any] = {"alias": parameter.name}
        if about.get(parameter.name):
            options["description"] = about[parameter.name]
        _check_argument(name, parameter.name, hint, default)
        fields[f"argument_{len(fields)}"] = (without_booleans(hint), Field(default, **options))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False, allow_inf_nan=False)
    return create_model(name, __config__=config, **fields), injected


def _check_argument(tool: str, argument: str, hint: Any, default: Any) -> None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        adapter.json_schema()
    except PydanticUserError as error:
        reason = error.message.split("\n")[0]
        raise UserError(
            f"the tool {tool!r}: no JSON schema for its argument {argument!r} ({reason})"
        ) from None
    if default is ...:
        return
    try:
        adapter.validate_python(default)
    except ValidationError:
        raise UserError(
            f"the tool {tool!r}: the default {_short(default)} of its argument {argument!r} "
            "is not of the argument's type"
        ) from None


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema without titles, ``anyOf [X, null]`` and types of enums: fewer tokens."""

    def clean(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, list):
            return [clean(item) for item in node]
        if not isinstance(node, dict):
            return node
        options = node.get("anyOf")
        if isinstance(options, list) and not names:
            real = [option for option in options if option != {"type": "null"}]
            if len(real) == 1 and len(options) == 2:
                node = {**{k: v for k, v in node.items() if k != "anyOf"}, **real[0]}
        if "enum" in node and not names:  # the values say their type
            node = {key: item for key, item in node.items() if key != "type"}
        return {
            key: value
            if key in _VERBATIM and not names
            else clean(value, names=not names and key in ("properties", "$defs"))
            for key, value in node.items()
            if names or not (key == "title" or (key == "default" and value is None))
        }

    cleaned: dict[str, Any] = clean(model.model_json_schema())
    cleaned.pop("additionalProperties", None)
    cleaned.pop("description", None)
    cleaned.setdefault("properties", {})
    return cleaned


def _result(value: Any) -> ToolResult:
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, Image):
        return ToolResult(value.alt or "(image)", (value,))
    if isinstance(value, tuple) and any(isinstance(v, Image) for v in value):
        images = tuple(v for v in value if isinstance(v, Image))
        return ToolResult("\n".join(str(v) for v in value if not isinstance(v, Image)), images)
    if isinstance(value, str):
        return ToolResult(value)
    return ToolResult(json.dumps(_plain(value), ensure_ascii=False))


def _plain(value: Any) -> Any:
    """JSON values: numpy's numbers and arrays as lists, NaN and infinity (not JSON) as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def _sample(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    simple = {"string": "...", "number": 1.0, "integer": 1, "boolean": True, "array": []}
    return simple.get(str(schema.get("type", "string")), {})


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
