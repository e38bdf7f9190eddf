"""A statement that dagpost does not know is one class: it is then read, written, evaluated and answered like ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.naive.posterior import all_dags
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets, edge
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.features import STATEMENTS, Feature, disjoint_ways, evaluate, parse, weighted_matrix
from dagpost.features.blocks import Block, Flags
from dagpost.features.forms import Arrow, Call, Form, vocabulary
from dagpost.features.names import check_different, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import FamilyCondition

NAMES = ["A", "B", "C", "crowd"]
DAGS = np.array(all_dags(4), dtype=np.uint8)
PARENTS = np.bitwise_count(DAGS) if hasattr(np, "bitwise_count") else np.unpackbits(DAGS[..., None], axis=2).sum(axis=2)


@pytest.fixture(scope="module", autouse=True)
def statements() -> Iterator[dict[str, type[Feature]]]:
    """Two statements that exist as long as these tests run."""
    with STATEMENTS.forgetting():
        yield new_statements()


def new_statements() -> dict[str, type[Feature]]:
    """A subclass with a name registers itself."""

    @dataclass(frozen=True)
    class Crowded(Feature):
        """`crowd(A, 2)`: A has at least 2 parents. Its condition on one family is all it needs."""

        node: str
        least: int

        name = "crowded"

        def __str__(self) -> str:
            return f"crowd({quoted(self.node)}, {self.least})"

        @classmethod
        def forms(cls) -> tuple[Form, ...]:
            return (Call("crowd", cls.read, ("crowd(A, 2)",)),)

        @classmethod
        def read(cls, reader: Reader) -> Feature:
            start = reader.step()
            reader.take("(", where="after crowd")
            node = reader.name()
            reader.take(",", where="after the variable")
            least = reader.number("a number of parents")
            reader.take(")", where="after the number of parents")
            return reader.build(start, cls, node, least)

        def family_condition(self, names: Sequence[str]) -> FamilyCondition:
            bits = np.arange(len(names), dtype=np.uint64)
            return position_of(
                self.node, names
            ), lambda masks: (masks[..., None] >> bits & np.uint64(1)).sum(axis=-1) >= self.least

    @dataclass(frozen=True)
    class Indirect(Feature):
        """`A => B`: A is an ancestor of B and not a parent. It uses the closure that all statements share."""

        source: str
        target: str

        name = "indirect"

        def __post_init__(self) -> None:
            check_different(self, self.source, self.target)

        def __str__(self) -> str:
            return f"{quoted(self.source)} => {quoted(self.target)}"

        @classmethod
        def forms(cls) -> tuple[Form, ...]:
            return (Arrow("=>", cls, ("A => B",), related=lambda block: block.ancestors() & ~block.parents),)

        def holds_in(self, block: Block) -> Flags:
            target, source = block.node(self.target), np.uint64(block.node(self.source))
            found = block.ancestors()[target] & ~block.parents[target]
            return (found >> source & np.uint64(1)).astype(bool)

    return {"crowded": Crowded, "indirect": Indirect}


def test_its_text_is_read_and_written(statements: Any) -> None:
    query = parse("crowd(A, 2) & !(A => B) | A -> C", NAMES)
    crowded, indirect = statements["crowded"]("A", 2), statements["indirect"]("A", "B")
    assert query.feature == (crowded & ~indirect) | edge("A", "C")
    assert str(query) == "(crowd(A, 2) & !(A => B)) | A -> C"
    assert parse(str(query), NAMES) == query
    assert parse("A => B => C", NAMES).feature == indirect & statements["indirect"]("B", "C")


def test_its_word_is_quoted_when_it_is_a_name_and_listed_when_another_is_misspelt(said: Said) -> None:
    assert str(edge("crowd", "A")) == '"crowd" -> A'
    with said.raises(InputError):
        parse("crowded(A, 2)", NAMES)
    with said.raises(InputError):
        parse("A", NAMES)


def test_its_slips_are_shown_with_a_caret(said: Said) -> None:
    with said.raises(InputError) as caught:
        parse("crowd(A, B)", NAMES)
    assert str(caught.value).splitlines()[-1] == " " * 11 + "^"
    with said.raises(InputError):
        parse("A => A", NAMES)


def test_it_is_evaluated_over_many_graphs(statements: Any) -> None:
    asked = [parse(text, NAMES).feature for text in ("crowd(C, 2)", "A => B", "A ~> B & !(A -> B)")]
    crowded, indirect, spelled_out = evaluate(asked, DAGS, NAMES)
    assert crowded.tolist() == (PARENTS[:, 2] >= 2).tolist()
    assert indirect.tolist() == spelled_out.tolist()
    assert 0 < indirect.sum() < len(DAGS)


def test_it_has_a_matrix_of_all_pairs() -> None:
    weights = np.random.default_rng(1).random(len(DAGS))
    expected = weighted_matrix("~>", DAGS, weights) - weighted_matrix("->", DAGS, weights)
    assert weighted_matrix("=>", DAGS, weights) == pytest.approx(expected, abs=1e-12)


def test_it_is_answered_exactly_where_it_has_a_condition_on_parents(statements: Any) -> None:
    assert disjoint_ways(statements["indirect"]("A", "B"), NAMES) is None
    model = DagPosterior(prior="uniform", score="bdeu").fit(datasets.load("coronary"))
    lonely, orphan = model.probability(["!crowd(Smoking, 1)", "pa(Smoking) = {}"])
    assert (lonely.rule, float(lonely)) == ("exact", float(orphan))


def test_two_statements_cannot_share_a_sign(statements: Any, said: Said) -> None:
    with STATEMENTS.forgetting():

        class Imitation(statements["indirect"]):  # type: ignore[misc, name-defined]
            name = "imitation"

        with said.raises(InputError):
            vocabulary()
    vocabulary()


def test_a_statement_without_a_way_to_evaluate_it_is_named(said: Said) -> Any:
    class Vague(Feature):
        def __str__(self) -> str:
            return "vague"

        variables = frozenset()

    with said.raises(InputError):
        evaluate([Vague()], DAGS, NAMES)
