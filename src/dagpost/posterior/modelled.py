"""What the model behind a score makes of a table: which edges it rules out, and the numbers that it is about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagpost.exact.components import Components
from dagpost.methods.base import Study


def modelled(study: Study) -> Study:
    """The study of the table that its score is about (`Score.modelled`), with the edges that its model does not have.

    For most scores that is the table itself, and all edges. Where columns are images of latent numbers it is the table
    of these, with gaps where they are not known. What the prior says of one direction may depend on whether the other
    is left. A score may want to know which columns come first.
    """
    rules = replace(study.constraints, sinks=study.score.sinks(study.table))
    table = study.score.modelled(study.table, tuple(rules.exogenous))
    _, barred = rules.matrices(table.names, study.max_parents)
    stage = Components.of_edges(rules.parent_lists(table.names, study.max_parents).matrix).stages()
    names = np.array(table.names, dtype=object)
    score = study.score.in_stages([names[stage == own].tolist() for own in range(stage.max() + 1)])
    return study._replace(constraints=rules, table=table, score=score, prior=study.prior.settled(table.names, barred))
