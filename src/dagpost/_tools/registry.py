"""Things that are known by a name: scores, priors, methods and engines, ours and those of other packages.

A registry lists where ours live, as ``"module:Class"``; each class says its own name. A class of another package joins
in one of two ways:

- it derives from our base class, which adds it when it is defined (an engine does not need this): enough for objects,
  and for files read in a process that has imported the package;
- its package names it under an entry point, ``dagpost.scores`` for instance: it is then found by name everywhere, on
  the command line too.

Reading a file never imports what the file names, only what is installed and declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from dagpost._tools.text import nearest
from dagpost.errors import InputError, warn

Kind = TypeVar("Kind")


class Registry(Generic[Kind]):
    """Classes of one kind by name.

    Parameters
    ----------
    kind
        What they are, for messages: "score".
    group
        The entry points of other packages: "dagpost.scores".
    homes
        Ours, in the order in which they are listed to people.

    >>> scores = Registry("score", "dagpost.scores", ["dagpost.scores.bic:BIC"])
    >>> scores.names()
    ('bic',)
    """

    def __init__(self, kind: str, group: str, homes: Sequence[str]) -> None:
        self.kind, self.group, self.homes = kind, group, tuple(homes)
        self._added: dict[str, type[Kind]] = {}
        self._loaded = False

    def add(self, class_: type[Kind]) -> None:
        """Make a class known; a name belongs to the first that takes it."""
        name: str = class_.name  # type: ignore[attr-defined]
        before = self._added.get(name)
        if before is not None and _place(before) != _place(class_):
            raise InputError(
                f"The {self.kind} name {name!r} is taken by {_place(before)}. Give {_place(class_)} another name."
            )
        self._added[name] = class_

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Forget in the end what was added meanwhile, so that a test of classes that are not ours leaves no trace."""
        before = self.classes()
        try:
            yield
        finally:
            self._added = before

    def classes(self) -> dict[str, type[Kind]]:
        """Every class by name: ours first, then those of other packages."""
        if not self._loaded:
            ours = [_loaded(home) for home in self.homes]
            others = {name: found for name, found in self._added.items() if found not in ours}
            self._added = {}
            for found in (*ours, *others.values()):
                self.add(found)
            self._loaded = True
            for point in entry_points(group=self.group):
                self._add_from_outside(point)
        return dict(self._added)

    def _add_from_outside(self, point: EntryPoint) -> None:
        try:
            self.add(point.load())
        except Exception as error:  # noqa: BLE001 (a fault of another package must not stop ours)
            warn(
                f"The {self.kind} {point.name!r} of another package cannot be loaded ({type(error).__name__}: "
                f"{error}). Repair or uninstall that package."
            )

    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self.classes())

    def named(self, name: str, *, beside: Sequence[str] = ()) -> type[Kind]:
        """The class of a name; an unknown name is an error that suggests the nearest one.

        `beside` are words that are understood in the place of a name, such as "auto".
        """
        classes = self.classes()
        if name in classes:
            return classes[name]
        raise InputError(f"There is no {self.kind} {name!r}.{nearest(name, [*beside, *classes])}")

    def knows(self, description: Mapping[str, Any]) -> bool:
        """Whether the class that a file describes (json_settings.py) is here."""
        return self.of_class(str(description.get("kind")), str(description.get("package", "dagpost"))) is not None

    def of_class(self, class_name: str, package: str = "dagpost") -> type[Kind] | None:
        """The class of a package by its Python name, as files write it down; None where nobody has brought it."""
        return next((found for found in self.classes().values() if _written(found) == (package, class_name)), None)


def _loaded(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


def _place(class_: type[Any]) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _written(class_: type[Any]) -> tuple[str, str]:
    """The package and the Python name of a class, as files have them."""
    return class_.__module__.partition(".")[0], class_.__name__
