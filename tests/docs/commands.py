"""The ``zephyrus`` commands of a text, and whether the command line knows them."""

import re
import shlex

import click

from zephyrus.cli.main import app

_CALL = re.compile(r"(?<![\w./-])zephyrus (?=[a-z-])")
_END = {";", "|", "||", "&", "&&", ">", ">>", "<", "done", "or", ")"}


def calls_in(text):
    """The words of every call of ``zephyrus`` in a line of a console, without the program's name."""
    return [_words(text[found.end() :]) for found in _CALL.finditer(text)]


def _words(rest):
    lexer = shlex.shlex(rest, posix=True, punctuation_chars=";|&<>()")
    lexer.whitespace_split = True
    words = []
    try:
        for word in lexer:
            if word in _END or set(word) <= set(";|&<>()"):
                break
            words.append(word)
    except ValueError:  # an apostrophe in prose
        return rest.split()
    return words


def resolve(words):
    """The command that the words name, its path, and the words that are left."""
    command, path, rest = app, [], list(words)
    context = click.Context(app)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        inner = command.get_command(context, rest[0])
        if inner is None:
            break
        path.append(rest.pop(0))
        command, context = inner, click.Context(inner, parent=context)
    return command, path, rest


def complaint(words):
    """What is wrong with a call, or None: a command or an option that isn't there."""
    command, path, rest = resolve(words)
    if isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        return f"zephyrus {' '.join(path)} has no command {rest[0]!r}"
    if command.context_settings.get("ignore_unknown_options"):
        return None
    known = {"--help", "-h"} | ({"--version"} if command is app else set())
    for parameter in command.params:
        known |= {*parameter.opts, *parameter.secondary_opts}
    for word in rest:
        option = word.partition("=")[0]
        if re.match(r"--?[a-z]", option) and option not in known:
            return f"zephyrus {' '.join(path)} has no option {option}"
    return None
