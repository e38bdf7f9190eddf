"""What commands print and keep, where it goes, and what stands in their JSON."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import ESCAPE_CODE, Run, write_table

from dagpost import DagPosterior, DagSample, datasets


def test_demo_shows_the_pairs_of_the_bundled_study_and_ends_with_the_path_of_a_report(run: Run, tmp_path: Path) -> None:
    text = run("demo").stdout
    assert "1,841" in text
    assert re.search(r"Smoking +— +Proteins +0\.99 +█+ +open: the data cannot tell", text)
    assert "clear: compelled by the data" not in text
    assert f"here none of {len(re.findall('^.* +[—→⇢] +.*█', text, re.MULTILINE))}. Other choices" in text
    assert "assuming no hidden common causes" in text
    assert "(exact; each graph counted once)" in text
    assert "Next: dagpost fit" in text
    page = tmp_path / text.splitlines()[-1].rpartition(" ")[2]
    assert page.name == "dagpost-demo.html"
    assert "M. Work" in page.read_text()
    shown = json.loads(run("demo", "-o", "other.html", "--json").stdout)
    assert shown["log_evidence"] == pytest.approx(-6729.4234, abs=1e-4)
    assert (shown["report"], shown["model"]) == ("other.html", "other.dagpost")
    assert DagPosterior.load(tmp_path / "other.dagpost").log_evidence_ == shown["log_evidence"]


def test_fit_shows_the_ten_best_pairs_and_keeps_the_model(run: Run, tmp_path: Path) -> None:
    run("data", "export", "asia", "-o", "asia.csv")
    result = run("fit", "asia.csv", "-o", "kept.dagpost", "--seed", "1", "--threads", "1")
    pairs = re.findall(r"^(\w+) +[—→⇢⇒] +(\w+) +([01]\.\d\d) ", result.stdout, re.MULTILINE)
    assert len(pairs) == len({frozenset(pair[:2]) for pair in pairs}) == 10
    probabilities = [float(probability) for *_, probability in pairs]
    assert probabilities == sorted(probabilities, reverse=True)
    assert "(18 less probable pairs not shown)" in result.stdout
    assert "Directions are those compelled by the data, assuming no hidden common causes." in result.stdout
    assert "Model: kept.dagpost" in result.stdout
    assert "Exact (each graph counted once)" in result.stdout
    assert "BDeu (equivalent sample size 2, 10, 50, 200) score" in result.stdout
    assert not ESCAPE_CODE.search(result.stdout)
    kept = DagPosterior.load(tmp_path / "kept.dagpost")
    assert kept.log_evidence_ == DagPosterior().fit(tmp_path / "asia.csv").log_evidence_
    assert kept.seed == 1


def test_fit_without_a_place_keeps_the_model_here_under_the_name_of_the_table(run: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write_table(tmp_path / "elsewhere", "data.csv")
    assert "Model: data.dagpost" in run("fit", "elsewhere/data.csv").stdout
    assert DagPosterior.load(tmp_path / "data.dagpost").names_ == ("A", "B", "C")
    run("fit", "elsewhere/data.csv")  # a model gives way to a new one
    assert json.loads(run("fit", "elsewhere/data.csv", "--json").stdout)["model"] == "data.dagpost"


def test_quiet_leaves_only_the_result(run: Run, table: str, model: str) -> None:
    write_table(Path(), "constant.csv", C=1)
    run("fit", "constant.csv", "--method", "trees", "-o", "trees", "-q")
    for arguments in (
        ["fit", "constant.csv"],
        ["sample", model, "-n", "10"],
        ["query", model, "A -> B"],
        ["best", "trees", "-k", "1"],
        ["predict", model, table],
        ["data", "list"],
        ["data", "export", "iris", "-o", "iris.csv"],
        ["report", model],
    ):
        assert run(*arguments, "--quiet").stderr == ""


def test_the_commands_that_fit_suggests_work(run: Run, tmp_path: Path) -> None:
    """The names stand in them, quoted for the shell and for the language."""
    table = write_table(tmp_path, "-odd one.csv")
    frame = pd.read_csv(tmp_path / table).rename(columns={"A": 'M. "Work"', "B": "it's"})
    frame.to_csv(tmp_path / table, index=False)
    hints = run("fit", f"./{table}").stderr.strip().splitlines()[-2:]
    for hint, words in zip(hints, ("exact", "html"), strict=True):
        command = shlex.split(hint.partition(": ")[2])
        assert command[0] == "dagpost"
        assert words in run(*command[1:]).stdout
    graphs = run("sample", "./-odd one.dagpost", "-n", "9").stderr.strip().splitlines()[-1]
    assert "counted once" in run(*shlex.split(graphs)[2:]).stdout
    listed = run("data", "list").stderr.strip().splitlines()[-1]
    exported = run(*shlex.split(listed)[2:]).stderr.strip().splitlines()[-1]
    assert "Model: coronary.dagpost" in run(*shlex.split(exported)[2:]).stdout


def test_all_settings_of_fit_reach_the_model(run: Run, table: str, tmp_path: Path) -> None:
    settings = ["--score", "bdeu", "--ess", "5", "--prior", "edge:0.2", "--modularity", "order", "--max-parents", "1"]
    more = ["--samples", "77", "--required", "A -> B", "--forbidden", '"C" -> A', "--method", "dds", "--seed", "9"]
    run("fit", table, "-o", "m", "--quiet", *settings, *more)
    found = DagPosterior.load(tmp_path / "m").get_params()
    assert found["score"].equivalent_sample_size == 5.0
    assert found["prior"].probability == 0.2
    assert (found["modularity"], found["max_parents"], found["samples"]) == ("order", 1, 77)
    assert (found["method"], found["seed"]) == ("dds", 9)
    assert [list(edge) for edge in found["required"]] == [["A", "B"]]
    assert [list(edge) for edge in found["forbidden"]] == [["C", "A"]]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("structure-mcmc:chains=2,thinning=3", "StructureMCMC(chains=2, thinning=3, burn_in=100000"),
        ("structure-mcmc:reversals=0.5", "reversals=0.5"),
        ("trees:spanning=false", "Trees(spanning=False)"),
        ("given-order:order=C>'B'>A", "GivenOrder(order=('C', 'B', 'A'))"),
        ("bootstrap:replicates=5", "Bootstrap(replicates=5)"),
    ],
)
def test_settings_of_a_method_follow_a_colon(written: str, shown: str, run: Run, table: str, tmp_path: Path) -> None:
    modularity = "structure"
    run("fit", table, "-o", "m", "--quiet", "--samples", "200", "--modularity", modularity, "--method", written)
    assert shown in repr(DagPosterior.load(tmp_path / "m").method)


@pytest.mark.parametrize("command", ["fit", "edges", "demo"])
def test_json_holds_all_edges(command: str, run: Run, table: str, model: str) -> None:
    source = {"fit": [table], "edges": [model], "demo": []}[command]
    result = run(command, *source, "--json", "--quiet")
    shown = json.loads(result.stdout)
    assert result.stderr == ""
    names = shown["names"]
    assert len(shown["edges"]) == len(names) * (len(names) - 1)
    assert (shown["modularity"], shown["exact"], shown["method"]) == ("structure", True, "exact-layers")
    probabilities = [edge["probability"] for edge in shown["edges"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(0.0 <= probability <= 1.0 for probability in probabilities)
    assert len(shown["pairs"]) == len(names) * (len(names) - 1) // 2
    for pair in shown["pairs"]:
        parts = [pair[part] for part in ("by_data", "by_data_back", "by_rules", "by_rules_back", "reversible")]
        assert sum(parts) == pytest.approx(pair["joined"])
        assert pair["lower"] <= pair["by_data"] <= pair["upper"]
        assert pair["direction"] in ("clear", "leaning", "rules", "open")
    assert shown["pairs_confidence"] == 0.95


def test_every_kind_of_direction_has_its_words_and_its_mark(run: Run, tmp_path: Path) -> None:
    """A and B are causes of C, which is a cause of D; a rule settles the pair of E and F."""
    rng = np.random.default_rng(5)
    a, b = np.tile([[0, 0, 1, 1], [0, 1, 0, 1]], 500)
    c = np.where(rng.random(2000) < 0.1, rng.integers(0, 3, 2000), a + b)
    d = np.where(rng.random(2000) < 0.9, c >= 1, c < 1).astype(int)
    e = rng.integers(0, 2, 2000)
    f = np.where(rng.random(2000) < 0.9, e, 1 - e)
    g = np.where(rng.random(2000) < 0.9, rng.integers(0, 2, 2000), a)
    frame = pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "E": e, "F": f, "G": g})
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    text = run("fit", "kinds.csv", "--ess", "1", "--seed", "1", "--tier", "F", "--tier", "E").stdout
    assert re.search(r"A +→ +C +1\.00 +█+ +clear: the data compel it \((over )?9\d%\)", text)
    assert re.search(r"F +⇒ +E +1\.00 +█+ +decided by your rules", text)
    listed = run("edges", "kinds.dagpost", "--minimum", "0.5").stdout
    assert re.search(r"^pair +joined +-> +<- +direction$", listed, re.MULTILINE)
    assert re.search(r"F +⇒ +E +1\.0000 +1\.0000 +0\.0000 +decided by your rules", listed)
    free = run("fit", "kinds.csv", "--seed", "1").stdout
    assert re.search(r"E +— +F +1\.00 +█+ +open: the data cannot tell", free)


def test_edges_of_a_sample_are_pairs_too(run: Run, model: str, tmp_path: Path) -> None:
    run("sample", model, "-n", "200", "--seed", "1", "-o", "graphs.dagpost")
    assert re.search(r"A +— +B +1\.0000 .* open: the data cannot tell", run("edges", "graphs.dagpost").stdout)
    shown = json.loads(run("edges", "graphs.dagpost", "--json").stdout)
    sample = DagSample.load(tmp_path / "graphs.dagpost")
    assert shown["edges"][0]["probability"] == sample.edge_frequencies().to_numpy().max()
    assert [pair["joined"] for pair in shown["pairs"]] == sample.directions()["joined"].to_list()
    assert shown["exact"] is False


def test_directions_that_would_take_long_are_not_computed_and_the_way_to_them_is_said(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagpost.posterior.fitted import Fitted

    monkeypatch.setattr(Fitted, "quick_sample", lambda _: None)
    text = run("edges", model).stdout
    assert "not computed" in text
    assert "assuming no hidden" not in text
    shown = json.loads(run("edges", model, "--json").stdout)
    assert {pair["direction"] for pair in shown["pairs"]} == {"unknown"}
    assert shown["pairs"][0]["by_data"] is shown["pairs_confidence"] is None
    commands = re.findall(r"(?:To have them|then): dagpost (.*)", text)
    for command in commands:
        text = run(*shlex.split(command)).stdout
    assert "open: the data cannot tell" in text


def test_edges_are_those_of_the_model(run: Run, model: str, tmp_path: Path) -> None:
    expected = DagPosterior.load(tmp_path / model).edge_probabilities_
    for edge in json.loads(run("edges", model, "--json").stdout)["edges"]:
        assert edge["probability"] == expected.loc[edge["parent"], edge["child"]]
    likely = json.loads(run("edges", model, "--json", "--minimum", "0.3").stdout)["edges"]
    assert {edge["parent"] + edge["child"] for edge in likely} == {"AB", "BA"}
    assert re.search(r"\(2 pairs below 0\.3 not shown\)", run("edges", model, "--minimum", "0.3").stdout)


def test_long_names_are_shown_whole(run: Run, tmp_path: Path) -> None:
    """Whoever reads a pipe cannot widen it; letters that are twice as wide stand in line all the same."""
    names = ["parent " * 20 + "A", "child " * 20 + "B", "変数"]
    frame = pd.read_csv(tmp_path / write_table(tmp_path)).set_axis(names, axis=1)
    frame.to_csv(tmp_path / "long.csv", index=False)
    text = run("fit", "long.csv").stdout
    assert f"{names[0]}  —  {names[1]}" in text
    assert f"{names[1]}{' ' * (len(names[0]) - len(names[1]))}  —  変数" in text
    assert names[0] in run("info", "long.dagpost").stdout


def test_counts_interventions_and_discretise_are_understood(run: Run, tmp_path: Path) -> None:
    counted = write_table(tmp_path, "counted.csv", n=2)
    assert json.loads(run("fit", counted, "--counts", "n", "--json").stdout)["names"] == ["A", "B", "C"]
    set_ = write_table(tmp_path, "set.csv", target="B")
    assert json.loads(run("fit", set_, "--interventions", "target", "--json").stdout)["names"] == ["A", "B", "C"]
    numbers = write_table(tmp_path, "numbers.csv", C=np.random.default_rng(0).normal(size=400))
    names = json.loads(run("fit", numbers, "--discretise", "quantile", "--bins", "2", "--json").stdout)["names"]
    assert names == ["A", "B", "C"]


def test_a_dash_reads_standard_input_and_keeps_nothing(run: Run, table: str, tmp_path: Path) -> None:
    text = (tmp_path / table).read_text()
    from_input = json.loads(run("fit", "-", "--json", standard_input=text).stdout)
    assert from_input["model"] is None
    assert [path.name for path in tmp_path.iterdir()] == [table]
    from_file = json.loads(run("fit", table, "--json").stdout)
    assert from_input["edges"] == from_file["edges"]
    assert "-o FILE" in run("fit", "-", standard_input=text).stderr
    for command in (["best", "-", "-k", "2"], ["predict", "table.dagpost", "-"], ["info", "-"]):
        from_file = run(*[table if word == "-" else word for word in command]).stdout
        assert run(*command, standard_input=text).stdout == from_file


def test_sample_keeps_graphs_and_says_what_they_are_worth(run: Run, model: str, tmp_path: Path) -> None:
    shown = json.loads(run("sample", model, "-n", "200", "--seed", "4", "-o", "graphs", "--json").stdout)
    drawn = DagSample.load(tmp_path / "graphs")
    assert (shown["graphs"], shown["distinct"], shown["sample"]) == (200, len(drawn.unique()), "graphs")
    assert (shown["method"], shown["independent"]) == ("exact-layers", True)
    assert drawn == DagPosterior.load(tmp_path / model).sample(200, seed=4)
    result = run("sample", model, "--precision", "0.1", "--confidence", "0.9", "--threads", "1")
    assert "DagSample of 150 independent graphs" in result.stdout
    assert "Kept in model-graphs.dagpost" in result.stdout


def test_chains_go_on_from_a_sample(run: Run, chained: str, tmp_path: Path) -> None:
    run("sample", chained, "-n", "200", "--seed", "4", "-o", "some", "-q")
    run("sample", chained, "-n", "400", "--resume", "some", "-o", "more", "-q")
    assert DagSample.load(tmp_path / "more") == DagPosterior.load(tmp_path / chained).sample(400, seed=4)


def test_query_answers_from_a_model_and_from_a_sample(run: Run, model: str, tmp_path: Path) -> None:
    run("sample", model, "-n", "200", "--seed", "4", "-o", "graphs")
    statements = ["A ~> B", "P(A -> B | B ~> C)", "A -> C <- B"]
    for source, load in ((model, DagPosterior.load), ("graphs", DagSample.load)):
        shown = json.loads(run("query", source, *statements, "--json").stdout)
        expected = load(tmp_path / source).probability(statements)
        assert [answer.pop("statement") for answer in shown] == statements
        assert shown == [estimate.as_dict() for estimate in expected]
        lines = run("query", source, *statements).stdout.splitlines()
        assert [line[: max(map(len, statements))].strip() for line in lines] == statements
        assert all(line.endswith("each graph counted once)") for line in lines)


def test_a_condition_that_never_occurred_is_null(run: Run, model: str) -> None:
    (answer,) = json.loads(run("query", model, "P(A -> B | B -> A & A -> B)", "--json").stdout)
    assert answer["value"] is None
    assert answer["rule"] == "the condition is impossible"


def test_report_is_a_page_of_the_model_or_the_sample(run: Run, model: str, tmp_path: Path) -> None:
    run("sample", model, "-n", "200", "--seed", "4", "-o", "graphs.dagpost")
    assert run("report", model).stdout == "Report, to open in a browser: model.html\n"
    run("report", "graphs.dagpost", "-o", "page.html", "--title", "Wet & dry")
    assert "Wet &amp; dry" in (tmp_path / "page.html").read_text()
    assert json.loads(run("report", model, "--json").stdout) == {"report": "model.html"}


def test_the_bundled_data_can_be_listed_and_exported(run: Run, tmp_path: Path) -> None:
    assert [entry["name"] for entry in json.loads(run("data", "list", "--json").stdout)] == list(datasets.names())
    listed = run("data", "list").stdout.splitlines()
    for name, line in zip(datasets.names(), listed, strict=True):
        assert line.startswith(name)
        assert line.endswith(datasets.describe(name))
    text = run("data", "export", "asia", "--rows", "30", "--seed", "2").stdout
    run("data", "export", "asia", "--rows", "30", "--seed", "2", "-o", "asia.csv")
    assert (tmp_path / "asia.csv").read_text() == text
    frame = datasets.load("asia", rows=30, seed=2).to_pandas().astype(str)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "asia.csv").astype(str), frame, check_dtype=False)
