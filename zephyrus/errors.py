"""Who made the mistake decides how it is told.

The agent's mistakes are observations (`zephyrus.tools.ToolError`); the user's are one sentence
(`UserError`, exit code 2); an endpoint that fails is a `PolicyError` (the rollout is recorded
as an infrastructure error, never as a score of 0), and a judge that fails a `JudgeError` (the
score is missing, and can be had later); ours are ordinary tracebacks.
"""

from __future__ import annotations

import traceback


class UserError(Exception):
    """The user asked for something that can't be done; the message says how to mend it."""


class NoAnswerError(UserError):
    """Nothing answers at an address: for the user to mend at first, an outage once work goes on."""


class PolicyError(Exception):
    """The policy could not be asked: a dead endpoint, an exhausted retry, a refused request."""


class JudgeError(Exception):
    """No judgement could be had, after all retries: the score is missing, never 0."""


class WorkError(Exception):
    """The command was right but the work failed (exit code 1); the message says what is left."""


def trace(error: BaseException) -> str:
    """The traceback of an error as text, for the record of a rollout that broke."""
    return "".join(traceback.format_exception(error)).strip()
