"""Values of columns in the language: what may stand inside `P( )` and `E( )` beside statements about the DAG.

| text | says |
| --- | --- |
| `A = x`, `A != "x y"` | the level of A, or its number |
| `A in {x, y}` | one of these levels |
| `A > 140`, `A <= 0.5`, `120 <= A < 140` | a number, or levels that are in an order |
| `do(A = x)`, `do(A = x, B = y)` | A is set from outside; only behind the bar |
| `E(A | ...)` | the mean of A |

Values are joined with `&` or commas. Brackets, `!` and "or" are for statements about the DAG.

    query      = ( "P" "(" terms | "E" "(" name ) [ "|" condition { ( "&" | "," ) condition } ] ")"  |  terms
    terms      = term { "&" term }
    condition  = term  |  "do" "(" term { ( "&" | "," ) term } ")"  |  negation
    term       = name relation value  |  name "in" "{" value { "," value } "}"
               |  value relation name [ relation value ]
"""

from __future__ import annotations

from dataclasses import dataclass

from dagpost.features.feature import Feature
from dagpost.features.names import quoted
from dagpost.features.reader import Reader, one_of
from dagpost.features.tokens import Token
from dagpost.features.value_queries import RELATIONS, ValueQuery, ValueTerm, WrittenValue, joined

_VALUE_TOKENS = ("name", "quoted", "number")
_ONE_SIDED = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class SetColumns:
    """`do(A = x)`."""

    terms: tuple[ValueTerm, ...]


#: What stands between `&` and commas, and where it begins.
Item = tuple[Token, Feature | ValueTerm | SetColumns]


class ValueReader(Reader):
    """Reads terms about values."""

    def at_value(self) -> bool:
        """Whether a term about a value comes next."""
        if self.next.kind not in _VALUE_TOKENS:
            return False
        after = self._token(1)
        if after.kind == "symbol" and after.value in RELATIONS:
            return True
        return (after.kind, after.value) == ("name", "in") and self._token(2).value == "{"

    def at_do(self) -> bool:
        """Whether columns that are set come next."""
        return self.at_call() and self.next.value == "do"

    def _token(self, ahead: int) -> Token:
        return self.tokens[min(self.place + ahead, len(self.tokens) - 1)]

    def terms(self) -> list[tuple[Token, ValueTerm]]:
        """One term; two where a column stands between two limits."""
        start = self.next
        if start.kind != "quoted" and start.value not in self.names and _is_number(start.value):
            return [(start, term) for term in self._limits()]
        name = self.name()
        if self.at_in():
            self.step()
            return [(start, ValueTerm(name, "in", self._set(), start.position))]
        relation = self.step()
        return [(start, ValueTerm(name, relation.value, (self._value(relation),), start.position))]

    def _limits(self) -> list[ValueTerm]:
        """`120 <= A < 140`."""
        start = self.next
        first, relation = self._value(start), self.step()
        if relation.value not in _ONE_SIDED:
            raise self.error(start, f"Expected a variable before {relation.value!r}, but {start}.")
        place = self.next.position
        name = self.name()
        found = [ValueTerm(name, RELATIONS[relation.value], (first,), place)]
        if self.at(*RELATIONS):
            second = self.step()
            if second.value[0] != relation.value[0]:
                raise self.error(second, f"Both limits must point the same way, as in 1 < {quoted(name)} < 2.")
            found.append(ValueTerm(name, second.value, (self._value(second),), place))
        return found

    def _value(self, before: Token) -> WrittenValue:
        token = self.next
        if token.kind not in _VALUE_TOKENS:
            hint = " Put a level with other characters in quotes." if token.kind == "symbol" else ""
            raise self.error(token, f"Expected a level or a number after {before.value!r}, but {token}.{hint}")
        self.step()
        return WrittenValue(token.value, token.kind == "quoted", token.position)

    def _set(self) -> tuple[WrittenValue, ...]:
        opening = self.take("{", where="after 'in'")
        found = self.separated(lambda: self._value(self.tokens[self.place - 1]), ",")
        self.closed(opening, "}", "brace", where="or ',' after a level of a set")
        return tuple(found)

    def set_columns(self) -> SetColumns:
        """`do(A = x, B = y)`."""
        self.step()
        opening = self.step()
        terms = self.separated(self._set_column, "&", ",")
        self.closed(opening, ")", "bracket", where="or ',' after a value that is set")
        return SetColumns(tuple(terms))

    def _set_column(self) -> ValueTerm:
        """`A = x`."""
        start = self.next
        if not self.at_value():
            raise self.error(start, f"Expected a column and its value, as in do(A = x), but {start}.")
        (_, term), *more = self.terms()
        if more or term.relation != "=":
            raise self.error(start, "A column is set to one value: write do(A = x).")
        return term

    def mean_of(self) -> str:
        """The column of `E(A`."""
        name = self.name("the column whose mean is asked for")
        if self.at(*RELATIONS):
            raise self.error(
                self.next, f"E( ) is the mean of one column. For a probability, write P({quoted(name)} ...)."
            )
        return name

    def query_of(self, targets: list[Item], given: list[Item], mean_of: str | None) -> ValueQuery | None:
        """The question about values that some items are; None where they are about the graph alone."""
        if mean_of is None and not any(isinstance(item, ValueTerm | SetColumns) for _, item in (*targets, *given)):
            return None
        for token, item in targets:
            if isinstance(item, SetColumns):
                raise self.error(token, "Columns are set behind the bar: P(A = x | do(B = y)).")
            if isinstance(item, Feature):
                raise self.error(
                    token,
                    "This is a statement about the graph, and the others are about values. Put it behind the bar, "
                    "as a condition: P(A = x | B -> A). Or ask for its probability by itself.",
                )
        return ValueQuery(
            self.text,
            tuple(item for _, item in targets if isinstance(item, ValueTerm)),
            mean_of,
            tuple(item for _, item in given if isinstance(item, ValueTerm)),
            tuple(term for _, item in given if isinstance(item, SetColumns) for term in item.terms),
            joined([item for _, item in given if isinstance(item, Feature)]),
        )

    def misplaced(self, name: str) -> str:
        """Why a value cannot stand where it does."""
        own = quoted(name)
        return (
            f"A value of {own} stands directly inside P( ), beside others with & or a comma between them; brackets, "
            f"'!' and 'or' are for statements about the graph. Write {own} != x for 'not', {own} in {{x, y}} for "
            f"{one_of(['one level', 'another'])}, and P( | ) for a condition."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
