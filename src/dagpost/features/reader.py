"""Reading the text of a statement token by token: what the language and the forms of single statements share.

An error shows the text with a caret under the token that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.features.forms import Arrow, vocabulary
from dagpost.features.tokens import Token, error_at, tokens_of

_MOST_DIGITS = 9

Made = TypeVar("Made")


class Reader:
    """The tokens of a text, and how far they have been read."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = names
        self.vocabulary = vocabulary()
        self.tokens = tokens_of(text, self.vocabulary.symbols)
        self.place = 0
        #: Directly inside P( ), where a bar introduces the condition.
        self.bar_is_given = False

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.place]

    def at(self, *symbols: str) -> bool:
        """Whether one of these symbols comes next."""
        return self.next.kind == "symbol" and self.next.value in symbols

    def at_call(self) -> bool:
        """Whether a word with an opening bracket behind it comes next."""
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return self.next.kind == "name" and following.kind == "symbol" and following.value == "("

    def at_in(self) -> bool:
        """Whether the word 'in' comes next."""
        return (self.next.kind, self.next.value) == ("name", "in")

    def at_relation(self) -> bool:
        """Whether something comes next that relates the variable before it to another."""
        return self.at(*self.vocabulary.symbols) or self.at_in()

    def step(self) -> Token:
        """The next token, which is then read."""
        token = self.next
        self.place += 1
        return token

    def take(self, symbol: str, *, where: str) -> Token:
        """The next token, which must be this symbol."""
        if not self.at(symbol):
            raise self.error(self.next, f"Expected {symbol!r} {where}, but {self.next}.")
        return self.step()

    def name(self, what: str = "a variable") -> str:
        """The name of a variable."""
        if self.next.kind not in ("name", "quoted"):
            hint = " Put a name with other characters in quotes." if self.next.kind == "number" else ""
            raise self.error(self.next, f"Expected {what}, but {self.next}.{hint}")
        token = self.step()
        self.build(token, position_of, token.value, self.names)
        return token.value

    def number(self, what: str) -> int:
        """A whole number, not negative."""
        token = self.step()
        digits = token.value
        if token.kind != "name" or not (digits.isascii() and digits.isdecimal()) or len(digits) > _MOST_DIGITS:
            raise self.error(token, f"Expected {what}, a whole number, but {token}.")
        return int(digits)

    def separated(self, part: Callable[[], Made], *separators: str) -> list[Made]:
        """Parts with one of these symbols between any two."""
        found = [part()]
        while self.at(*separators):
            self.step()
            found.append(part())
        return found

    def listed(self) -> list[str]:
        """Variables with commas between them."""
        return self.separated(self.name, ",")

    def closed(self, opening: Token, symbol: str, what: str, *, where: str) -> None:
        """The symbol that closes what was opened."""
        if self.next.kind == "end":
            raise self.error(opening, f"This {what} is never closed.")
        self.take(symbol, where=where)

    def group(self, *, empty: bool = False) -> frozenset[str]:
        """A variable, or several in braces."""
        if not self.at("{"):
            return frozenset((self.name("a variable or a set such as {A, B}"),))
        opening = self.step()
        members = [] if empty and self.at("}") else self.listed()
        self.closed(opening, "}", "brace", where="or ',' after a variable of a set")
        return frozenset(members)

    def argument(self) -> str:
        """`word(A)`: the variable in the brackets."""
        self.step()
        self.step()
        name = self.name()
        self.take(")", where="after the variable")
        return name

    def node_and_set(self, make: Callable[[str, frozenset[str]], Made]) -> Made:
        """`word(A) = {B, C}`: what `make` makes of the variable and the set."""
        start = self.next
        name = self.argument()
        self.take("=", where=f"after {start.value}( )")
        if not self.at("{"):
            raise self.error(self.next, f"Expected a set such as {{A, B}} or {{}}, but {self.next}.")
        return self.build(start, make, name, self.group(empty=True))

    def arrow(self) -> tuple[Arrow, tuple[Any, ...]]:
        """An arrow, and what its modifier read, if anything."""
        arrow = self.vocabulary.arrows[self.step().value]
        read = None if arrow.modifier is None else arrow.modifier(self)
        return arrow, () if read is None else (read,)

    def build(self, token: Token, make: Callable[..., Made], *arguments: Any) -> Made:
        """Call `make`; if it refuses, show the place of `token` in its error."""
        try:
            return make(*arguments)
        except InputError as error:
            raise self.error(token, error.marked) from None

    def error(self, token: Token, message: str) -> InputError:
        """An error that shows the place of `token`."""
        return error_at(self.text, token.position, message)


def one_of(choices: Iterable[str], last: str = "or") -> str:
    """Several possibilities in words.

    >>> one_of(["->", "--", "'in'"])
    "->, -- or 'in'"
    """
    *others, final = choices
    return f"{', '.join(others)} {last} {final}" if others else final
