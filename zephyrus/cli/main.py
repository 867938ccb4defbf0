"""The ``zephyrus`` command: groups are loaded when named, errors become exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NoReturn

import click

from zephyrus import __version__
from zephyrus.errors import PolicyError, UserError, WorkError
from zephyrus.registry import entry_points, load
from zephyrus.view.plain import plain

_GROUPS = {
    "env": "List environments, build question banks, roll policies out, read and rescore runs.",
    "curriculum": "Train a policy stage by stage, as a recipe says; follow, plot and compare runs.",
    "tools": "List the tools that an agent can call, call one yourself, serve them all over MCP.",
    "policy": "List the named policies, and serve one with vLLM.",
    "judge": "List the judges, measure how far they agree with experts, and have experts label claims.",
    "leaderboard": "Order judged runs by their average score.",
}


class _LazyGroups(click.Group):
    """Knows the groups' names and one-line helps; imports a group only when it is used.

    Further groups come through entry points of the group ``zephyrus.commands``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_GROUPS, *entry_points("commands")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command
        if cmd_name in _GROUPS:
            command = importlib.import_module(f"zephyrus.cli.{cmd_name}").group
        elif cmd_name in entry_points("commands"):
            command = load(entry_points("commands")[cmd_name])
        else:
            return None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = list(_GROUPS.items())
        for name, point in entry_points("commands").items():
            try:
                rows.append((name, load(point).get_short_help_str(80)))
            except UserError as error:
                rows.append((name, f"(broken: {error})"))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader (head, less) has had enough: that is no failure
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)


@click.group(
    cls=_LazyGroups,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: zephyrus env rollout --policy scripted -n 16",
)
@click.version_option(__version__, prog_name="zephyrus")
def app() -> None:
    """Zephyrus: agents that call weather tools, scored and shown.

    A policy (a language model, or a built-in one) calls tools over a forecast, gets observations
    or errors back, and answers; Zephyrus scores the answer.
    """


def main() -> NoReturn:
    """Run the command line. Exit codes: 0 done, 1 the work failed, 2 the command was wrong."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # "°" must not break a terminal that can't show it
            stream.reconfigure(errors="replace")
    try:
        app(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except UserError as error:
        _complain(error)
        sys.exit(2)
    except (WorkError, PolicyError) as error:
        _complain(error)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("zephyrus: interrupted", err=True)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _complain(error: Exception) -> None:
    """Say what is wrong; the text may quote a server or a file."""
    click.echo(f"zephyrus: {plain(str(error))}", err=True)
