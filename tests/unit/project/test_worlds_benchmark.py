"""What is counted in simulated tables, on answers small enough to check by hand; and the command line."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks import worlds
from benchmarks.world_checks import ARITIES, UnrelatedJob, empty_table, prior_jobs, shuffled, unrelated_jobs
from benchmarks.world_fits import Settings
from benchmarks.world_measures import Answer, answer_of, figures_of, total
from benchmarks.world_networks import Truth, compelled_edges
from benchmarks.world_tables import draw_case

from dagpost import DagPosterior, prior_edges

SETTINGS = Settings("bdeu", "uniform", None, 5, 500)


def truth_of(*edges: tuple[int, int]) -> Truth:
    arrows = np.zeros((4, 4), dtype=bool)
    for edge in edges:
        arrows[edge] = True
    return Truth(arrows | arrows.T, arrows, compelled_edges(arrows))


#: 0 -> 1 -> 2 <- 3: the first edge has no direction that data could tell.
TRUTH = truth_of((0, 1), (1, 2), (3, 2))


def matrix(values: dict[tuple[int, int], float]) -> np.ndarray:
    result = np.zeros((4, 4))
    for (a, b), value in values.items():
        result[a, b] = result[b, a] = value
    return result


def test_losses_and_pairs_of_an_answer_are_those_by_hand() -> None:
    joined = matrix({(0, 1): 0.8, (1, 2): 1.0, (2, 3): 0.3, (0, 2): 0.95, (0, 3): 0.5, (1, 3): 0.0})
    found = figures_of(TRUTH, Answer(joined, np.zeros((4, 4))))
    given = 0.8, 0.999, 0.3, 0.05, 0.5, 0.999
    assert found["log_loss"] == pytest.approx(-sum(math.log(own) for own in given))
    assert found["squares"] == pytest.approx(0.04 + 0.0 + 0.49 + 0.9025 + 0.25 + 0.0)
    counts = {name: found[name] for name in ("pairs", "true", "likely", "sure", "invented", "invented_sure", "missed")}
    assert counts == {
        "pairs": 6, "true": 3, "likely": 4, "sure": 2, "invented": 2, "invented_sure": 1, "missed": 1,
    }  # fmt: skip
    number, said, true = found["tenths"]
    assert number == [1, 0, 0, 1, 0, 1, 0, 0, 1, 2]
    assert said[9] == pytest.approx(1.95)
    assert true == [0, 0, 0, 1, 0, 0, 0, 0, 1, 1]


def test_clear_directions_are_right_lucky_or_wrong() -> None:
    compelled = np.zeros((4, 4))
    # Compelled and found; as in the truth, but not compelled; reversed; not there.
    for edge in ((1, 2), (0, 1), (2, 3), (0, 3)):
        compelled[edge] = 0.75
    # Not clear: compelled in less than nine tenths; of a pair that is not likely joined.
    compelled[0, 2], compelled[1, 3] = 0.7, 0.4
    joined = matrix({(1, 2): 0.8, (0, 1): 0.8, (2, 3): 0.75, (0, 3): 0.8, (0, 2): 0.8, (1, 3): 0.4})
    found = figures_of(TRUTH, Answer(joined, compelled))
    assert [found[name] for name in ("clear", "right", "wrong", "compelled")] == [4, 1, 2, 2]


def test_tables_are_added_up_and_their_losses_averaged() -> None:
    nothing = np.zeros((4, 4))
    parts = [figures_of(TRUTH, Answer(matrix({(0, 1): value}), nothing)) | {"cpu_seconds": 1.0} for value in (0.5, 1.0)]
    found = total(parts)
    losses = [part["log_loss"] / 6 for part in parts]
    assert found["log_loss"] == pytest.approx(np.mean(losses))
    assert found["log_loss_error"] == pytest.approx(abs(losses[0] - losses[1]) / 2)
    assert (found["pairs"], found["missed"], found["tables"], found["largest"]) == (12, 4, 2, 1.0)


def test_clear_directions_of_a_model_are_read_with_its_pairs() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 4_000))
    third = first + second + 0.5 * rng.normal(size=4_000)
    frame = pd.DataFrame({"c": third, "constant": 1.0, "a": first, "b": second})
    with pytest.warns(match="constant"):
        model = DagPosterior("bge", prior="edge:0.1", samples=500, seed=1, progress=False).fit(frame)
    answer = answer_of(model, list(frame.columns))
    joined = answer.joined
    assert np.argwhere(answer.clear).tolist() == [[2, 0], [3, 0]]
    # A column that was left out is said to be joined with nothing.
    assert not joined[1].any()
    assert np.allclose(joined, joined.T)
    assert joined[0, 2] > 0.99


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["worlds", *arguments])
    worlds.main()


def test_the_command_says_which_seeds_it_used_and_who_did_not_take_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "deeper" / "found.json"
    tables = "--world levels-n* --rows 150 --tables 2 --seeds reported"
    settings = "--score bdeu bge --prior uniform edge:0.1 --samples 200"
    run(monkeypatch, *tables.split(), *settings.split(), "--json", str(file))
    said = capsys.readouterr().out
    assert "seeds for reporting\n(--seeds reported --seed 2119)" in said
    assert "levels-none, bge, edge:0.1: 2 tables are not taken. Columns 'V0'" in said
    assert "| levels-none | 150 | bdeu | edge:0.1 | 2 |" in said
    written = json.loads(file.read_text())
    assert written["options"]["seeds"] == "reported"
    assert len(written["tables"]) == 8
    # All settings see the same tables.
    assert len({(own["number"], own["columns"]) for own in written["tables"]}) == 2
    with pytest.raises(SystemExit, match="No world is called lvels; there are levels-none, "):
        run(monkeypatch, "--world", "lvels")
    with pytest.raises(SystemExit, match="has no 'bdue'"):
        run(monkeypatch, "--score", "bdue")
    with pytest.raises(SystemExit, match="Got 'eege"):
        run(monkeypatch, "--prior", "eege:0.1")


def test_answers_are_kept_with_the_truth_and_what_is_told_reaches_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept = tmp_path / "found.json", {}
    for world in ("triangle", "triangle-told"):
        asked = f"--world {world} --rows 300 --tables 1 --columns 4 5 --score bge --prior edge:0.2 --samples 300"
        run(monkeypatch, *asked.split(), "--json", str(file))
        (kept[world],) = json.loads(file.read_text())["tables"]
    truth = draw_case("choosing", "triangle", 300, 0, columns=(4, 5)).network.truth()
    for own in kept.values():
        assert np.array_equal(np.array(own["truth"]["joined"], dtype=bool), truth.joined)
        answer = Answer(*(np.array(own["answer"][part]) for part in Answer._fields))
        assert figures_of(truth, answer)["log_loss"] == pytest.approx(own["log_loss"], abs=1e-3)
    # The same table, of which fewer graphs are possible.
    assert kept["triangle"]["truth"] == kept["triangle-told"]["truth"]
    assert kept["triangle"]["answer"]["joined"] != kept["triangle-told"]["answer"]["joined"]


def test_real_tables_are_shuffled_column_by_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(60, 15)), columns=[f"c{place}" for place in range(15)])
    table["twin"], table["same"], table["ID"] = table["c0"], 3, range(60)
    table.loc[5, "c3"] = np.nan
    table.to_csv(tmp_path / "clinic.csv", index=False)
    jobs = unrelated_jobs("choosing", 1, 1, tmp_path, 2, [SETTINGS])
    assert [job.file and job.file.stem for job in jobs] == [None, "clinic", "clinic"]
    first, again, other = (shuffled(job) for job in (jobs[1], jobs[1], jobs[2]))
    assert first.equals(again)
    assert not first.equals(other)
    assert first.shape == (59, 12)
    assert not {"same", "ID"} & set(first.columns)
    complete = table.dropna()
    for name in first.columns:
        assert sorted(first[name]) == pytest.approx(sorted(complete[name]))
    # No two columns keep their rows together: correlations are below 6.2 / sqrt(59).
    assert np.abs(np.triu(np.corrcoef(first.T), 1)).max() < 0.8
    assert not capsys.readouterr().out
    assert unrelated_jobs("choosing", 1, 2, tmp_path / "none", 2, [SETTINGS]) == [
        UnrelatedJob("choosing", number, 1, None, SETTINGS) for number in range(2)
    ]
    assert "No real tables are shuffled" in capsys.readouterr().out


@pytest.mark.parametrize("prior", ["uniform", "edge:0.1", "indegree"])
@pytest.mark.parametrize("score", ["bdeu", "bdeu:equivalent_sample_size=average"])
@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_given_a_single_row_the_posterior_is_the_prior(prior: str, score: str) -> None:
    settings = Settings(score, prior, None, 5, 100)
    found = settings.fit(empty_table()).edge_probabilities_.to_numpy()
    expected = prior_edges(DagPosterior(prior=prior), list("ABCDE")).to_numpy()
    assert np.abs(found - expected).max() < 1e-9


@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_graphs_from_the_prior_have_as_many_edges_as_it_expects() -> None:
    """The mean number of edges of 2,000 graphs is within 6 standard errors: a false-alarm rate below 1e-8."""
    jobs = prior_jobs("choosing", 1, 2_000, [Settings("bdeu", "edge:0.1", None, 5, 100)])
    counts = np.array([sum(len(parents) for parents in job.graph) for job in jobs])
    expected = prior_edges(DagPosterior(prior="edge:0.1"), list("ABCDE")).to_numpy().sum()
    assert abs(counts.mean() - expected) < 6 * counts.std() / np.sqrt(len(counts))
    assert len(ARITIES) == len(jobs[0].graph)
