"""From a table to the weights of its families: their scores, and what was believed before.

All families are scored where a method needs them or where they are few enough for chains; otherwise those among
candidate parents.
"""

from __future__ import annotations

from dagpost._tools.json_settings import to_json
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.mcmc.candidates import weights_among_candidates
from dagpost.methods.base import Method, Study
from dagpost.methods.choice import scores_candidates_only
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
    candidates_only = checkpoint.decided(
        "whether to score candidates only",
        lambda: scores_candidates_only(method, len(table.names), max_parents, engine),
    )
    if isinstance(to_json(score), str) or isinstance(to_json(prior), str):
        # What the user's own code says may have changed since a kill: it is asked again.
        checkpoint = NO_CHECKPOINT
    if candidates_only:
        weights = weights_among_candidates(
            table, score, prior, constraints, max_parents, engine=engine, reporter=reporter, checkpoint=checkpoint
        )
        return Workspace(weights, engine, reporter)
    scores = local_scores(table, score, max_parents, engine=engine, reporter=reporter, checkpoint=checkpoint)
    log_weights = scores.values
    log_weights += log_prior(table.names, scores.max_parents, prior, constraints)
    return ExactWorkspace(log_weights, scores.max_parents, engine, reporter)
