"""The ``zephyrus`` command: groups are loaded when named, errors become exit codes."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Mapping
from typing import NoReturn

import click

from zephyrus import __version__
from zephyrus.errors import PolicyError, UserError, WorkError

_GROUPS = {
    "env": "List environments, build question banks, roll policies out, read and rescore runs.",
    "tools": "List the tools that an agent can call, and call one yourself.",
    "policy": "List the named policies, and serve one with vLLM.",
}


class _LazyGroups(click.Group):
    """Knows the groups' names and one-line helps; imports a group only when it is used.

    Further groups come through entry points of the group ``zephyrus.commands``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_GROUPS, *_plugins()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command
        if cmd_name in _GROUPS:
            command = importlib.import_module(f"zephyrus.cli.{cmd_name}").group
        elif cmd_name in _plugins():
            command = _plugins()[cmd_name].load()
        else:
            return None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = list(_GROUPS.items())
        for name, point in _plugins().items():
            rows.append((name, point.load().get_short_help_str(80)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@functools.cache
def _plugins() -> Mapping[str, importlib.metadata.EntryPoint]:
    return {
        point.name: point for point in importlib.metadata.entry_points(group="zephyrus.commands")
    }


@click.group(
    cls=_LazyGroups,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: zephyrus env rollout --policy scripted -n 16",
)
@click.version_option(__version__, prog_name="zephyrus")
def app() -> None:
    """Zephyrus: agents that call weather tools, scored, trained and shown.

    A policy (a language model, or a built-in one) calls tools over a forecast, gets observations
    or errors back, and answers; Zephyrus scores the answer.
    """


def main() -> NoReturn:
    """Run the command line. Exit codes: 0 done, 1 the work failed, 2 the command was wrong."""
    try:
        app(standalone_mode=False)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except UserError as error:
        click.echo(f"zephyrus: {error}", err=True)
        sys.exit(2)
    except (WorkError, PolicyError) as error:
        click.echo(f"zephyrus: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("zephyrus: interrupted", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
    sys.exit(0)
