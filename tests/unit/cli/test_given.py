"""`--given`: a command that asks a model or a sample takes it for true, and says how probable it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.tools.cli_checks import Run, one_message
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample
from dagpost.cli import app

GIVEN = ("--given", "A -> B")
#: A line of every command with the option.
LINES: dict[str, tuple[str, ...]] = {
    "edges": (),
    "query": ("A ~> C",),
    "effect": ("A", "C", "--draws", "100"),
    "best": ("-k", "2"),
    "predict": ("table.csv",),
    "plot": ("-o", "picture.svg"),
    "report": ("-o", "page.html"),
    "sample": ("-o", "graphs.dagpost", "-n", "20", "--seed", "1"),
}


def probability_of(model: str) -> float:
    return float(DagPosterior.load(model).probability("A -> B"))


@pytest.mark.parametrize("command", LINES)
def test_a_command_says_what_it_is_given_and_how_probable_that_is(command: str, run: Run, model: str) -> None:
    first, *more = LINES[command][:1], *LINES[command][1:]
    line = [command, model, *first, *more, *GIVEN]
    chance = probability_of(model)
    result = run(*line)
    said = result.stdout + result.stderr
    if command == "effect":
        assert said.startswith("Given A -> B: with A set to")
        assert f"A -> B itself has probability {chance:.3f}" in said
    else:
        assert f"Given A -> B (probability {chance:.4f}, exact):" in said.splitlines()
    if command in ("plot", "report", "sample"):
        Path(line[line.index("-o") + 1]).unlink()
    content = json.loads(run(*line, "--json").stdout)
    given = (content[0] if command == "query" else content)["given"]
    assert given["statements"] == ["A -> B"]
    assert given["exact"] is True
    assert given["probability"] == pytest.approx(chance, abs=1e-12)


def test_every_command_that_reads_a_model_to_answer_has_the_option() -> None:
    group: Any = typer.main.get_command(app)
    context = group.context_class(group, info_name="dagpost")
    having = {
        name
        for name in group.list_commands(context)
        if any("--given" in own.opts for own in group.get_command(context, name).params)
    }
    assert having >= set(LINES)
    assert having.isdisjoint({"fit", "info", "complete", "data", "demo"})


def test_answers_are_those_of_the_conditioned_model(run: Run, model: str) -> None:
    conditioned = DagPosterior.load(model).given("A -> B", "!(B -> C)")
    line = ("--given", "A -> B", "--given", "!(B -> C)", "--json")
    content = json.loads(run("edges", model, *line).stdout)
    table = conditioned.edge_probabilities_
    for edge in content["edges"]:
        assert edge["probability"] == pytest.approx(table.loc[edge["parent"], edge["child"]], abs=1e-12)
    (pair,) = [own for own in content["pairs"] if {own["from"], own["to"]} == {"A", "B"}]
    assert (pair["from"], pair["to"], pair["direction"]) == ("A", "B", "rules")
    (answer,) = json.loads(run("query", model, "A ~> C", *line).stdout)
    assert answer["value"] == pytest.approx(float(conditioned.probability("A ~> C")), abs=1e-12)
    said = run("edges", model, *line[:-1]).stdout
    assert "decided by your rules or assumptions" in said
    assert "log evidence of the data and what is given" in said
    assert "Each is an effect only if" in run("effect", model, *GIVEN, "--draws", "50").stdout


def test_a_sample_is_restricted_to_its_graphs(run: Run, model: str) -> None:
    run("sample", model, "-n", "200", "--seed", "1", "-o", "graphs.dagpost")
    sample = DagSample.load("graphs.dagpost")
    left = sample.given("A -> B")
    said = run("edges", "graphs.dagpost", *GIVEN).stdout
    assert f"; from the {len(left):,} drawn graphs in which it holds):" in said
    (answer,) = json.loads(run("query", "graphs.dagpost", "B -> C", *GIVEN, "--json").stdout)
    whole = sample.probability("B -> C", given="A -> B")
    assert answer["value"] == pytest.approx(float(whole), abs=1e-12)
    assert (answer["lower"], answer["upper"]) == (whole.lower, whole.upper)
    assert answer["given"]["statements"] == ["A -> B"]
    (twice,) = json.loads(run("query", "graphs.dagpost", "P(B -> C | A ~> C)", *GIVEN, "--json").stdout)
    assert twice["value"] == pytest.approx(float(sample.probability("B -> C", given="A -> B & A ~> C")), abs=1e-12)


def test_results_under_a_condition_have_names_of_their_own(run: Run, model: str) -> None:
    run("report", model, *GIVEN)
    run("plot", model, *GIVEN)
    run("sample", model, "-n", "20", "--seed", "1", *GIVEN)
    run("report", "model-given-graphs.dagpost")
    names = {path.name for path in Path().iterdir()}
    assert names >= {"model-given.html", "model-given-graph.svg", "model-given-graphs.dagpost"}
    assert "model.html" not in names
    about = run("info", "model-given-graphs.dagpost").stdout
    assert any(line.split()[:4] == ["given", "A", "->", "B"] for line in about.splitlines())
    # A sample of a model that was given something says so without being asked.
    assert run("edges", "model-given-graphs.dagpost").stdout.startswith("Given A -> B (probability ")


def test_a_file_of_a_conditioned_model_is_asked_as_it_is(run: Run, model: str) -> None:
    DagPosterior.load(model).given("A -> B").save("given.dagpost")
    asked, own = (json.loads(run("edges", *line, "--json").stdout) for line in (("given.dagpost",), (model, *GIVEN)))
    assert asked["given"] == own["given"]
    assert asked["edges"] == own["edges"]
    about = run("info", "given.dagpost").stdout
    assert "A -> B (probability " in about
    assert "; what follows is said of the model without it" in about
    # What is given beside it is added.
    more = json.loads(run("edges", "given.dagpost", "--given", "B -> C", "--json").stdout)
    assert more["given"]["statements"] == ["A -> B", "B -> C"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("A -> nobody", "\n  A -> nobody\n       ^"),
        ("A ->", "A ->\n      ^"),
        ("A -> B & B -> A", "No graph"),
        ("P(A -> B | B -> C)", "has a condition of its own"),
        ('A = "x"', "values"),
    ],
)
def test_what_is_wrong_with_a_condition_is_said_where_it_is(statement: str, words: str, run: Run, model: str) -> None:
    for line in (("query", model, "A -> B"), ("edges", model)):
        assert words in one_message(run(*line, "--given", statement, status=2))


def test_a_table_has_nothing_to_be_given(run: Run, table: str, said: Said) -> None:
    message = one_message(run("best", table, *GIVEN, status=2))
    said(message)
