"""Networks that are written out, because what they are for needs a shape that chance does not give."""

from __future__ import annotations

from itertools import product

from dagpost.reference.drawing import Levels, Network, Numbers, Regression, network

_COIN = ((500, 500),)


def parity(columns: int, noise: int) -> Network:
    """Fair coins, and a last column that is the parity of all of them but for `noise` thousandths of the rows.

    No column says anything about another one until all others are known.
    """
    coins = tuple(f"X{place + 1}" for place in range(columns - 1))
    right = 1000 - noise
    table = tuple((noise, right) if sum(bits) % 2 else (right, noise) for bits in product((0, 1), repeat=len(coins)))
    return network(*(Levels(coin, (), _COIN) for coin in coins), Levels(f"X{columns}", coins, table))


def copies(pairs: int, arity: int, same: int) -> Network:
    """Columns A1, A2, ... of `arity` equal levels; a near-copy B1, B2, ... of each; Y and Z, effects of all the A.

    `same` thousandths of the rows have the same level in A and B; in the others every level is as likely.
    """
    sources = tuple(f"A{place + 1}" for place in range(pairs))
    other = (1000 - same) // arity
    flat = (1000 - (arity - 1) * (1000 // arity), *(1000 // arity,) * (arity - 1))
    copy = tuple(
        tuple(1000 - (arity - 1) * other if own == level else other for own in range(arity)) for level in range(arity)
    )
    cells = list(product(range(arity), repeat=pairs))
    sums = tuple((850, 150) if sum(cell) % 2 else (150, 850) for cell in cells)
    most = tuple((800, 200) if max(cell) < arity - 1 else (150, 850) for cell in cells)
    return network(
        *(Levels(name, (), (flat,)) for name in sources),
        *(Levels(f"B{place + 1}", (name,), copy) for place, name in enumerate(sources)),
        Levels("Y", sources, sums),
        Levels("Z", sources, most),
    )


def gaussian_chain(columns: int, coefficient: float, deviation: float) -> Network:
    """X1 -> X2 -> ...: each number is the one before it times `coefficient`, and noise."""
    first = Numbers("X1", (), (Regression(0.0, 1.0),))
    return network(
        first,
        *(
            Numbers(f"X{place + 1}", (f"X{place}",), (Regression(0.0, deviation, (coefficient,)),))
            for place in range(1, columns)
        ),
    )


def level_chain(columns: int, arity: int, same: int) -> Network:
    """X1 -> X2 -> ...: each column has the level of the one before it in `same` thousandths of the rows."""
    other = (1000 - same) // (arity - 1)
    flat = (1000 - (arity - 1) * (1000 // arity), *(1000 // arity,) * (arity - 1))
    table = tuple(
        tuple(1000 - (arity - 1) * other if own == level else other for own in range(arity)) for level in range(arity)
    )
    return network(
        Levels("X1", (), (flat,)),
        *(Levels(f"X{place + 1}", (f"X{place}",), table) for place in range(1, columns)),
    )


def collinear(groups: int, size: int, deviation: float) -> Network:
    """Groups of numbers that are all nearly the same one: the group's first, and noise of a small deviation.

    The first of every group but the first depends on the first of the group before.
    """
    columns: list[Numbers] = []
    for group in range(groups):
        head = f"G{group + 1}a"
        if group:
            columns.append(Numbers(head, (f"G{group}a",), (Regression(0.0, 0.8, (0.6,)),)))
        else:
            columns.append(Numbers(head, (), (Regression(0.0, 1.0),)))
        columns.extend(
            Numbers(f"G{group + 1}{letter}", (head,), (Regression(0.0, deviation, (1.0,)),))
            for letter in "bcdefgh"[: size - 1]
        )
    return network(*columns)
