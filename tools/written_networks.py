"""Networks that are written out, because what they are for needs a shape that chance does not give.

Probabilities are in thousandths, as in drawing.py. "Even" probabilities of levels are 1000 divided by their number and
rounded down; the first level has what is left.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from tools.drawing import Levels, Network, Numbers, Regression, network, thousandths


def parity(columns: int, noise: int) -> Network:
    """Fair coins X1, X2, ..., and a last column that is their parity in all but `noise` thousandths of the rows.

    A column is independent of all others until the last of them is known.
    """
    coins = tuple(f"X{place + 1}" for place in range(columns - 1))
    return network(*_coins(coins), Levels(f"X{columns}", coins, _parities(len(coins), noise)))


def hamming(noise: int) -> Network:
    """Fair coins A, B, C, D; E, F, G are parities of A B C, A B D, A C D, but for `noise` thousandths of the rows.

    Without noise, every column is the parity of three others in four ways: many graphs say nearly the same.
    """
    table = _parities(3, noise)
    sums = (Levels("E", tuple("ABC"), table), Levels("F", tuple("ABD"), table), Levels("G", tuple("ACD"), table))
    return network(*_coins(tuple("ABCD")), *sums)


def ring(columns: int, arity: int, same: int) -> Network:
    """A ring X1 - X2 - ... - X1: neighbours are `same` times as likely to have the same level as any two others.

    Given its two neighbours, a column is independent of the rest; no directed graph says just that. Those that come
    near have arrows that meet somewhere in the ring, and a chord there; every place is a mode of the posterior.

    The rows are drawn one column after the other. With `L` the matrix that has `same` on its diagonal and 1 elsewhere,
    the probabilities of the levels `x` of X(k), given the levels `a` of X1 and `b` of X(k-1), are in proportion to
    `L[b, x]` times entry `[x, a]` of the power `columns - k + 1` of `L`, in `thousandths` of which each has at least 1.
    """
    likes = np.ones((arity, arity), dtype=np.int64) + (same - 1) * np.eye(arity, dtype=np.int64)
    found = [Levels("X1", (), (_even(arity),))]
    for place in range(2, columns + 1):
        back = np.linalg.matrix_power(likes, columns - place + 1)
        parents = ("X1",) if place == 2 else ("X1", f"X{place - 1}")
        cases = product(range(arity), repeat=len(parents))
        tables = tuple(thousandths((likes[case[-1]] * back[:, case[0]]).tolist(), least=1) for case in cases)
        found.append(Levels(f"X{place}", parents, tables))
    return network(*found)


def copies(pairs: int, arity: int, same: int) -> Network:
    """Columns A1, A2, ... of even levels, a near-copy B1, B2, ... of each, and the effects Y and Z of all A1, A2, ...

    Y follows the parity of the sum of the numbers of the levels of all A, Z whether one of them is the last level.
    """
    sources = tuple(f"A{place + 1}" for place in range(pairs))
    cells = list(product(range(arity), repeat=pairs))
    odd = tuple((850, 150) if sum(cell) % 2 else (150, 850) for cell in cells)
    last = tuple((150, 850) if arity - 1 in cell else (800, 200) for cell in cells)
    return network(
        *(Levels(name, (), (_even(arity),)) for name in sources),
        *(Levels(f"B{place + 1}", (name,), _copying(arity, same)) for place, name in enumerate(sources)),
        Levels("Y", sources, odd),
        Levels("Z", sources, last),
    )


def mixed_copies(same: int) -> Network:
    """Columns A1 and A2 of four even levels, near-copies B1 and B2 of them, and numbers Y1, Y2, Y3, Y4.

    The mean of Y1 depends on both A1 and A2; each further number depends on the one before it, with a mean and a
    coefficient for each level of A1 (Y2, Y4) or of A2 (Y3).
    """
    sources = tuple(Levels(name, (), (_even(4),)) for name in ("A1", "A2"))
    copied = tuple(Levels(f"B{own}", (f"A{own}",), _copying(4, same)) for own in (1, 2))
    first = tuple(Regression((3 * a + 5 * b) % 4 / 2 - 0.75, 0.7) for a, b in product(range(4), repeat=2))
    later = tuple(Regression(mean, 0.7, (slope,)) for mean, slope in ((-0.4, 0.8), (0.0, 0.4), (0.4, 0.0), (0.8, -0.4)))
    numbers = (
        Numbers("Y1", ("A1", "A2"), first),
        Numbers("Y2", ("A1", "Y1"), later),
        Numbers("Y3", ("A2", "Y2"), later),
        Numbers("Y4", ("A1", "Y3"), later),
    )
    return network(*sources, *copied, *numbers)


def tree(columns: int, arity: int, same: int) -> Network:
    """X1 -> X2, X3; X2 -> X4, X5; ...: each has the level of its parent in `same` thousandths of the rows."""
    table = _copying(arity, same)
    found = (Levels(f"X{place}", (f"X{place // 2}",), table) for place in range(2, columns + 1))
    return network(Levels("X1", (), (_even(arity),)), *found)


def gaussian_chain(columns: int, coefficient: float, deviation: float) -> Network:
    """X1 -> X2 -> ...: each number is the one before it times `coefficient`, and noise."""
    own = (Regression(0.0, deviation, (coefficient,)),)
    found = (Numbers(f"X{place}", (f"X{place - 1}",), own) for place in range(2, columns + 1))
    return network(Numbers("X1", (), (Regression(0.0, 1.0),)), *found)


def pyramid(base: int, coefficient: float, deviation: float) -> Network:
    """Independent numbers A1, A2, ...; B1 is a sum of A1 and A2, B2 one of A2 and A3, ...; C1 one of B1 and B2, ...

    Each term counts `coefficient` times. All its edges are compelled, as is the whole order of its rows of columns.
    """
    found = [Numbers(f"A{place + 1}", (), (Regression(0.0, 1.0),)) for place in range(base)]
    own = (Regression(0.0, deviation, (coefficient, coefficient)),)
    for above, here in pairwise("ABCDEFGH"[:base]):
        width = base - "ABCDEFGH".index(here)
        found += [
            Numbers(f"{here}{place}", (f"{above}{place}", f"{above}{place + 1}"), own) for place in range(1, width + 1)
        ]
    return network(*found)


def collinear(groups: int, deviation: float) -> Network:
    """Three numbers G1a, G1b, G1c that are nearly the same one, three others G2a, G2b, G2c, ...

    The second and third are the first and noise of this deviation; the first depends on the first of the last group.
    """
    found: list[Numbers] = []
    near = (Regression(0.0, deviation, (1.0,)),)
    for group in range(1, groups + 1):
        head = f"G{group}a"
        if group == 1:
            found.append(Numbers(head, (), (Regression(0.0, 1.0),)))
        else:
            found.append(Numbers(head, (f"G{group - 1}a",), (Regression(0.0, 0.8, (0.6,)),)))
        found += [Numbers(f"G{group}{letter}", (head,), near) for letter in "bc"]
    return network(*found)


def _coins(names: tuple[str, ...]) -> tuple[Levels, ...]:
    return tuple(Levels(name, (), (_even(2),)) for name in names)


def _parities(bits: int, noise: int) -> tuple[tuple[int, ...], ...]:
    right = 1000 - noise
    return tuple((noise, right) if sum(cell) % 2 else (right, noise) for cell in product((0, 1), repeat=bits))


def _even(arity: int) -> tuple[int, ...]:
    share = 1000 // arity
    return (1000 - (arity - 1) * share, *(share,) * (arity - 1))


def _copying(arity: int, same: int) -> tuple[tuple[int, ...], ...]:
    """The level of the parent in `same` thousandths of the rows or a few more, each other level equally often."""
    other = (1000 - same) // (arity - 1)
    most = 1000 - (arity - 1) * other
    return tuple(tuple(most if own == level else other for own in range(arity)) for level in range(arity))
