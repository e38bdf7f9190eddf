"""The forms in which statements are written: what a statement tells the language about its text.

| form | example | `make` is called with |
| --- | --- | --- |
| `Arrow` | `A -> B` | the two names, and what the modifier read, if anything |
| `Pattern` | `A -> C <- B` | all names of a chain with exactly these arrows |
| `Membership` | `A in mb(B)` | the two names |
| `Call` | `pos(A) <= 1` | the reader, which stands at the word |
| `Suffix` | `A ~> B within 2 steps` | the reader, which stands at the word, and the two names |
| `Infix` | `{A, B} _||_ C` | the reader, behind the symbol; the first token; the names on the left |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from dagpost.errors import InputError
from dagpost.features.registry import STATEMENTS

if TYPE_CHECKING:
    from dagpost.features.feature import Feature


@dataclass(frozen=True)
class Form:
    """One way to write a statement."""

    #: The symbol or the word by which it is recognised.
    sign: str
    make: Callable[..., Feature]
    #: Texts about the variables A, B, C and D: shown in messages, and checked against the documentation.
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Arrow(Form):
    """A symbol between two variables. Arrows that point the same way make a chain, `A -> B -> C`.

    An arrow that points left hands its names over in reverse, so that `B <- A` makes what `A -> B` makes.
    """

    direction: Literal["right", "left", "none"] = "right"
    #: Reads what may follow the symbol, such as `{2}`; None: nothing was there.
    modifier: Callable[[Any], Any] | None = None
    #: For the matrix of all pairs: from a block of graphs (and what the modifier read) to the mask, for each node, of
    #: the nodes on the left. An arrow without a direction gives each pair of nodes once.
    related: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Pattern(Form):
    """A chain of certain arrows with a meaning of its own; the sign is these arrows, with spaces between them."""

    called: str


@dataclass(frozen=True)
class Suffix(Form):
    """A word behind one arrow with its two variables; `arrow` is what that arrow makes without it."""

    arrow: Callable[..., Feature]


@dataclass(frozen=True)
class Membership(Form):
    """`A in word(B)`."""


@dataclass(frozen=True)
class Call(Form):
    """A text that begins with `word(`."""


@dataclass(frozen=True)
class Infix(Form):
    """A symbol between two variables, or sets of variables in braces."""


Kind = TypeVar("Kind", bound=Form)


class Vocabulary:
    """All forms of all registered statements, by their signs."""

    def __init__(self, statements: tuple[type[Feature], ...]) -> None:
        self._forms = [form for statement in statements for form in statement.forms()]
        self.arrows = self._by_sign(Arrow)
        self.patterns = self._by_sign(Pattern)
        self.suffixes = self._by_sign(Suffix)
        self.memberships = self._by_sign(Membership)
        self.calls = self._by_sign(Call)
        self.infixes = self._by_sign(Infix)
        self.symbols = (*self.arrows, *self.infixes)
        #: The words with a bracket behind them.
        self.words = tuple(dict.fromkeys((*self.memberships, *self.calls)))
        #: Words with a meaning of their own. As names of variables they are written in quotes.
        self.reserved = frozenset({"P", "in", *self.words})
        self.examples = tuple(form.examples[0] for form in self._forms)

    def _by_sign(self, kind: type[Kind]) -> dict[str, Kind]:
        found: dict[str, Kind] = {}
        for form in self._forms:
            if isinstance(form, kind):
                if form.sign in found:
                    raise InputError(f"Two statements are written with {form.sign!r}. Give one of them another sign.")
                found[form.sign] = form
        return found


def vocabulary() -> Vocabulary:
    """What can be written at the moment."""
    return _vocabulary(tuple(STATEMENTS.classes().values()))


_vocabulary = cache(Vocabulary)
