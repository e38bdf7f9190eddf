"""The application that the commands belong to, and how a command ends: the message and the exit status.

Every error that a user can correct becomes one message on standard error, in the words of the command line
(messages.py). Anything else is a fault of ours and keeps its traceback.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from dagpost._tools import progress
from dagpost._tools.text import printable_lines
from dagpost._version import __version__
from dagpost.cli.messages import in_words, plain_complaint
from dagpost.cli.process import EXPECTED_OS_ERRORS, INTERRUPTED, not_written, was_interrupted
from dagpost.cli.streams import LostOutputError
from dagpost.errors import DagpostError, DagpostWarning

WRONG = 2

#: Every command, or group of commands, as the help lists them: under what for.
_SECTIONS = {
    "Begin": ("demo", "data", "info", "fit"),
    "Ask": ("edges", "query", "effect", "best", "predict"),
    "Show": ("plot", "report", "explore"),
    "Draw": ("sample", "complete"),
    "Check": ("reference",),
}
_COMMANDS = tuple(name for names in _SECTIONS.values() for name in names)
#: Commands that are not in the module of their own name.
_ELSEWHERE = {"edges": "query"}
#: Commands that do something without an argument.
_READY = ("demo", "data")


@functools.cache
def _command(name: str) -> Any:
    """A command, loaded when it is first looked at: `dagpost query` does not load `dagpost fit`."""
    found = getattr(import_module(f"dagpost.cli.{_ELSEWHERE.get(name, name)}"), name)
    if isinstance(found, typer.Typer):
        group = found
    else:
        group = new_group()
        add_command(group, found, name=name, no_args_is_help=name not in _READY)
    command = typer.main.get_command(group)
    command.name = name
    return command


class _Commands(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Their names, for the suggestions where one is misspelled.
        self.commands = dict.fromkeys(_COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return _command(cmd_name) if cmd_name in _COMMANDS else None

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands under what they are for."""
        width = max(map(len, _COMMANDS))
        for heading, names in _SECTIONS.items():
            with formatter.section(heading):
                room = formatter.width - 6 - width
                rows = [(f"{name:{width}}", _command(name).get_short_help_str(room)) for name in names]
                formatter.write_dl(rows)


app = typer.Typer(
    cls=_Commands,
    help="The posterior over Bayesian network structures: how probable is every edge, given a table?",
    epilog="Start with: dagpost demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def new_group(**settings: Any) -> typer.Typer:
    """A group of commands, whose help and whose faults are shown as those of all others."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **settings)


class BrokenOffError(Exception):
    """Ctrl-C, with a sentence on what was kept."""


def add_command(group: typer.Typer, function: Callable[..., None], **settings: Any) -> None:
    """Register a function as a command whose errors become messages and exit statuses.

    A parameter that is a dataclass stands for options that several commands share: its fields, one option each.
    """
    parameters, groups = _spread(function)

    @functools.wraps(function)
    def guarded(**options: Any) -> None:
        with _remarks(quiet=bool(options.get("quiet"))):
            try:
                for name, kind in groups.items():
                    options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
                function(**options)
                sys.stdout.flush()
            except (typer.Exit, typer.Abort):
                raise
            except BaseException as error:
                ending = _ending(error)
                if ending is None:
                    raise
                status, words = ending
                if words:
                    say(words)
                raise typer.Exit(status) from None

    guarded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    guarded.__annotations__ = {own.name: own.annotation for own in parameters}
    group.command(cls=_Command, **settings)(guarded)


def _spread(function: Callable[..., None]) -> tuple[list[Parameter], dict[str, Any]]:
    """The parameters of a command, with those of its groups of options in their place, and the groups by name."""
    types, groups = get_type_hints(function, include_extras=True), {}
    options: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        kind, members, hints = types[parameter.name], [parameter], types
        if isinstance(kind, type) and is_dataclass(kind):
            groups[parameter.name] = kind
            members, hints = [*signature(kind).parameters.values()], get_type_hints(kind, include_extras=True)
        options += [own.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[own.name]) for own in members]
    return options, groups


class _Command(TyperCommand):
    """A command that says in plain words which value an option does not take."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **options: Any) -> Any:
        given = list(args)
        try:
            return super().make_context(info_name, args, *more, **options)
        except typer.BadParameter as error:
            error.message = plain_complaint(error.message, given, getattr(error.param, "opts", ()))
            raise


def say(text: str) -> None:
    """Write a message of ours to standard error, if that can be written."""
    with suppress(OSError):
        typer.echo(f"dagpost: {printable_lines(text)}", err=True)


def _ending(error: BaseException) -> tuple[int, str] | None:
    """Exit status and message; None for what is not the user's fault."""
    if isinstance(error, BrokenOffError):
        return INTERRUPTED, f"interrupted. {error}"
    if was_interrupted(error):
        return INTERRUPTED, "interrupted."
    if isinstance(error, DagpostError):
        return WRONG, in_words(error.marked)
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone, as `head` does: nothing is wrong.
        return 0, ""
    if isinstance(error, MemoryError):
        return WRONG, "The memory ran out. Leave columns out, lower --max-parents, or use fewer --threads."
    if isinstance(error, LostOutputError):
        return WRONG, not_written(error)
    if isinstance(error, OSError) and error.errno in EXPECTED_OS_ERRORS:
        what = "Cannot write the output" if error.filename is None else repr(str(error.filename))
        return WRONG, f"{what}: {error.strerror}."
    return None


@contextmanager
def _remarks(*, quiet: bool) -> Iterator[None]:
    """Warnings as messages of ours, without source lines; none of them if the user wants quiet."""
    progress.NOTICES = not quiet
    with warnings.catch_warnings():
        warnings.showwarning = _show_remark
        # Whatever the environment says about warnings: these are remarks for the user.
        warnings.simplefilter("ignore" if quiet else "always", DagpostWarning)
        yield


def _show_remark(message: Warning | str, *_: Any, **__: Any) -> None:
    say(in_words(getattr(message, "marked", str(message))))


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"dagpost {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass
