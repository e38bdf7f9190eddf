"""
Graphs and effects for DoWhy and pgmpy
======================================

DoWhy and pgmpy start from *one* causal graph. A posterior has many, so hand them over one by one, with their weights,
and average what comes back. Here both estimate three effects in each of the most probable graphs of the coronary study;
the averages stand beside those of ``model.effect``, which does the same for all graphs at once.

Both packages take the networkx graphs as they are, with spaces and dots in the names of the columns. This page needs
``pip install dowhy pgmpy``; what is not installed is left out.
"""

import logging
import warnings
from importlib.util import find_spec

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib import pyplot

from dagpost import DagPosterior, datasets, strength_table, top_graphs

table = datasets.load("coronary")
model = DagPosterior(score="bdeu", seed=1).fit(table)

# %%
# The graphs that hold four fifths of the posterior, most probable first. ``weights`` sum to 1; ``1 - covered`` is the
# share that an average over these graphs leaves out. ``graphs.adjacency()`` has them as one array (graphs, parents,
# children), ``write_graphs(graphs, "graphs.csv")`` as a file for other languages, and ``edge_table`` as a long table:

graphs = top_graphs(model, None, coverage=0.8)
print(graphs)
print(graphs.edge_table().head(7).to_string(index=False))

# %%
# One row an observation, which is what both packages want. DoWhy's regression needs numbers: 0 and 1 for the two
# levels, so that an effect is a difference of probabilities.

counted = table.to_pandas()
rows = counted.loc[counted.index.repeat(counted.pop("counts"))].reset_index(drop=True)
numbers = rows.apply(lambda column: column.cat.codes).astype(float)
effects = [("Smoking", "Pressure"), ("Smoking", "Proteins"), ("M. Work", "Proteins")]


def in_dowhy(graph: nx.DiGraph) -> list[float]:
    """Each effect in one graph: what to adjust for comes from the graph, the rest from a linear regression."""
    from dowhy import CausalModel

    found = []
    for cause, outcome in effects:
        # Without a directed path the effect is 0: there is nothing to estimate.
        if not nx.has_path(graph, cause, outcome):
            found.append(0.0)
            continue
        question = CausalModel(numbers, treatment=cause, outcome=outcome, graph=graph)
        estimand = question.identify_effect(proceed_when_unidentifiable=True)
        found.append(float(question.estimate_effect(estimand, method_name="backdoor.linear_regression").value))
    return found


def in_pgmpy(graph: nx.DiGraph) -> list[float]:
    """Each effect in one graph: a network with this graph is fitted, and asked with the cause set to either level."""
    from pgmpy.inference import CausalInference
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    network = DiscreteBayesianNetwork(graph)
    network.fit(rows, estimator=DiscreteBayesianEstimator(prior_type="BDeu", equivalent_sample_size=1))
    asked = CausalInference(network)

    def higher(cause: str, outcome: str, level: str) -> float:
        """The probability of the higher level of the outcome."""
        answer = asked.query([outcome], do={cause: level}, show_progress=False)
        return answer.get_value(**{outcome: rows[outcome].cat.categories[1]})

    return [
        higher(cause, outcome, "yes") - higher(cause, outcome, "no") if nx.has_path(graph, cause, outcome) else 0.0
        for cause, outcome in effects
    ]


# %%
# Every effect in every graph, and the averages.

by_graph = {}
for package, estimate in {"dowhy": in_dowhy, "pgmpy": in_pgmpy}.items():
    if find_spec(package) is None:
        print(f"{package} is not installed, so its estimates are left out: pip install {package}")
        continue
    # Both tell each step, and what their later versions will change.
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_graph[package] = np.array([estimate(graph) for graph in graphs])
    logging.disable(logging.NOTSET)

ours = [model.effect(cause, outcome, draws=2_000, seed=1) for cause, outcome in effects]
labels = [f"{cause} on {outcome}" for cause, outcome in effects]
averages = pd.DataFrame({"dagpost": [effect.mean for effect in ours]}, index=labels)
for package, found in by_graph.items():
    averages[package] = graphs.weights @ found
print(averages.round(3).to_string())

# %%
# Left, the averages, with the 95% interval of ``model.effect``, which knows the uncertainty within each graph as well.
# Right, the first effect graph by graph; the area of a circle is the weight of the graphs in it. pgmpy fits the whole
# network, as dagpost does, and agrees. DoWhy asks the graph what to adjust for, and nothing else. So they part where
# smoking acts on pressure only through other columns: the network says that little arrives on that way, while the
# regression finds all that goes with smoking in the table, though the graph has no edge for it. Where more than one set
# of columns would do, which one DoWhy adjusts for can differ from run to run, and its averages by a few thousandths.

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
heights = np.arange(len(effects))
for place, effect in enumerate(ours):
    left.plot(effect.interval(), [place, place], color="0.8", linewidth=7, solid_capstyle="butt", zorder=1)
for shift, (package, marker) in enumerate(zip(averages, "o^s", strict=False)):
    left.plot(averages[package], heights + 0.2 * shift, marker, label=package, zorder=2)
left.axvline(0.0, color="0.5", linewidth=0.8)
left.set_yticks(heights, labels)
left.invert_yaxis()
left.set_xlabel("change of the probability of the higher level")
left.legend(frameon=False)

cause, outcome = effects[0]
ways = {
    "no directed path": [not nx.has_path(graph, cause, outcome) for graph in graphs],
    "a direct edge": [graph.has_edge(cause, outcome) for graph in graphs],
}
ways["only through others"] = [not (none or direct) for none, direct in zip(*ways.values(), strict=True)]
for way, held in ways.items() if len(by_graph) == 2 else ():
    points = pd.DataFrame({package: found[held, 0].round(2) for package, found in by_graph.items()})
    weights = points.assign(weight=graphs.weights[held]).groupby(["pgmpy", "dowhy"])["weight"].sum()
    right.scatter(*zip(*weights.index, strict=True), 900 * weights, alpha=0.6, label=f"{way}: {weights.sum():.2f}")
if len(by_graph) == 2:
    right.axline((0.0, 0.0), slope=1.0, color="0.5", linewidth=0.8, zorder=0)
    right.margins(0.15)
    right.set_xlabel(f"{labels[0]} in pgmpy")
    right.set_ylabel("the same in DoWhy")
    for handle in right.legend(frameon=False).legend_handles:
        handle.set_sizes([40])
else:
    right.set_axis_off()

# %%
# Users of R's bnlearn know this table from ``boot.strength``: how probably two columns are joined, and how probably
# the edge points this way if they are. ``matrix_of_strengths`` reads one that R wrote.

print(strength_table(model).head(5).round(3).to_string(index=False))
