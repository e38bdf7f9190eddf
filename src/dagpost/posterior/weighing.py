"""From a table to the weights of its families: their scores, and what was believed before.

All families are scored where a method needs them or where they are few enough for chains; otherwise those among
candidate parents. A score that averages over one of its settings is scored with each value, one after the other.
"""

from __future__ import annotations

from dagpost._tools.json_settings import to_json
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart
from dagpost.engines import Engine
from dagpost.mcmc.candidates import weights_among_candidates
from dagpost.methods.base import Method, Study
from dagpost.methods.choice import check_averaging, scores_candidates_only
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.workspace import ExactWorkspace, Workspace
from dagpost.priors import log_prior
from dagpost.scores import local_scores


def weigh_families(
    method: Method | None,
    study: Study,
    engine: Engine,
    reporter: Reporter,
    *,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Workspace:
    """Score the families that a method needs and add the prior."""
    table, score, prior, constraints, max_parents = study
    check_averaging(score, method, len(table.names), max_parents, engine)
    candidates_only = checkpoint.decided(
        "whether to score candidates only",
        lambda: scores_candidates_only(method, len(table.names), max_parents, engine),
        truth,
    )
    mixture = score.mixture()
    if mixture is not None:
        parts = [
            _weigh_all(
                study._replace(score=own), engine, reporter.part(label), checkpoint=CheckpointPart(checkpoint, label)
            )
            for label, own in zip(mixture.labels, mixture.scores, strict=True)
        ]
        return MixedWorkspace(mixture, parts, engine, reporter)
    if candidates_only:
        kept = _lasting(study, checkpoint)
        weights = weights_among_candidates(
            table, score, prior, constraints, max_parents, engine=engine, reporter=reporter, checkpoint=kept
        )
        return Workspace(weights, engine, reporter)
    return _weigh_all(study, engine, reporter, checkpoint=checkpoint)


def _weigh_all(study: Study, engine: Engine, reporter: Reporter, *, checkpoint: Checkpoint) -> ExactWorkspace:
    """Score all families and add the prior."""
    table, score, prior, constraints, max_parents = study
    kept = _lasting(study, checkpoint)
    scores = local_scores(table, score, max_parents, engine=engine, reporter=reporter, checkpoint=kept)
    log_weights = scores.values
    log_weights += log_prior(table.names, scores.max_parents, prior, constraints)
    return ExactWorkspace(log_weights, scores.max_parents, engine, reporter)


def _lasting(study: Study, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint; none, if what the user's own code says may have changed since a kill: it is asked again."""
    own = isinstance(to_json(study.score), str) or isinstance(to_json(study.prior.chosen), str)
    return NO_CHECKPOINT if own else checkpoint
