"""The module for Benchpress: its script as Snakemake calls it, its schema, its rule where Snakemake is installed."""

from __future__ import annotations

import csv
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import BDeu, BGe, DagPosterior
from dagpost.errors import InputError

MODULE = Path(__file__).parents[3] / "integrations" / "benchpress" / "dagpost"
CONFIG = MODULE.parent / "config" / "dagpost.json"
LEVELS = """a,b,c
2,3,2
1,2,0
0,1,1
1,2,0
0,0,1
1,2,1
0,0,0
"""
#: What Benchpress leaves out of the path of a run, and so of the wildcards.
FOR_THE_ESTIMATE = ("id", "mcmc_estimator", "threshold", "burnin_frac")


class Names(dict[str, Any]):
    """Named values, as Snakemake hands them over."""


class Job:
    """The object `snakemake` of a script."""

    def __init__(self, folder: Path, data: str, constraints: Any = None, **changes: Any) -> None:
        (folder / "data.csv").write_text(data)
        self.input = Names(data=str(folder / "data.csv"), edge_constraints=[])
        if constraints is not None:
            (folder / "constraints.json").write_text(json.dumps(constraints))
            self.input["edge_constraints"] = str(folder / "constraints.json")
        self.output = Names(seqgraph=str(folder / "graphs.csv"), time=str(folder / "time.txt"))
        example = examples()[0 if changes.get("score") == "bge" else 1] | {"samples": 40}
        fields = {name: str(value) for name, value in (example | changes).items() if name not in FOR_THE_ESTIMATE}
        self.wildcards = Names(fields)
        self.threads = 1


def examples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(CONFIG.read_text())["resources"]["structure_learning_algorithms"][
        "dagpost"
    ]
    return found


def called(job: Job) -> None:
    runpy.run_path(str(MODULE / "script.py"), init_globals={"snakemake": job})


def continuous(rows: int = 30) -> str:
    frame = pd.DataFrame(np.random.default_rng(2).normal(size=(rows, 4)), columns=list("wxyz")).round(4)
    frame["x"] += frame["w"]
    return frame.to_csv(index=False)


def replayed(path: Path, names: list[str]) -> list[tuple[float, nx.DiGraph[str]]]:
    """Every graph with its score, after checking each line against Benchpress's description of the format."""
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["index", "score", "added", "removed"]
    star = "[" + ";".join(f"{names[0]}->{name}" for name in names[1:]) + "]"
    assert rows[:2] == [["-2", "0.0", star, "[]"], ["-1", "0.0", "[]", star]]
    assert rows[2][0] == "0"
    assert rows[2][3] == "[]"
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    states: list[Any] = []
    for place, (index, score, added, removed) in enumerate(rows[2:], start=3):
        plus, minus = ([tuple(edge.split("->")) for edge in text[1:-1].split(";") if edge] for text in (added, removed))
        assert not any(graph.has_edge(*edge) for edge in plus)
        assert all(graph.has_edge(*edge) for edge in minus)
        graph.add_edges_from(plus)
        graph.remove_edges_from(minus)
        assert nx.is_directed_acyclic_graph(graph)
        following = int(rows[place][0]) if place < len(rows) else int(index)
        assert plus or minus or place in (3, len(rows))
        states += [(float(score), graph.copy())] * (following - int(index))
    return states


def test_levels_become_draws_with_their_scores(tmp_path: Path) -> None:
    job = Job(tmp_path, LEVELS)
    called(job)
    states = replayed(tmp_path / "graphs.csv", ["a", "b", "c"])
    rows = np.array([line.split(",") for line in LEVELS.split()[2:]], dtype=int)
    sizes = {"a": 2, "b": 3, "c": 2}
    frame = pd.DataFrame({n: pd.Categorical(rows[:, i], categories=range(sizes[n])) for i, n in enumerate("abc")})
    sample = DagPosterior(score=BDeu(1.0), prior="uniform").fit(frame).sample(40, seed=1)
    assert [score for score, _ in states] == sample.log_joint.tolist()
    assert [set(graph.edges) for _, graph in states] == [set(graph.edges) for graph in sample]
    assert 0.0 < float((tmp_path / "time.txt").read_text()) < 600.0


