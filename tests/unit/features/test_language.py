"""Reading statements from text: what each form means, and what is said about those that cannot be read."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import (
    adjacent,
    ancestor_set,
    compelled,
    custom,
    d_separated,
    descendant_set,
    edge,
    in_markov_blanket,
    parent_set,
    path,
    topological_position,
    v_structure,
)
from dagpost.errors import InputError
from dagpost.features import STATEMENTS, And, Not, Or, Query, parse, resolve

NAMES = ["A", "B", "C", "D", "Smoking", "M. Work"]
A_B, B_C, C_D = edge("A", "B"), edge("B", "C"), edge("C", "D")

MEANINGS = {
    "A -> B": A_B,
    "B <- A": A_B,
    "A->B": A_B,
    " A\n->\tB ": A_B,
    "A ~> B": path("A", "B"),
    "B <~ A": path("A", "B"),
    "A ~>{2} B": path("A", "B", longest=2),
    "A ~> { 2 } B": path("A", "B", longest=2),
    "B <~{2} A": path("A", "B", longest=2),
    "A -- B": adjacent("A", "B"),
    "A -> C <- B": v_structure("A", "C", "B"),
    "A -> C & B -> C": edge("A", "C") & edge("B", "C"),
    "A -> B -> C": A_B & B_C,
    "A -> B -> C -> D": A_B & B_C & C_D,
    "C <- B <- A": B_C & A_B,
    "A ~> B ~> C": path("A", "B") & path("B", "C"),
    "A -> B ~>{3} C": A_B & path("B", "C", longest=3),
    "A -- B -- C": adjacent("A", "B") & adjacent("B", "C"),
    "pa(B) = {A, C}": parent_set("B", ["A", "C"]),
    "pa(B)={}": parent_set("B", []),
    "an(B) = {A}": ancestor_set("B", ["A"]),
    "de(A) = {B, C}": descendant_set("A", ["B", "C"]),
    "de(A) = {}": descendant_set("A", []),
    "A in pa(B)": A_B,
    "A in an(B)": path("A", "B"),
    "B in de(A)": path("A", "B"),
    "A in mb(B)": in_markov_blanket("A", "B"),
    "A _||_ B": d_separated("A", "B"),
    "A_||_B": d_separated("A", "B"),
    "A _||_ B | C": d_separated("A", "B", "C"),
    "A _||_ B | C, D": d_separated("A", "B", ["C", "D"]),
    "A _||_ B | {}": d_separated("A", "B"),
    "{A, B} _||_ C | {D}": d_separated(["A", "B"], "C", "D"),
    "A _||_ {B, C} | D & C -> D": d_separated("A", ["B", "C"], "D") & C_D,
    "(A _||_ B) | C -> D": d_separated("A", "B") | C_D,
    "(A _||_ B | C) | C -> D": d_separated("A", "B", "C") | C_D,
    "C -> D | A _||_ B | C": C_D | d_separated("A", "B", "C"),
    "compelled(A -> B)": compelled("A", "B"),
    "!compelled( B->A )": ~compelled("B", "A"),
    "pos(A) <= 1": topological_position("A", "<=", 1),
    "pos(A)=0": topological_position("A", "=", 0),
    "pos(A)>2 & pos(B)<2": topological_position("A", ">", 2) & topological_position("B", "<", 2),
    "pos(A) >= 10": topological_position("A", ">=", 10),
    "!A -> B": ~A_B,
    "!!A -> B": Not(Not(A_B)),
    "!(A -> B & B -> C)": ~(A_B & B_C),
    "A -> B | B -> C & C -> D": A_B | (B_C & C_D),
    "(A -> B | B -> C) & C -> D": (A_B | B_C) & C_D,
    "!A -> B & B -> C": ~A_B & B_C,
    "((A -> B))": A_B,
    "'M. Work' -> \"Smoking\"": edge("M. Work", "Smoking"),
}


@pytest.mark.parametrize("text", MEANINGS)
def test_each_form_means_what_the_guide_says(text: str) -> None:
    assert parse(text, NAMES) == Query(MEANINGS[text])


def test_each_example_of_a_statement_is_read_as_that_statement() -> None:
    for statement in STATEMENTS.classes().values():
        for form in statement.forms():
            for text in form.examples:
                found = parse(text, [*NAMES, "A[t-1]"])
                assert type(found.feature) is statement
                assert parse(str(found), [*NAMES, "A[t-1]"]) == found


@pytest.mark.parametrize(
    ("text", "feature", "condition"),
    [
        ("P(A -> B)", A_B, None),
        ("P(A -> B | B -> C)", A_B, B_C),
        ("P( A -> B & !C -> D | B -> C & A -> B )", A_B & ~C_D, B_C & A_B),
        ("P((A -> B | B -> C) | C -> D)", A_B | B_C, C_D),
        ("P(A -> B | (B -> C | C -> D))", A_B, B_C | C_D),
        ("P(A _||_ B | C)", d_separated("A", "B", "C"), None),
        ("P(A _||_ B | C | C -> D)", d_separated("A", "B", "C"), C_D),
        ("P((A -> B) & A _||_ B | C | C -> D)", A_B & d_separated("A", "B", "C"), C_D),
        ("P((A _||_ B) | C -> D)", d_separated("A", "B"), C_D),
        ("P(C -> D | A _||_ B | C)", C_D, d_separated("A", "B", "C")),
    ],
)
def test_a_condition_is_read_beside_the_statement(text: str, feature: Any, condition: Any) -> None:
    query = parse(text, NAMES)
    assert query == Query(feature, condition)
    assert parse(str(query), NAMES) == query


ODD_NAMES = [
    "P",
    "pa",
    "an",
    "de",
    "mb",
    "pos",
    "in",
    "a b",
    "",
    " ",
    'say "hi"',
    "it's",
    "back\\slash",
    "\\",
]
ODD_NAMES += [
    "new\nline",
    "tab\t",
    "größe",
    "日本",
    "1",
    "2nd",
    "_",
    "A_",
    "_||_",
    "->",
    "a,b",
    "{x}",
    "\x1b[0m",
    "e\u0301",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_text_can_be_a_name(name: str) -> None:
    names = ["A", *ODD_NAMES]
    for feature in (
        edge(name, "A"),
        path("A", name, longest=2),
        parent_set("A", [name]),
        parent_set(name, []),
        in_markov_blanket(name, "A"),
        d_separated(name, "A", [other for other in ODD_NAMES if other != name]),
        topological_position(name, ">=", 3),
        ~d_separated("A", name) | edge("A", name),
    ):
        assert parse(str(feature), names).feature == feature


def test_words_of_the_language_are_names_where_they_can_be_nothing_else() -> None:
    names = ["P", "pa", "in", "A"]
    assert parse("P -> A", names).feature == edge("P", "A")
    assert parse("pa -> in", names).feature == edge("pa", "in")
    assert parse("in in pa(pa)", names).feature == edge("in", "pa")
    assert parse("P(P -> A | pa -> A)", names) == Query(edge("P", "A"), edge("pa", "A"))


@settings(max_examples=examples(300))
@given(st.lists(st.text(max_size=5), min_size=2, max_size=4, unique=True))
def test_every_name_survives_writing_and_reading(names: Any) -> None:
    feature = edge(*names[:2]) & d_separated(names[0], names[1], names[2:])
    assert parse(str(feature), names).feature == feature


# text: where the caret stands, and what is said
COMPLAINTS = {
    "": (0, "The text is empty. Write a statement such as A -> B"),
    "   ": (3, "The text is empty"),
    "A": (1, "Expected ->, <-, ~>, <~, --, _||_ or 'in' after 'A', but the text ends here."),
    "A B": (2, "after 'A', but found 'B'"),
    "A ->": (4, "Expected a variable, but the text ends here."),
    "A -> & B": (5, "Expected a variable, but found '&'"),
    "A --> B": (4, "Expected a variable, but found '>'"),
    "-> B": (0, "Expected a statement such as A -> B, but found '->'"),
    "A -> B &": (8, "Expected a statement such as A -> B, but the text ends here"),
    "A -> B && B -> C": (8, "Expected a statement such as A -> B, but found '&'"),
    "A -> B B -> C": (7, "Expected '&', '|' or the end, but found 'B'"),
    "A -> A": (
        5,
        "The statement 'A -> A' relates 'A' to itself, which no DAG allows. Name different variables.",
    ),
    "A ~> B ~> B": (10, "relates 'B' to itself"),
    "A -- A": (5, "relates 'A' to itself"),
    "A -> C <- A": (10, "relates 'A' to itself"),
    "A in mb(A)": (0, "relates 'A' to itself"),
    "pa(A) = {A, B}": (0, "Leave 'A' out of the set."),
    "A _||_ B | A": (0, "The variable 'A' appears twice"),
    "A -> Smokin": (5, "There is no variable 'Smokin'. Did you mean 'Smoking'?"),
    "A -> B & pa(Smokng) = {}": (12, "There is no variable 'Smokng'. Did you mean 'Smoking'?"),
    "A -> 'M Work'": (5, "There is no variable 'M Work'. Did you mean 'M. Work'?"),
    "A -> zzzzzz": (5, "There is no variable 'zzzzzz'. There are: 'A', 'B'"),
    "(A -> B": (0, "This bracket is never closed."),
    "A -> B & ((B -> C) & C -> D": (9, "This bracket is never closed."),
    "A -> B)": (6, "This bracket closes nothing: no bracket is open here."),
    "(A -> B C": (8, "Expected '&', '|' or ')', but found 'C'"),
    "()": (1, "Expected a statement such as A -> B, but found ')'"),
    "A -> B; B -> C": (6, "The character ';' means nothing here. Put a name that contains it in quotes."),
    "~A -> B": (0, "Write ! for 'not'."),
    "A -> 'M. Work": (5, "This quote is never closed."),
    "A <- B -> C": (7, "The steps of a chain must point the same way"),
    "A -> B <- C -> D": (7, "The steps of a chain must point the same way"),
    "A ~> B <~ C": (7, "must point the same way, except in A -> C <- B (a v-structure)."),
    "A -> B -- C": (7, "Write the steps separately, with & between them."),
    "A ~>{x} B": (5, "Expected the largest number of edges, a whole number, but found 'x'"),
    "A ~>{0} B": (5, "A path has at least 1 edge."),
    "A ~>{2 B": (7, "Expected '}' after the largest number of edges, but found 'B'"),
    "A ~>{99999999999999} B": (5, "a whole number, but found '99999999999999'"),
    "A ~>{²} B": (5, "a whole number, but found '²'"),
    "A in B": (5, "Expected pa( ), an( ), de( ) or mb( ) after 'in', but found 'B'"),
    "A in foo(B)": (5, "Expected pa( ), an( ), de( ) or mb( ) after 'in', but found 'foo'"),
    "A in": (4, "after 'in', but the text ends here"),
    "A in mb(B": (9, "Expected ')' after the variable, but the text ends here"),
    "foo(B) = {}": (0, "There is no foo( ). There are pa( ), an( ), de( ), mb( ), compelled( ) and pos( )."),
    "mb(B) = {A}": (0, "names one variable at a time: A in mb(B). Join several with &."),
    "pa(B) A": (6, "Expected '=' after pa( ), but found 'A'"),
    "pa(B) = A": (8, "Expected a set such as {A, B} or {}, but found 'A'"),
    "pa(B) = {A C}": (11, "Expected '}' or ',' after a variable of a set, but found 'C'"),
    "pa(B) = {A,": (11, "Expected a variable, but the text ends here"),
    "pa(B) = {A": (8, "This brace is never closed."),
    "compelled(A)": (11, "Expected '->' after the variable, but found ')'"),
    "compelled(A -- B)": (12, "Expected '->' after the variable, but found '--'"),
    "compelled(A -> B": (16, "Expected ')' after the variable, but the text ends here"),
    "compelled(A -> A)": (0, "compelled"),
    "pos(A) 1": (7, "Expected one of =, <, <=, >, >= after pos( ), but found '1'"),
    "pos(A) < B": (9, "Expected a number of edges, a whole number, but found 'B'"),
    "pos(A) <": (8, "Expected a number of edges, a whole number, but the text ends here"),
    "{A, B} -> C": (7, "Expected '_||_' after a set, but found '->'"),
    "{} _||_ C": (1, "Expected a variable, but found '}'"),
    "A _||_": (6, "Expected a variable or a set such as {A, B}, but the text ends here"),
    "A _||_ B |": (10, "Expected a variable, but the text ends here"),
    "A _||_ B | C -> D": (9, "put the d-separation in brackets: (A _||_ B) | C -> D"),
    "A _||_ B | !C -> D": (9, "a bar introduces the variables to condition on"),
    "A _||_ B | (C -> D)": (9, "a bar introduces the variables to condition on"),
    "A _||_ B | pa(C) = {}": (9, "a bar introduces the variables to condition on"),
    "A _||_ B | C in mb(D)": (9, "a bar introduces the variables to condition on"),
    "A _||_ B | C | C -> D": (13, "a bar introduces the variables to condition on"),
    "P(A _||_ B | C -> D)": (11, "put the d-separation in brackets"),
    "P(A -> B": (1, "This bracket is never closed."),
    "P()": (2, "Expected a statement such as A -> B, but found ')'"),
    "P(A -> B | B -> C | C -> D)": (18, "To say 'or', put it in brackets: P((f | g) | h)."),
    "P(A -> B, B -> C)": (8, "Expected '&', '|' or ')', but found ','"),
    "P(A -> B) & B -> C": (10, "P( ) encloses the whole text, so the text should end here, but found '&'"),
    "!P(A -> B)": (1, "P( ) can only enclose the whole text."),
    "A -> B & P(A -> B)": (9, "P( ) can only enclose the whole text."),
    "(" * 500 + "A -> B": (100, "nested more than 100 deep"),
    "!" * 500 + "A -> B": (100, "nested more than 100 deep"),
}


@pytest.mark.parametrize("text", COMPLAINTS, ids=lambda text: text[:30])
def test_what_cannot_be_read_is_shown_with_a_caret_at_the_place(text: str) -> None:
    column, message = COMPLAINTS[text]
    with pytest.raises(InputError) as caught:
        parse(text, NAMES)
    said, shown, caret = str(caught.value).split("\n")
    assert message in said
    assert shown == f"  {text}"
    assert caret == " " * (2 + column) + "^"


def test_the_caret_stays_in_place_among_wide_characters_and_line_breaks() -> None:
    with pytest.raises(InputError) as caught:
        parse("日本 ->\n x", ["日本", "e"])
    assert str(caught.value).split("\n")[1:] == ["  日本 ->  x", "  " + " " * 9 + "^"]
    with pytest.raises(InputError) as caught:
        parse("'e\u0301' -> x", ["e\u0301", "y"])
    assert str(caught.value).split("\n")[2] == "  " + " " * 7 + "^"


@settings(max_examples=examples(500))
@given(
    st.lists(
        st.sampled_from(
            [*"ABP(){}|&!,=<>~'\"-123\\ ", "->", "~>", "<-", "<~", "_||_", " in ", "pa(", "mb(", "pos(", "é"]
        ),
        max_size=12,
    ).map("".join)
)
@example("\\")
def test_any_text_is_either_read_or_refused_with_a_caret(text: str) -> None:
    complaint = None
    try:
        query = parse(text, NAMES)
    except InputError as error:
        complaint = str(error)
    if complaint is None:
        assert parse(str(query), NAMES) == query
    else:
        assert complaint.splitlines()[-1].strip() == "^"


def test_what_is_not_text_is_refused(said: Said) -> None:
    with said.raises(InputError):
        parse(3, NAMES)


# Objects


def test_statements_are_values() -> None:
    one, other = path("A", "B") & ~edge("A", "C"), path("A", "B") & ~edge("A", "C")
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, A_B}) == 2
    assert pickle.loads(pickle.dumps(one)) == one
    assert parent_set("B", ["A", "C"]) == parent_set("B", ("C", "A"))
    assert path("A", "B") != path("A", "B", longest=2)


def test_operators_flatten_and_cancel() -> None:
    assert (A_B & B_C) & C_D == A_B & (B_C & C_D) == And((A_B, B_C, C_D))
    assert Or((A_B, B_C, C_D)) == (A_B | B_C) | C_D
    assert ~~A_B == A_B
    assert str((A_B | B_C) & ~(C_D & A_B)) == "(A -> B | B -> C) & !(C -> D & A -> B)"


def test_functions_join_statements_from_both_sides() -> Any:
    def sparse(dag: Any) -> Any:
        return dag.number_of_edges() < 3

    assert A_B & sparse == And((A_B, custom(sparse)))
    assert sparse & A_B == And((custom(sparse), A_B))
    assert A_B | sparse == Or((A_B, custom(sparse)))
    assert sparse | A_B == Or((custom(sparse), A_B))
    assert str(custom(sparse)) == "sparse(dag)"
    with pytest.raises(TypeError):
        A_B & "B -> C"
    with pytest.raises(TypeError):
        3 | A_B


def test_python_and_or_not_are_refused_rather_than_misread(said: Said) -> None:
    statement: Any = A_B
    for slip in (lambda: statement and B_C, lambda: not statement, lambda: bool(statement)):
        with said.raises(InputError):
            slip()


def test_a_lone_text_is_one_name_and_not_its_letters() -> None:
    assert parent_set("B", "Smoking").members == {"Smoking"}
    assert d_separated("Smoking", "B", given="M. Work").variables == {"Smoking", "B", "M. Work"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: edge("A", "A"), "relates 'A' to itself"),
        (lambda: edge("A", 3), "given by its name, as text. Got 3 (int)"),
        (
            lambda: path("A", "B", longest=0),
            "The 'longest' parameter of path must be an int of at least 1, or None. Got 0 instead",
        ),
        (lambda: path("A", "B", longest=1.5), "Got 1.5"),
        (lambda: path("A", "B", longest=True), "Got True"),
        (lambda: v_structure("A", "B", "A"), "relates 'A' to itself"),
        (lambda: parent_set("A", ["A"]), "Leave 'A' out"),
        (lambda: parent_set("A", [1]), "Got 1"),  # type: ignore[list-item]
        (lambda: parent_set("A", 1), "a variable name or a collection of them. Got 1"),
        (lambda: d_separated([], "A"), "one side is empty"),
        (lambda: d_separated("A", ["B", "A"]), "'A' appears twice"),
        (lambda: topological_position("A", "!=", 1), "must be one of '=', '<', '<=', '>', '>='. Got '!='"),
        (
            lambda: topological_position("A", "=", -1),
            "The 'value' parameter of topological_position must be an int of at least 0. Got -1",
        ),
        (lambda: custom("A -> B"), "needs a function"),
        (lambda: And((A_B,)), "joins two or more statements. Got 1"),
        (lambda: Not("A -> B"), "must be an object such as edge"),
    ],
)
def test_a_slip_in_an_object_is_named_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


# From anything


def test_text_objects_and_functions_are_all_questions() -> None:
    assert resolve("A -> B", NAMES) == Query(A_B)
    assert resolve(A_B, NAMES) == Query(A_B)
    assert resolve(Query(A_B, B_C), NAMES) == Query(A_B, B_C)
    assert resolve("A -> B", NAMES, given=B_C) == Query(A_B, B_C)
    assert resolve(A_B, NAMES, given="B -> C") == Query(A_B, B_C)
    assert resolve(len, NAMES) == Query(custom(len))


def test_a_second_condition_is_refused(said: Said) -> None:
    for statement, condition in (("P(A -> B | B -> C)", C_D), (A_B, "P(B -> C | C -> D)")):
        with said.raises(InputError):
            resolve(statement, NAMES, given=condition)


def test_names_in_objects_are_checked(said: Said) -> None:
    for statement in (edge("Smokin", "A"), Query(A_B, edge("Smokin", "A")), ~(A_B | path("A", "Smokin"))):
        with said.raises(InputError):
            resolve(statement, NAMES)
    with said.raises(InputError):
        resolve(3, NAMES)
