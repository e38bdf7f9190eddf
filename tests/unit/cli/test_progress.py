"""Before and during a long run: the plan, and bars with a rate and the time that is left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.tools.cli_checks import Run, write_wide_table

from dagpost import DagPosterior, HybridMCMC, OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, read_table
from dagpost._tools.text import duration
from dagpost.cli.plan import announce
from dagpost.engines import ThreadEngine
from dagpost.engines.host.backend import ExactBackend
from dagpost.exact import order, structure
from dagpost.posterior.plan import plan_sample


@pytest.mark.parametrize(
    ("columns", "settings", "stages", "method"),
    [
        (22, {}, ["scores", "tables"], "exact-layers"),
        (22, {"modularity": "order"}, ["scores", "tables", "samples"], "dds"),
        (25, {"modularity": "order"}, ["scores", "tables"], "dds"),
        (6, {}, ["scores", "tables", "samples"], "exact-layers"),
        (6, {"method": "trees"}, ["scores", "samples"], "trees"),
        (6, {"method": "bootstrap"}, ["scores"], "bootstrap"),
        (40, {}, ["scores", "tables", "samples"], "block-gibbs"),
        (40, {"modularity": "order"}, ["scores", "tables", "samples"], "partial-order-mcmc"),
    ],
)
def test_the_plan_names_the_stages_and_the_method(
    columns: int, settings: dict[str, Any], stages: list[str], method: str, tmp_path: Path
) -> None:
    table = read_table(tmp_path / write_wide_table(tmp_path, columns))
    model = DagPosterior(max_parents=2, threads=2, **{"score": "bdeu", **settings})
    found = model.plan(table)
    assert [stage.stage for stage in found.stages] == stages
    assert found.method == method
    assert found.exact == (columns < 40 and method != "bootstrap")
    costs = {stage.stage: (stage.seconds, stage.size) for stage in found.stages}
    if columns == 22 and not settings:
        assert costs["tables"] == (structure.expected_seconds(22, 2), structure.memory_needed(22, 2, 2))
    if columns == 22 and settings:
        assert costs["tables"] == (order.expected_seconds(22, 2), order.table_bytes(22))


def test_the_method_of_the_plan_is_the_one_that_fit_takes(tmp_path: Path) -> None:
    table = read_table(tmp_path / write_wide_table(tmp_path, 5))
    every: list[dict[str, Any]] = [{}, {"modularity": "order"}, {"method": "kbest"}, {"method": "given-order"}]
    for settings in every:
        model = DagPosterior(samples=50, **{"score": "bdeu", **settings})
        found = model.plan(table)
        model.fit(table)
        assert (found.method, found.reason, found.exact) == (model.method_, model.method_reason_, model.exact_)


@pytest.mark.parametrize("modularity", ["structure", "order"])
def test_the_time_of_tables_is_that_of_the_engine_that_makes_them(
    modularity: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    class Sums(ExactBackend):
        """Sums somewhere else, where there is room for everything."""

        name = "elsewhere"
        in_this_process = False
        graphs_here = False

        def order_fits(self, *_: Any, **__: Any) -> bool:
            return True

        structure_fits = order_fits

        def require_order(self, *_: Any, **__: Any) -> None:
            pass

        def order_seconds(self, *_: Any, **__: Any) -> float:
            return 123.0

        def structure_seconds(self, *_: Any, **__: Any) -> float:
            return 123.0

    class Elsewhere(ThreadEngine):
        """Threads here, and tables somewhere else."""

        name = ""

        def backend(self) -> ExactBackend:
            return Sums(self)

    table = read_table(tmp_path / write_wide_table(tmp_path, 24))
    model = DagPosterior(score="bdeu", max_parents=2, modularity=modularity, engine=Elsewhere(2))
    found = model.plan(table)
    [tables] = [stage for stage in found.stages if stage.stage == "tables"]
    assert tables.seconds == 123.0
    # What does not fit here may fit there, and is announced.
    monkeypatch.setattr("dagpost._tools.memory.available_bytes", lambda: int(tables.size) - 1)
    announce(found, "24 variables")
    assert "about 2 minutes" in capsys.readouterr().err


def test_a_sample_that_takes_long_is_announced(run: Run, chained: str, capsys: Any) -> None:
    model = DagPosterior.load(chained)
    found = plan_sample(model.fitted_, 10_000_000)
    announce(found, "10,000,000 graphs of 3 variables")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "10,000,000 graphs of 3 variables. What will be done:"
    assert said[1].startswith("  tables ")
    assert re.match("  samples  10,000,000 graphs from 2 chains +about ", said[2])
    assert said[3] == "Method: structure-mcmc."
    assert "Ctrl-C" in said[4]
    announce(plan_sample(model.fitted_, 100), "100 graphs")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("method", [OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, HybridMCMC])
def test_the_time_of_chains_grows_with_graphs_and_columns_and_shrinks_with_workers(method: Any) -> None:
    usual = method().cost_of_draws(30_000, 12, 5, 2)
    assert usual.uncertainty == 1.0
    assert method().cost_of_draws(300_000, 12, 5, 2).seconds > 2.0 * usual.seconds
    assert method().cost_of_draws(30_000, 12, 5, 4).seconds == pytest.approx(usual.seconds / 2.0)
    # Four chains on three workers make two waves a round.
    assert method().cost_of_draws(30_000, 12, 5, 3).seconds == pytest.approx(usual.seconds)
    wider = method().cost_of_draws(30_000, 40, 3, 2)
    assert wider.seconds > usual.seconds
    assert wider.uncertainty > 1.0


def test_times_that_depend_on_the_data_are_a_range(tmp_path: Path) -> None:
    table = read_table(tmp_path / write_wide_table(tmp_path, 30))
    model = DagPosterior(score="bdeu", method=PartitionMCMC(), max_parents=3, threads=2)
    line = model.plan(table).lines()[-2]
    assert re.match(r"  samples  30,000 graphs from 4 chains +\d+ seconds to \d minutes, ", line)


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (0.3, 1.2, 90, 7200, 4e5, 4e8, 1e12)] == [
        "under a second",
        "1 second",
        "90 seconds",
        "2 hours",
        "5 days",
        "13 years",
        "thousands of years",
    ]
