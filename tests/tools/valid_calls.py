"""One valid call of everything public, on tables of three columns: what the tests of wrong arguments start from.

Public is what docs/reference.md has an entry for. Whoever adds an entry adds its call here, or says below why there is
none; the test insists on it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.tools.gapped import fitted_to

import dagpost
from dagpost import DagPosterior, plots
from dagpost.data.recipe_steps import Step
from dagpost.explorer.serving import Explorer
from dagpost.features import disjoint_ways, evaluate, one_node_reach, parse
from dagpost.prediction import sufficient_statistics
from dagpost.priors import Constraints

_REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"

#: Sections whose functions work on tables of ours, which are not input.
_INSIDE = ("The sums underneath", "Errors")

#: Hooks that dagpost calls with arguments of its own, and what only dagpost makes.
_NOT_INPUT = frozenset(
    (
        *("Score", "Score.fill", "Score.fill_nodes", "Score.of_columns", "scores.Filling", "scores.Mixture"),
        *("StructurePrior", "SizePrior", "StructurePrior.log_weights_of_lists"),
        *("StructurePrior.log_weights", "StructurePrior.log_weights_of_members", "SizePrior.log_weight_of_size"),
        *("Method", "Method.summed", "Method.draw", "Method.at_fit", "Method.usual_count", "Method.cost_of_draws"),
        *("ChainMethod", "ChainMethod.prepare", "StepCost", "Wanted", "Draws", "Target"),
        *(
            "mcmc.chains.ChainRecord",
            "Table.refuse_other_than",
            "mcmc.diagnostics.ChainDiagnostics",
            "mcmc.diagnostics.r_hat",
        ),
        *(
            "mcmc.number_series.averages_of",
            "mcmc.number_series.Averages",
            "mcmc.candidates.choose_candidates",
            "mcmc.growth.missed_share",
        ),
        *("families.pruning.that_stay", "families.pruning.node_without_core"),
        *("Engine", "Engine.run", "Engine.holds", "Engine.sum_cells", "Engine.suits", "Engine.from_name"),
        *("Engine.from_handle", "Engine.with_threads", "ThreadEngine.run"),
        *(
            "Plan",
            "Estimate",
            "Expectation",
            "Effect",
            "causal.EffectPart",
            "posterior.sensitivity.Sensitivity",
            "Unrolled",
        ),
        *("ValueEstimate", "ValueDistribution", "explorer.serving.Explorer"),
        *("posterior.sensitivity.Sensitivity.verdict", "prediction.CrossValidation"),
        *("RegimeEffects", "Trajectory", "reference.Case", "reference.Truth"),
        *("reference.Answer", "reference.Distances"),
        *("data.recipe_steps.Step", "data.recipe_steps.Step.codes", "data.recipe_steps.Step.numbers"),
    )
) | {
    f"posterior.summaries.{name}" for name in (*("TopGraphs", "EquivalenceClasses", "GraphStanding", "ThresholdGraph"),)
}


class Call(NamedTuple):
    """A function, and arguments that it takes."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def public_callables() -> Iterator[tuple[str, Any]]:
    """Everything with parameters that the reference has an entry for, by its name without `dagpost.`."""
    section = ""
    for line in re.finditer(
        r"^## (?P<section>.*)$|^\.\. auto\w+:: dagpost\.(?P<name>[\w.]+)\n(?P<options>(?:   :.*\n)*)",
        _REFERENCE.read_text(encoding="utf-8"),
        re.MULTILINE,
    ):
        if line["section"]:
            section = line["section"]
        elif section not in _INSIDE:
            thing = _named(line["name"])
            yield line["name"], thing
            for member in _members(thing, line["options"]):
                yield f"{line['name']}.{member}", getattr(thing, member)


def parameters_of(name: str, thing: Any) -> list[str]:
    """The parameters that a caller fills."""
    found = list(inspect.signature(thing).parameters.values())
    if "." in name and found and found[0].name == "self":
        found = found[1:]
    return [one.name for one in found if one.kind is not one.VAR_KEYWORD]


