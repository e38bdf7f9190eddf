"""DiBS: particles of a continuous relaxation of the posterior, moved by gradients, with BGe.

The score is that of the case: DiBS takes 0 for the prior mean, so that the columns are centred first. The prior is
uniform. It stops where the next steps would not fit into the time.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
from dibs.inference import MarginalDiBS
from dibs.models import BGe
from task import Task, run

#: As in DiBS's own examples.
PARTICLES, STEPS, STEPS_BETWEEN_ANSWERS = 20, 3000, 50


class Uniform:
    """A prior by which every graph counts once."""

    def unnormalized_log_prob_soft(self, *, soft_g):
        """The same for all."""
        return 0.0 * soft_g.sum()


def particles(task: Task, weighted: bool) -> None:
    """Graphs of the particles, each one the same weight or by its own posterior."""
    values = jnp.asarray(task.values - task.values.mean(axis=0))
    sampler = MarginalDiBS(x=values, graph_model=Uniform(), likelihood_model=BGe(n_vars=len(task.names)))
    ended = [task.used()]
    took = [0.0]

    def answer(*, dibs, t, zs) -> None:
        graphs = np.asarray(dibs.particle_to_g_lim(zs))
        graphs = graphs[[acyclic(graph) for graph in graphs]]
        if len(graphs):
            logs = np.asarray(dibs.get_mixture(jnp.asarray(graphs)).logp if weighted else np.zeros(len(graphs)))
            task.keep_graphs(graphs, np.exp(logs - logs.max()))
        took[0], ended[0] = task.used() - ended[0], task.used()
        print(f"{t} steps, {task.used():.1f} s")
        # The first steps took the time of compiling too, and say nothing about the next ones.
        if task.left() < (took[0] if t > STEPS_BETWEEN_ANSWERS else 0.0):
            sys.exit(0)

    sampler.sample(
        key=jax.random.PRNGKey(task.seed),
        n_particles=PARTICLES,
        steps=STEPS,
        callback=answer,
        callback_every=STEPS_BETWEEN_ANSWERS,
    )


def acyclic(graph: np.ndarray) -> bool:
    """Whether a graph has no cycle: its nodes can be taken away one after the other."""
    left = np.ones(len(graph), dtype=bool)
    for _ in range(len(graph)):
        left &= graph[left].any(axis=0)
    return not left.any()


if __name__ == "__main__":
    run(
        {
            "particles": lambda task: particles(task, weighted=False),
            "weighted particles": lambda task: particles(task, weighted=True),
        }
    )
