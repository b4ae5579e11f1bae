"""Errors, named by who must act on them. Each carries one line that says what to do."""

from __future__ import annotations

from typing import ClassVar


class NightshiftError(Exception):
    """Any error that Nightshift raises on purpose.

    `exit_code` is what the command line ends with when the error reaches it (see the contract of the commands).
    """

    exit_code: ClassVar[int] = 1


class ConfigurationError(NightshiftError):
    """The operator must act: a setting, a file or an argument is wrong. Nothing was changed."""

    exit_code = 2


class ServiceUnavailable(NightshiftError):
    """A service that Nightshift depends on cannot be reached or refuses the credentials."""

    exit_code = 3


class ModelFault(NightshiftError):
    """The chat model's output cannot be used; the model may try again, within its bound."""


class BudgetExhausted(NightshiftError):
    """Nobody can act any more in this run: its budget of time, steps or tokens is used up."""


class QueryFault(NightshiftError):
    """The warehouse refused or could not finish a query.

    Args:
        code: a stable word for the kind of fault: syntax, unknown_table, unknown_column, ambiguous_column, type,
            permission, timeout, transient, data, too_large or other.
        message: what the database said, shortened and free of credentials.
        sqlstate: the five-character SQLSTATE where the database gives one.
        suggestions: what to write instead, where the guard refused what the database understood (its code then).
    """

    def __init__(
        self, code: str, message: str, *, sqlstate: str | None = None, suggestions: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.sqlstate = sqlstate
        self.suggestions = suggestions