def is_input(name: str) -> bool:
    """Whether wrong values can come from a user."""
    return name not in _NOT_INPUT


def _named(name: str) -> Any:
    module, _, attribute = f"dagpost.{name}".rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _members(thing: Any, options: str) -> list[str]:
    listed = re.search(r":members:(.*)", options)
    names = [name.strip() for name in listed[1].split(",") if name.strip()] if listed else []
    if listed and not names:
        names = [name for name in vars(thing) if not name.startswith("_")]
    return [name for name in names if callable(getattr(thing, name, None))]


def small_table() -> pd.DataFrame:
    """Three columns of two levels, the first two alike."""
    first = np.arange(24) % 2
    return pd.DataFrame({"A": first, "B": np.where(np.arange(24) < 4, 1 - first, first), "C": np.arange(24) // 6 % 2})


def small_numbers() -> pd.DataFrame:
    """Three columns of numbers."""
    rng = np.random.default_rng(5)
    first = rng.normal(size=24)
    return pd.DataFrame({"A": first, "B": first + rng.normal(size=24), "C": rng.normal(size=24)})


def edges_in_time() -> pd.DataFrame:
    """Probabilities of edges between two series and their values a step earlier."""
    names = ["A", "B", "A[t-1]", "B[t-1]"]
    edges = pd.DataFrame(0.0, names, names)
    edges.loc["A[t-1]", "B"] = 0.75
    return edges


class Made:
    """What the calls are made on, fitted once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frame = small_table()
        self.table = dagpost.as_table(self.frame)
        self.model = DagPosterior(score="bdeu", seed=1, samples=50, threads=1, progress=False).fit(self.frame)
        self.averaged = DagPosterior(seed=1, samples=50, threads=1, progress=False).fit(self.frame)
        self.bge = DagPosterior(score="bge", seed=1, samples=50, threads=1, progress=False).fit(small_numbers())
        self.sample = self.model.sample(40, seed=1)
        self.gapped = fitted_to(self.frame.mask(np.eye(24, 3, dtype=bool)), samples=40)
        regimes = dagpost.Regimes("C", reference=0)
        self.regimes = DagPosterior(score="bdeu", regimes=regimes, threads=1, progress=False).fit(self.frame)
        self.recipe = dagpost.Recipe().fit(self.frame)
        self.scores = dagpost.local_scores(self.frame, "bdeu", 2)
        self.statistics = sufficient_statistics(self.table, self.sample.parents, "bdeu")
        self.network = self.model.to_bayesian_network()
        self.effect = self.model.effect("A", "B", draws=50, seed=1)
        self.curved = self.bge.effect(*self.bge.names_[:2], draws=50, seed=1)
        chains = DagPosterior(
            score="bdeu",
            method=dagpost.StructureMCMC(chains=2, burn_in=10),
            seed=1,
            samples=50,
            threads=1,
            progress=False,
        )
        self.chains = chains.fit(self.frame).sample(40, seed=1)
        self.csv = self.put("table.csv", lambda path: self.frame.to_csv(path, index=False))
        self.model_file = self.put("model.dagpost", self.model.save)
        self.sample_file = self.put("sample.dagpost", self.sample.save)
        self.recipe_file = self.put("recipe.toml", self.recipe.save)
        self.answer = self.put("answer.csv", lambda path: path.write_text("from,to,probability\nX1,X5,0.5\n"))
        self.jkl = self.put("scores.jkl", lambda path: dagpost.write_jkl(self.scores, path))
        self.trajectory = self.put("graphs.csv", lambda path: dagpost.write_trajectory(self.sample, path))
        self.bif = self.put("network.bif", self.network.write)

    def put(self, name: str, write: Callable[[Path], object]) -> Path:
        path = self.folder / name
        write(path)
        return path

    def fit(self, **settings: Any) -> DagPosterior:
        """A model whose settings are looked at."""
        return DagPosterior(**settings).fit(self.frame)


def valid_calls(made: Made) -> dict[str, Call]:
    """A call of every public function and method, by its name in the reference."""
    out = made.folder / "out"
    out.mkdir(exist_ok=True)
    dag = nx.DiGraph([("A", "B")])
    masks = np.array([0, 1, 0], dtype=np.uint64)
    new = DagPosterior(score="bdeu", seed=1, samples=50, threads=1, progress=False)
    pair = {"parent": "A", "child": "B"}
    step = made.recipe.step("A")
    mixed = small_numbers().assign(C=made.frame["C"])
    rows = {"sample": made.sample, "statistics": made.statistics, "score": "bdeu", "data": made.frame}
    bdeu = {"score": "bdeu", "threads": 1, "progress": False, "samples": 50}
    calls: dict[str, tuple[Any, dict[str, Any]]] = {
        "DagPosterior": (made.fit, bdeu),
        "DagPosterior.fit": (new.fit, {"X": made.frame}),
        "DagPosterior.fit_scores": (new.fit_scores, {"scores": made.scores}),
        "DagPosterior.plan": (new.plan, {"table": made.frame}),
        "DagPosterior.probability": (made.model.probability, {"feature": "A -> B"}),
        "DagPosterior.given": (
            _given(made.averaged),
            {"statements": "A -> B", "setting": {"equivalent sample size": 10.0}},
        ),
        "DagPosterior.value": (made.model.value, {"target": "A", "given": {"B": 1}, "draws": 20}),
        "DagPosterior.expectation": (made.model.expectation, {"function": nx.number_of_edges}),
        "DagPosterior.probability_matrix": (made.model.probability_matrix, {}),
        "DagPosterior.directions": (made.model.directions, {}),
        "Regimes": (lambda **settings: made.fit(**bdeu, regimes=dagpost.Regimes(**settings)), {"column": "C"}),
        "prior_edges": (dagpost.prior_edges, {"model": new, "data": ["A", "B", "C"]}),
        "DagPosterior.sample": (made.model.sample, {"count": 20, "seed": 1}),
        "DagPosterior.best": (made.model.best, {}),
        "DagPosterior.family_probabilities": (made.model.family_probabilities, {"child": "A"}),
        "DagPosterior.top_families": (made.model.top_families, {"child": "A"}),
        "DagPosterior.log_joint": (made.model.log_joint, {"graph": dag}),
        "DagPosterior.standing": (made.model.standing, {"graph": dag}),
        "DagPosterior.completed": (made.gapped.completed, {"count": 1}),
        "DagPosterior.score_samples": (made.model.score_samples, {"X": made.frame}),
        "DagPosterior.predict_proba": (made.model.predict_proba, {"X": made.frame, "target": "A"}),
        "DagPosterior.predict_number": (made.bge.predict_number, {"X": small_numbers(), "target": "A"}),
        "DagPosterior.to_bayesian_network": (made.model.to_bayesian_network, {}),
        "DagPosterior.effect": (
            made.model.effect,
            {"cause": "A", "outcome": "B", "draws": 20, "seed": 1},
        ),
        "DagPosterior.effects": (made.model.effects, {"draws": 20, "seed": 1}),
        "DagPosterior.direct_effects": (made.bge.direct_effects, {}),
        "DagPosterior.latent_correlations": (made.bge.latent_correlations, {}),
        "DagPosterior.plot": (made.model.plot, {}),
        "DagPosterior.report": (made.model.report, {"path": out / "report.html"}),
        "DagPosterior.explore": (_explored(made.model), {"open_browser": False}),
        "DagPosterior.save": (made.model.save, {"path": out / "model.dagpost"}),
        "DagPosterior.load": (DagPosterior.load, {"path": made.model_file}),
        "DagSample": (lambda **fields: replace(made.sample, **fields), _fields(made.sample)),
        "DagSample.probability": (made.sample.probability, {"feature": "A -> B"}),
        "DagSample.expectation": (made.sample.expectation, {"function": nx.number_of_edges}),
        "DagSample.probability_matrix": (made.sample.probability_matrix, {}),
        "DagSample.given": (lambda statements: made.sample.given(statements), {"statements": "A -> B"}),  # noqa: PLW0108
        "DagSample.directions": (made.sample.directions, {}),
        "DagSample.edge_frequencies": (made.sample.edge_frequencies, {}),
        "DagSample.plot": (made.sample.plot, {}),
        "DagSample.report": (made.sample.report, {"path": out / "sample.html"}),
        "DagSample.save": (made.sample.save, {"path": out / "sample.dagpost"}),
        "DagSample.load": (dagpost.DagSample.load, {"path": made.sample_file}),
        "edge": (_asked(made, dagpost.edge), pair),
        "path": (_asked(made, dagpost.path), {"source": "A", "target": "B"}),
        "path_in_time": (dagpost.path_in_time, {"source": "A", "target": "B", "steps": 2}),
        "adjacent": (_asked(made, dagpost.adjacent), {"first": "A", "second": "B"}),
        "v_structure": (_asked(made, dagpost.v_structure), {"first": "A", "collider": "B", "second": "C"}),
        "compelled": (_asked(made, dagpost.compelled), pair),
        "parent_set": (_asked(made, dagpost.parent_set), {"child": "A", "parents": ["B"]}),
        "ancestor_set": (_asked(made, dagpost.ancestor_set), {"node": "A", "members": ["B"]}),
        "descendant_set": (_asked(made, dagpost.descendant_set), {"node": "A", "members": ["B"]}),
        "in_markov_blanket": (_asked(made, dagpost.in_markov_blanket), {"member": "A", "of": "B"}),
        "d_separated": (_asked(made, dagpost.d_separated), {"first": "A", "second": "B", "given": "C"}),
        "topological_position": (
            _asked(made, dagpost.topological_position),
            {"node": "A", "comparison": "<", "value": 2},
        ),
        "custom": (_asked(made, dagpost.custom), {"function": nx.is_weakly_connected}),
        "features.parse": (parse, {"text": "A -> B", "names": ("A", "B")}),
        "features.evaluate": (
            evaluate,
            {"features": [dagpost.edge("A", "B")], "parents": made.sample.parents, "names": ("A", "B", "C")},
        ),
        "features.disjoint_ways": (disjoint_ways, {"feature": dagpost.edge("A", "B"), "names": ("A", "B")}),
        "features.one_node_reach": (one_node_reach, {"feature": dagpost.path("A", "B"), "names": ("A", "B")}),
        "plots.graph": (plots.graph, {"source": made.model}),
        "plots.in_time": (plots.in_time, {"source": edges_in_time()}),
        "plots.edges": (plots.edges, {"source": made.sample}),
        "plots.heat_map": (plots.heat_map, {"source": made.model}),
        "plots.traces": (plots.traces, {"source": made.chains}),
        "plots.r_hat": (plots.r_hat, {"source": made.chains}),
        "plots.effect_density": (plots.effect_density, {"effect": made.effect}),
        "plots.effect_parts": (plots.effect_parts, {"effect": made.effect}),
        "plots.effect_curve": (plots.effect_curve, {"effect": made.curved}),
        "plots.effect_outcomes": (plots.effect_outcomes, {"effect": made.effect}),
        "plots.comparison": (plots.comparison, {"first": made.model, "second": made.sample}),
        "Table": (lambda **fields: replace(made.table, **fields), _fields(made.table)),
        "Table.with_counts": (made.table.with_counts, {"counts": np.ones(24, dtype=np.int64)}),
        "Table.of_rows": (made.table.of_rows, {"rows": np.arange(3)}),
        "Table.filled": (made.table.filled, {"cells": np.zeros(0)}),
        "as_table": (dagpost.as_table, {"data": made.frame}),
        "read_table": (dagpost.read_table, {"path": made.csv}),
        "discretise": (dagpost.discretise, {"table": small_numbers()}),
        "unroll": (dagpost.unroll, {"data": small_numbers()}),
        "Recipe": (lambda **settings: dagpost.Recipe(**settings).fit(made.frame), {}),
        "Recipe.fit": (dagpost.Recipe().fit, {"X": made.frame}),
        "Recipe.transform": (made.recipe.transform, {"X": made.frame}),
        "Recipe.read": (made.recipe.read, {"X": made.frame}),
        "Recipe.of_table": (dagpost.Recipe.of_table, {"table": made.table}),
        "Recipe.of_levels": (dagpost.Recipe.of_levels, {"names": ["A"], "levels": [["x", "y"]]}),
        "Recipe.step": (made.recipe.step, {"name": "A"}),
        "Recipe.rule_of": (made.recipe.rule_of, {"name": "A"}),
        "Recipe.from_json": (dagpost.Recipe.from_json, {"described": made.recipe.to_json()}),
        "Recipe.get_feature_names_out": (made.recipe.get_feature_names_out, {}),
        "Recipe.save": (made.recipe.save, {"path": out / "recipe.toml"}),
        "Recipe.load": (dagpost.Recipe.load, {"path": made.recipe_file}),
        "data.recipe_steps.Step.from_json": (Step.from_json, {"described": step.to_json()}),
        "data.datasets.load": (dagpost.datasets.load, {"name": "coronary"}),
        "data.datasets.true_edges": (dagpost.datasets.true_edges, {"name": "asia"}),
        "data.datasets.describe": (dagpost.datasets.describe, {"name": "coronary"}),
        "reference.names": (dagpost.reference.names, {}),
        "reference.load": (dagpost.reference.load, {"name": "coronary"}),
        "reference.score": (dagpost.reference.score, {"answer": np.zeros((5, 5)), "case": "parity-5"}),
        "reference.read_answer": (dagpost.reference.read_answer, {"path": made.answer, "case": "parity-5"}),
        "reference.export": (dagpost.reference.export, {"folder": out / "cases", "cases": ["parity-5"]}),
        "BDeu": (_scored(made, dagpost.BDeu), {}),
        "BDe": (_scored(made, dagpost.BDe), {}),
        "BGe": (_scored(made, dagpost.BGe, small_numbers()), {}),
        "ConditionalGaussian": (_scored(made, dagpost.ConditionalGaussian, mixed), {}),
        "Additive": (_scored(made, dagpost.Additive, mixed), {}),
        "Committee": (lambda **own: dagpost.DagPosterior(dagpost.Committee(**own)).fit(small_numbers()), {}),
        "LatentGaussian": (_scored(made, dagpost.LatentGaussian, small_numbers()), {}),
        "CustomScore": (_scored(made, dagpost.CustomScore), {"function": _nothing}),
        "local_scores": (dagpost.local_scores, {"data": made.frame, "max_parents": 1}),
        "LocalScores": (lambda **fields: replace(made.scores, **fields), _fields(made.scores)),
        "LocalScores.score": (made.scores.score, {"child": "A", "parents": ["B"]}),
        "LocalScores.parent_names": (made.scores.parent_names, {"child": "A", "number": 1}),
        "scores.LocalPrior": (dagpost.scores.LocalPrior, {"module": "dagpost.local.additive"}),
        "DirichletPrior": (dagpost.DirichletPrior, {"pseudocount": 1.0}),
        "NormalWishartPrior": (dagpost.NormalWishartPrior, {}),
        "EdgePrior": (_with_prior(made, dagpost.EdgePrior), {"probability": {"A -> B": 0.1}, "otherwise": 0.2}),
        "CustomPrior": (_with_prior(made, dagpost.CustomPrior), {"function": _nothing}),
        "StructurePrior.from_text": (dagpost.EdgePrior.from_text, {"argument": "0.1"}),
        "priors.Constraints": (lambda **rules: Constraints(**rules).matrices(("A", "B", "C"), 2), {}),
        "priors.Constraints.matrices": (Constraints().matrices, {"names": ("A", "B"), "max_parents": 1}),
        "priors.log_prior": (_named("priors.log_prior"), {"names": ("A", "B"), "max_parents": 1}),
        "BlockGibbs": (_with_method(made, dagpost.BlockGibbs), {}),
        "PartitionMCMC": (_with_method(made, dagpost.PartitionMCMC), {}),
        "StructureMCMC": (_with_method(made, dagpost.StructureMCMC), {}),
        "HybridMCMC": (_with_method(made, dagpost.HybridMCMC), {}),
        "PartialOrderMCMC": (_with_method(made, dagpost.PartialOrderMCMC), {}),
        "OrderMCMC": (_with_method(made, dagpost.OrderMCMC), {}),
        "Trees": (_with_method(made, dagpost.Trees), {}),
        "GivenOrder": (_with_method(made, dagpost.GivenOrder), {"order": ["A", "B", "C"]}),
        "Bootstrap": (_with_method(made, dagpost.Bootstrap), {}),
        "top_graphs": (dagpost.top_graphs, {"source": made.sample}),
        "equivalence_classes": (dagpost.equivalence_classes, {"source": made.sample}),
        "essential_graph": (dagpost.essential_graph, {"graph": dag}),
        "graph_standing": (dagpost.graph_standing, {"source": made.sample, "graph": dag}),
        "threshold_graph": (dagpost.threshold_graph, {"source": made.sample}),
        "adjacency_table": (dagpost.adjacency_table, {"source": made.sample}),
        "orientation_table": (dagpost.orientation_table, {"source": made.sample}),
        "markov_blanket_table": (dagpost.markov_blanket_table, {"source": made.sample}),
        "posterior.summaries.TopGraphs.graph": (dagpost.top_graphs(made.sample).graph, {"place": 0}),
        "posterior.summaries.EquivalenceClasses.graph": (dagpost.equivalence_classes(made.sample).graph, {"place": 0}),
        "posterior.summaries.EquivalenceClasses.first_patterns": (
            dagpost.equivalence_classes(made.sample).first_patterns,
            {"count": 1},
        ),
        "posterior.summaries.EquivalenceClasses.table": (dagpost.equivalence_classes(made.sample).table, {}),
        "posterior.summaries.essential_graphs": (
            _named("posterior.summaries.essential_graphs"),
            {"parents": made.sample.parents},
        ),
        "posterior.summaries.pattern_graph": (
            _named("posterior.summaries.pattern_graph"),
            {"pattern": masks, "names": ("A", "B", "C")},
        ),
        "posterior.summaries.masks_of_graph": (
            _named("posterior.summaries.masks_of_graph"),
            {"graph": dag, "names": ("A", "B", "C")},
        ),
        "posterior.summaries.graph_of_masks": (
            _named("posterior.summaries.graph_of_masks"),
            {"masks": masks, "names": ("A", "B", "C")},
        ),
        "prediction.log_predictive": (_named("prediction.log_predictive"), rows),
        "prediction.predictive_of_target": (_named("prediction.predictive_of_target"), {**rows, "target": "A"}),
        "prediction.sufficient_statistics": (
            sufficient_statistics,
            {"table": made.table, "parents": made.sample.parents, "score": "bdeu"},
        ),
        "cross_validate": (dagpost.cross_validate, {"model": new, "X": made.frame, "folds": 2, "seed": 1}),
        "prediction.CrossValidation.gain_over": (
            (crossed := dagpost.cross_validate(new, made.frame, folds=2, seed=1)).gain_over,
            {"other": crossed},
        ),
        "prediction.network.bayesian_network": (
            _named("prediction.network.bayesian_network"),
            {"dag": made.sample[0], "statistics": made.statistics, "score": "bdeu"},
        ),
        "BayesianNetwork": (lambda **fields: replace(made.network, **fields), _fields(made.network)),
        "BayesianNetwork.to_frame": (made.network.to_frame, {"name": "A"}),
        "BayesianNetwork.sample": (made.network.sample, {"rows": 3, "seed": 1}),
        "BayesianNetwork.write": (made.network.write, {"path": out / "network.bif"}),
        "BayesianNetwork.read": (dagpost.BayesianNetwork.read, {"path": made.bif}),
        "causal.effect": (
            _named("causal.effect"),
            {
                "sample": made.sample,
                "table": made.table,
                "score": "bdeu",
                "cause": "A",
                "outcome": "B",
                "draws": 20,
                "seed": 1,
            },
        ),
        "Effect.curve": (made.curved.curve, {"points": 3}),
        "Effect.interval": (made.effect.interval, {}),
        "Effect.plot": (made.effect.plot, {}),
        "causal.EffectPart.interval": (made.effect.direct.interval, {}),
        "long_table": (dagpost.long_table, {"source": made.sample}),
        "strength_table": (dagpost.strength_table, {"source": made.sample}),
        "matrix_of_strengths": (dagpost.matrix_of_strengths, {"strengths": dagpost.strength_table(made.model)}),
        "write_graphs": (
            dagpost.write_graphs,
            {"graphs": dagpost.top_graphs(made.sample), "path": out / "graphs.csv"},
        ),
        "files.frames.matrix_of_long": (
            _named("files.frames.matrix_of_long"),
            {"long": dagpost.long_table(made.sample), "names": ("A", "B", "C")},
        ),
        "to_networkx": (dagpost.to_networkx, {"source": made.sample}),
        "to_dot": (dagpost.to_dot, {"graph": made.sample}),
        "write_dot": (dagpost.write_dot, {"graph": made.sample, "path": out / "graph.dot"}),
        "write_graphml": (dagpost.write_graphml, {"graph": made.sample, "path": out / "graph.graphml"}),
        "write_jkl": (dagpost.write_jkl, {"scores": made.scores, "path": out / "scores.jkl"}),
        "read_jkl": (dagpost.read_jkl, {"path": made.jkl}),
        "write_trajectory": (dagpost.write_trajectory, {"source": made.sample, "path": out / "graphs.csv"}),
        "read_trajectory": (dagpost.read_trajectory, {"path": made.trajectory}),
        "to_arviz": (dagpost.to_arviz, {"source": made.chains}),
        "ThreadEngine": (dagpost.ThreadEngine, {}),
        "CudaEngine": (dagpost.CudaEngine, {}),
        "DaskEngine": (dagpost.DaskEngine, {}),
        "Checkpoint": (dagpost.Checkpoint, {"folder": out / "checkpoint"}),
    }
    return {name: Call(*call) for name, call in calls.items()}


def _nothing(*_: Any) -> float:
    return 0.0


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in inspect.signature(type(record)).parameters}


def _asked(made: Made, statement: Callable[..., Any]) -> Callable[..., Any]:
    """A statement is only looked at in full when it is asked."""
    return lambda **parts: made.sample.probability(statement(**parts))


def _scored(made: Made, score: Callable[..., Any], frame: pd.DataFrame | None = None) -> Callable[..., Any]:
    data = made.frame if frame is None else frame
    return lambda **settings: dagpost.local_scores(data, score(**settings), 1)


def _given(model: DagPosterior) -> Callable[..., DagPosterior]:
    """Conditioning with one statement by name."""

    def given(statements: Any, setting: Any) -> DagPosterior:
        return model.given(statements, setting=setting)

    return given


def _explored(model: DagPosterior) -> Callable[..., None]:
    """Serving the page for a moment; no browser is opened."""

    def explore(**settings: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Explorer, "open", lambda _: False)
            model.explore(**settings).stop()

    return explore


def _with_prior(made: Made, prior: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **settings: _named("priors.log_prior")(("A", "B", "C"), 2, prior(**settings))


def _with_method(made: Made, method: Callable[..., Any]) -> Callable[..., Any]:
    def plan(**settings: Any) -> Any:
        chosen = method(**settings)
        modularity = getattr(chosen, "modularity", None) or "structure"
        return DagPosterior(score="bdeu", method=chosen, modularity=modularity, threads=1).plan(made.frame)

    return plan
