"""The evidence of a Gaussian network to 150 digits: rationals for the sums, decimals for the logarithms."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagpost.data.table import Table

DIGITS = 150
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
    "3282306647093844609550582231725359408128"
)
#: Bernoulli numbers of even order, from the second.
BERNOULLI = [
    Fraction(*pair)
    for pair in (
        (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798), (-174611, 330),
    )
]  # fmt: skip


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def log_gamma(value: Fraction) -> Decimal:
    """Stirling's series, once the argument is at least 60: the error is below 1e-25."""
    below = Decimal(0)
    while value < 60:
        below += decimal(value).ln()
        value += 1
    own = decimal(value)
    series = sum(
        (
            decimal(number) / (2 * order * (2 * order - 1)) / own ** (2 * order - 1)
            for order, number in enumerate(BERNOULLI, start=1)
        ),
        Decimal(0),
    )
    return (own - Decimal("0.5")) * own.ln() - own + (2 * PI).ln() / 2 + series - below


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    rows, result = [row.copy() for row in matrix], Fraction(1)
    for place, row in enumerate(rows):
        # Never 0: the matrices are positive definite.
        result *= row[place]
        for below in rows[place + 1 :]:
            factor = below[place] / row[place]
            for column in range(place, len(row)):
                below[column] -= factor * row[column]
    return result


def bge(
    table: Table,
    child: int,
    parents: list[int],
    mean_weight: float,
    degrees: float | None = None,
    prior_mean: float | None = None,
    used: list[int] | None = None,
    basis: int | None = None,
) -> Decimal:
    """`log p(parents + child) - log p(parents)` of the rows, as Kuipers, Moffa & Heckerman (2014) have it.

    The prior is scaled by the standard deviations of the columns, and where no mean is given around their means; both
    are those of the first `basis` rows.
    """
    with localcontext() as context:
        context.prec = DIGITS
        data = [[Fraction(value) for value in row] for row in table.values().tolist()]
        nodes, first = len(table.names), data[:basis]
        everyone = len(first)
        weight = Fraction(mean_weight)
        spare = weight if degrees is None else Fraction(degrees) - nodes - 1
        scale = weight * spare / (weight + 1)
        means = [sum(column) / everyone for column in zip(*first, strict=True)]
        squares = [
            sum((value - mean) ** 2 for value in column) / (everyone - 1)
            for column, mean in zip(zip(*first, strict=True), means, strict=True)
        ]
        rows = data if used is None else [data[row] for row in used]
        count = Fraction(len(rows))
        own = [sum(column) / count for column in zip(*rows, strict=True)]
        centre = means if prior_mean is None else [Fraction(prior_mean)] * nodes
        matrix = [
            [
                sum((row[one] - own[one]) * (row[two] - own[two]) for row in rows)
                + count * weight / (count + weight) * (centre[one] - own[one]) * (centre[two] - own[two])
                + (scale * squares[one] if one == two else 0)
                for two in range(nodes)
            ]
            for one in range(nodes)
        ]

        def subset(members: list[int]) -> Decimal:
            size = len(members)
            before = (spare + 1 + size) / 2
            after = before + count / 2
            prior = decimal(Fraction(1))
            for member in members:
                prior *= decimal(scale * squares[member])
            part = decimal(determinant([[matrix[one][two] for two in members] for one in members]))
            gammas = sum(
                (log_gamma(after - Fraction(step, 2)) - log_gamma(before - Fraction(step, 2)) for step in range(size)),
                Decimal(0),
            )
            constant = decimal(weight / (count + weight)).ln() - decimal(count) * PI.ln()
            return constant * size / 2 + gammas + decimal(before) * prior.ln() - decimal(after) * part.ln()

        return subset([*parents, child]) - subset(parents)


def log_student_t(y: list[float], inputs: list[list[float]], variances: list[float], times: list[int]) -> Decimal:
    """The evidence of a regression whose noise has an inverse gamma prior with shape 1 and scale 0.5.

    Each row counts so many times; coefficients have these variances times that of the noise.
    """
    rows = [[*map(Fraction, row), Fraction(value)] for row, value in zip(inputs, y, strict=True)]
    width, count = len(variances), Fraction(sum(times))
    matrix = [
        [sum(number * row[one] * row[two] for number, row in zip(times, rows, strict=True)) for two in range(width + 1)]
        for one in range(width + 1)
    ]
    ratio = Fraction(1)
    for place, variance in enumerate(map(Fraction, variances)):
        matrix[place][place] += 1 / variance
        ratio *= variance
    of_inputs = determinant([row[:width] for row in matrix[:width]])
    rest, shape = determinant(matrix) / of_inputs, 1 + count / 2
    half = Decimal("0.5")
    return (
        log_gamma(shape)
        - decimal(count) * half * (2 * PI).ln()
        - decimal(of_inputs * ratio).ln() * half
        + half.ln()
        - decimal(shape) * (half + decimal(rest) * half).ln()
    )