def test_a_script_run_by_itself_reads_numbers(tmp_path: Path) -> None:
    # As Snakemake does it: the object in front of the script, in a process of its own.
    job = Job(tmp_path, continuous(), score="bge", prior="edge", edge_probability=0.2, max_parents=2)
    front = (
        "class Names(dict):\n    pass\nclass Job:\n    threads = 1\n"
        f"snakemake = Job()\nsnakemake.input, snakemake.output, snakemake.wildcards = "
        f"Names({dict(job.input)!r}), Names({dict(job.output)!r}), Names({dict(job.wildcards)!r})\n"
    )
    script = tmp_path / "script.py"
    script.write_text(front + (MODULE / "script.py").read_text())
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    states = replayed(tmp_path / "graphs.csv", list("wxyz"))
    assert len(states) == 40
    model = DagPosterior(score=BGe(prior_scale=1.0), prior=edge_prior(), max_parents=2)
    sample = model.fit(pd.read_csv(tmp_path / "data.csv")).sample(40, seed=1)
    np.testing.assert_allclose([score for score, _ in states], sample.log_joint, rtol=1e-12)


def edge_prior() -> Any:
    from dagpost import EdgePrior

    return EdgePrior(0.2)


def environment() -> dict[str, str]:
    source = str(MODULE.parents[2] / "src")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}


def test_constraints_are_those_of_the_file(tmp_path: Path, said: Said) -> None:
    rules = {
        "tiers": [["w"], ["x", "elsewhere"], ["y", "z"]],
        "tier_settings": {"forbid_within_tiers": True, "can_only_cause_next_tier": True},
        "required_edges": [["x", "z"], ["elsewhere", "y"]],
        "forbidden_groups": [{"cause": ["x"], "effect": ["y"]}],
    }
    called(Job(tmp_path, continuous(), rules, score="bge"))
    found = {edge for _, graph in replayed(tmp_path / "graphs.csv", list("wxyz")) for edge in graph.edges}
    assert found == {("w", "x"), ("x", "z")}
    with said.raises(InputError):
        called(Job(tmp_path, continuous(), {"source_nodes": ["w"]}, score="bge"))


def test_columns_that_come_twice_say_where_the_first_was_set(tmp_path: Path) -> None:
    frame = pd.read_csv(Job(tmp_path, continuous(), score="bge").input["data"])
    script = runpy.run_path(str(MODULE / "script.py"))
    text = frame.to_csv(index=False).splitlines()
    flags = ["1,1", "0,1", *["0,0"] * (len(frame) - 2)]
    (tmp_path / "set.csv").write_text("\n".join(f"{a},{b}" for a, b in zip(text, ["w,z", *flags], strict=True)))
    read, targets = script["read_data"](str(tmp_path / "set.csv"), levels=False)
    pd.testing.assert_frame_equal(read, frame)
    assert targets == ["w;z", "z", *[""] * (len(frame) - 2)]


def test_a_gap_is_a_value_that_is_missing(tmp_path: Path) -> None:
    script = runpy.run_path(str(MODULE / "script.py"))
    (tmp_path / "gap.csv").write_text(LEVELS.replace("0,1,1\n", "0,,1\n"))
    frame, _ = script["read_data"](str(tmp_path / "gap.csv"), levels=True)
    assert frame["b"].isna().tolist() == [False, True, False, False, False, False]
    assert list(frame["b"].cat.categories) == [0, 1, 2]


@pytest.mark.parametrize(
    "changes",
    [
        {"score": "aic"},
        {"equivalent_sample_size": None},
        {"mean_weight": 1},
        {"samples": "many"},
        {"samples": 0},
        {"timeout": 0},
        {"prior": "edge"},
        {"method": "exact-layer"},
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, changes: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        called(Job(tmp_path, LEVELS, **changes))
    assert not (tmp_path / "graphs.csv").exists()


@pytest.mark.parametrize(
    "field", [name for name in examples()[0] if name not in (*FOR_THE_ESTIMATE, "threads", "edgeConstraints")]
)
def test_a_missing_field_is_named(tmp_path: Path, field: str, said: Said) -> None:
    job = Job(tmp_path, LEVELS)
    del job.wildcards[field]
    with said.raises(InputError):
        called(job)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2,3,2", "2,x,2"),
        ("1,2,0", "1,3,0"),
        ("1,2,0", "1,2"),
        ("1,2,0", "1,two,0"),
        ("a,b,c", "a,a,b"),
        (LEVELS[12:], ""),
    ],
)
def test_wrong_data_is_refused_with_its_line(tmp_path: Path, old: str, new: str, said: Said) -> None:
    with said.raises(InputError):
        called(Job(tmp_path, LEVELS.replace(old, new, 1)))


