"""What a model or a sample from a file answers, through names that users have: as JSON, to compare versions.

    python file_answers.py FOLDER > expected.json

wrote, with the version of dagpost that wrote the files of tests/data/old_files, what later versions must still answer.
Only the intervals of weighted graphs and the graphs that new partition chains draw are later ones: the rule of these
intervals, and the start of these chains, have changed since. Chains resume as they did.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dagpost import DagPosterior, DagSample

#: How long the chains of a file are to become.
_LONGER = 450


def answers_of(path: Path) -> dict[str, Any]:
    """The answers of one file, which is a model or a sample by its name."""
    with warnings.catch_warnings():
        # Short chains say that they are.
        warnings.simplefilter("ignore")
        if path.name.startswith("sample"):
            return sample_answers(DagSample.load(path))
        return model_answers(DagPosterior.load(path))


def model_answers(model: DagPosterior) -> dict[str, Any]:
    """Results, statements about the first columns, new draws and predictions."""
    first, second, third = model.names_[:3]
    asked = [
        f'"{first}" -> "{second}"',
        f'"{first}" ~> "{third}"',
        f'"{first}" ~> "{second}" & "{second}" ~> "{third}"',
    ]
    found: dict[str, Any] = {
        "log_evidence": _number(model.log_evidence_),
        "edges": _first(model.edge_probabilities_),
        "exact": bool(model.exact_),
        "method": [model.method_, model.method_reason_, str(model.target_), model.engine_, model.verdict_],
        "settings": {name: repr(model.get_params()[name]) for name in ("score", "prior", "modularity", "max_parents")},
        "statements": [model.probability(statement).as_dict() for statement in asked],
        "paths": _first(model.probability_matrix("~>")),
        "own": sample_answers(model.own_sample()),
    }
    if model.exact_ and model.target_ in ("structure", "order"):
        found["families"] = {str(name): float(value) for name, value in model.top_families(first, 5).items()}
        found["best"] = _digest(model.best(3))
    drawn = model.sample(20, seed=7)
    found["drawn"] = [*_digest(drawn), drawn.provenance.get("seed"), drawn.provenance["engine"]]
    rows = [[5.1, 3.5, 1.4, 0.2], [6.0, 3.0, 4.5, 1.5]] if "sepal_length" in model.names_ else _rows(model)
    if model.method_ != "kbest":
        found["predictions"] = model.score_samples(np.array(rows)).tolist()
    return found


def sample_answers(sample: DagSample) -> dict[str, Any]:
    """Shares, an interval, and what the sample says of itself."""
    first, second = sample.names[:2]
    found = {
        "repr": repr(sample),
        "graphs": _digest(sample),
        "weights": float((sample.weights * np.arange(len(sample))).sum()),
        "log_evidence": _number(sample.log_evidence),
        "guarantee": None if sample.guarantee is None else list(sample.guarantee),
        "statement": sample.probability(f'"{first}" ~> "{second}"').as_dict(),
        "summary": sample.summary(),
        "provenance": dict(sample.provenance),
        "edges": _first(sample.edge_frequencies()),
    }
    if sample.chains is not None:
        found["acceptance"] = {kind: _number(share) for kind, share in sample.chains.acceptance.items()}
    return json.loads(json.dumps(found))


def resumed_chains(model: DagPosterior, sample: DagSample) -> list[Any]:
    """The chains of a sample, made longer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _digest(model.sample(_LONGER, resume=sample))


def all_answers(folder: Path) -> dict[str, Any]:
    """Of all files of a folder."""
    found: dict[str, Any] = {path.stem: answers_of(path) for path in sorted(folder.glob("*.dagpost"))}
    chains = DagSample.load(folder / "sample-chains.dagpost")
    found["resumed"] = resumed_chains(DagPosterior.load(folder / "model-partition-mcmc.dagpost"), chains)
    return found


def _rows(model: DagPosterior) -> Any:
    """Two rows: every column at its first level, and at its second."""
    if model.names_[0] == "V0":
        return [[0] * len(model.names_), [1] * len(model.names_)]
    return [["no", "no", "no", "<140", "<3", "neg"], ["yes", "yes", "yes", ">140", ">3", "pos"]]


def _first(matrix: Any) -> Any:
    """The probabilities among the first columns, and those of all others added up."""
    values = matrix.to_numpy()
    return [*values[:6, :6].tolist(), float(values.sum())]


def _digest(sample: DagSample) -> list[Any]:
    graphs = hashlib.sha256(np.ascontiguousarray(sample.parents).tobytes()).hexdigest()
    return [len(sample), graphs, float(sample.log_joint.sum())]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(all_answers(Path(sys.argv[1]))) + "\n")
