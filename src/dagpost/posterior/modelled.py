"""What the model behind a score makes of a table: which edges it rules out, and the numbers that it is about."""

from __future__ import annotations

from dataclasses import replace

from dagpost.methods.base import Study


def modelled(study: Study) -> Study:
    """The study of the table that its score is about (`Score.modelled`), with the edges that its model does not have.

    For most scores that is the table itself, and all edges. Where columns are images of latent numbers it is the table
    of these, with gaps where they are not known. What the prior says of one direction may depend on whether the other
    is left.
    """
    rules = replace(study.constraints, sinks=study.score.sinks(study.table))
    table = study.score.modelled(study.table, tuple(rules.exogenous))
    _, barred = rules.matrices(table.names, study.max_parents)
    return study._replace(constraints=rules, table=table, prior=study.prior.settled(table.names, barred))