def test_time_that_is_up_leaves_what_benchpress_expects(tmp_path: Path) -> None:
    script = runpy.run_path(str(MODULE / "script.py"))
    ended: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "_exit", ended.append)
        clock = script["Clock"](None, {"seqgraph": tmp_path / "graphs.csv", "time": tmp_path / "time.txt"})
        clock.limit = 5.0
        clock.give_up()
        # A second one finds that something is being written, and leaves it alone.
        clock.give_up()
    assert ended == [0]
    assert (tmp_path / "graphs.csv").read_text() == ""
    assert (tmp_path / "time.txt").read_text() == "None\n"


def test_the_example_configuration_fits_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = json.loads((MODULE / "schema.json").read_text())
    for version in (jsonschema.Draft4Validator, jsonschema.Draft202012Validator):
        version.check_schema(schema)
        checker = version(schema)
        checker.validate(examples())
        checker.validate(schema["items"]["examples"])
        for change in ({"score": "aic"}, {"samples": 0}, {"equivalent_sample_size": 0}, {"typo": 1}, {"threshold": 2}):
            assert not checker.is_valid([examples()[1] | change])


def test_every_field_is_required_described_and_in_the_examples() -> None:
    """By hand, since Benchpress makes the path of a run from the fields of the first object only."""
    schema = json.loads((MODULE / "schema.json").read_text())
    fields = set(schema["items"]["properties"])
    assert set(schema["items"]["required"]) == fields
    assert all(set(example) == fields for example in examples() + schema["items"]["examples"])
    assert [name for name, field in schema["items"]["properties"].items() if not field.get("description")] == []


def test_the_page_that_benchpress_makes_has_all_it_needs() -> None:
    info = json.loads((MODULE / "info.json").read_text())
    assert info["outputs"] == ["graphtraj"]
    needed = {"title_full", "meta_description", "data_types", "data_missingness", "intervention_types"}
    assert needed <= set(info)
    # Fields, example and bibliography come from the other files; an image is looked for in every line of the rule.
    assert ".. " not in (MODULE / "docs.rst").read_text()
    assert "docker" not in (MODULE / "rule.smk").read_text()


def test_trajectories_are_plotted_of_objects_without_lists() -> None:
    """Benchpress looks up the value of any list but that of seeds in the path of the run, which has no threshold."""
    known = {example["id"]: example for example in examples()}
    for setup in json.loads(CONFIG.read_text())["benchmark_setup"]:
        for plots in ("mcmc_traj_plots", "mcmc_autocorr_plots"):
            for plot in setup["evaluation"][plots]:
                assert not any(isinstance(value, list) for value in known[plot["id"]].values())


@pytest.mark.long
def test_snakemake_runs_the_rule(tmp_path: Path) -> None:
    """In a small workflow with the paths that Benchpress makes; it runs `tests/tools/benchpress.smk`."""
    snakemake = os.environ.get("SNAKEMAKE") or shutil.which("snakemake")
    if snakemake is None:
        pytest.skip("snakemake is not installed; set SNAKEMAKE to the command of another environment")
    module = tmp_path / "workflow" / "rules" / "structure_learning_algorithms" / "dagpost"
    shutil.copytree(MODULE, module)
    shutil.copy(Path(__file__).parents[2] / "tools" / "benchpress.smk", tmp_path / "workflow" / "Snakefile")
    data = tmp_path / "results" / "data" / "small"
    data.mkdir(parents=True)
    (data / "seed=1.csv").write_text(LEVELS)
    (tmp_path / "config.json").write_text(json.dumps({"dagpost": [examples()[1] | {"samples": 40}]}))
    command = [snakemake, "--cores", "1", "--configfile", "config.json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [written] = (tmp_path / "results" / "adjvecs").rglob("adjvecs_tobecompressed.csv")
    assert len(replayed(written, ["a", "b", "c"])) == 40
    assert len(list((tmp_path / "results").rglob("time.txt"))) == 1
