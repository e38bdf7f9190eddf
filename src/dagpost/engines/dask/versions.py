"""Do all workers run what this process runs?

Results are the same to the last bit on any number of machines only if all of them run the same code. So a worker is
asked for its versions before it is given work, and refused if they are not those of this process: the version of
dagpost, and the first two numbers of those of Python and of the libraries that compute.

The question is sent as code and not by its name, since a worker of another version may know no such name. A worker that
comes while others work may be given a task before it is asked; therefore each task looks as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from dagpost.errors import InputError

#: Versions by what has them; None where it is not installed.
Versions = Mapping[str, str | None]
Result = TypeVar("Result")


def question() -> Callable[[], dict[str, str | None]]:
    """A function that a worker runs to say its versions, whether it has dagpost or not."""

    def versions() -> dict[str, str | None]:
        import sys
        from importlib.metadata import PackageNotFoundError, version

        found: dict[str, str | None] = {"Python": "{}.{}.{}".format(*sys.version_info)}
        try:
            from dagpost._version import __version__

            found["dagpost"] = __version__
        except ImportError:
            found["dagpost"] = None
        for package in ("numpy", "scipy", "numba"):
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = None
        return found

    return versions


@lru_cache(maxsize=1)
def versions_here() -> Versions:
    """The versions of this process."""
    return question()()


def refuse_other_versions(workers: Mapping[str, Versions]) -> None:
    """Refuse workers, by address, whose versions are not those of this process."""
    for worker, versions in workers.items():
        for name, here in versions_here().items():
            there = versions.get(name)
            if here is not None and there is not None and _compared(name, there) != _compared(name, here):
                raise InputError(
                    f"The worker at {worker} has {name} {there}, and this process {here}. Install the same version on "
                    "all machines, and start the workers again."
                )


def missing_on(workers: Mapping[str, Versions]) -> str | None:
    """A module that this process has and one of the workers has not."""
    lacking = (name for versions in workers.values() for name in versions_here() if versions.get(name) is None)
    return next((name for name in lacking if versions_here()[name] is not None), None)


def run_if_same(versions: Versions, function: Callable[..., Result], *arguments: Any) -> Result:
    """The task of a worker: call the function, unless the versions here are not those of the sender."""
    if versions != versions_here():
        from distributed import get_worker

        _refuse_task(get_worker().address, versions)
    return function(*arguments)


def _refuse_task(worker: str, sent: Versions) -> None:
    """Refuse a task that was sent by a process of other versions, in the words of that process."""
    for name, there in sent.items():
        here = versions_here().get(name)
        if here is not None and there is not None and _compared(name, there) != _compared(name, here):
            raise InputError(
                f"The worker at {worker}, which came while others worked, has {name} {here}, and the process that sent "
                f"it work {there}. Install the same version on all machines, and start the workers again."
            )


def _compared(name: str, version: str) -> str:
    """The part of a version that must be the same everywhere.

    >>> _compared("numba", "0.61.2"), _compared("dagpost", "1.2.3")
    ('0.61', '1.2.3')
    """
    return version if name == "dagpost" else ".".join(version.split(".")[:2])
