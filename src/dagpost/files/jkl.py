"""Local scores as text files that GOBNILP and other exact learners read and write (.jkl, "Jaakkola" format).

The first line is the number of variables; then comes, for each variable, a line `name number_of_parent_sets` and one
line `score size parent ... parent` a parent set. Parent sets that are not listed are not allowed. Numbers are written
with all their digits, so that reading gives back what was written.

Words are separated by spaces, so a space in a name is written as `%20`, `%` as `%25`, and so on for whatever cannot be
seen; reading turns it back. Text is made and taken apart set by set, some 2 microseconds each (n = 20, max_parents = 5:
a second each way), with some 300 bytes for every parent set of one variable, or of all when reading.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from math import comb
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import file_path, refusal
from dagpost._tools.kernels import kernel
from dagpost._tools.spelling import bare
from dagpost._tools.text import shown
from dagpost._tools.whole_files import read_text, replacing
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES, binomials, family_count, number_of_set, size_offsets, squeeze
from dagpost.files.delimited import number_in
from dagpost.scores import LocalScores
from dagpost.scores.local_scores import MOST_PARENTS

_BYTES_A_SET = 300
#: Text in memory as lines, for every byte of a file.
_BYTES_A_BYTE = 5
_EMPTY = "%"
#: Lines of a file with their numbers.
Lines = list[tuple[int, str]]


# Writing


def write_jkl(scores: LocalScores, path: str | os.PathLike[str]) -> None:
    """Write the score of every parent set.

    `scores` are what `local_scores` and `read_jkl` give, or `LocalScores(names, max_parents, log_weights)`; minus
    infinity where a parent set is not allowed.
    """
    if not isinstance(scores, LocalScores):
        raise refusal(type(scores).__name__, "scores", None, "LocalScores, as local_scores and read_jkl give them")
    limit = scores.max_parents
    words = [_word_of(name) for name in scores.names]
    weights = _checked_weights(scores.values, scores.names)
    longest = max(map(len, words))
    needed = weights.shape[1] * (_BYTES_A_SET + 2 * limit * longest)
    memory.require(needed, "Writing the parent sets of one variable", f"Use a smaller {bare('max_parents')}.")
    with replacing(path) as file:
        file.write(f"{len(words)}\n".encode())
        for node, row in enumerate(weights):
            file.write(_block(words, node, row, limit).encode("utf-8"))


def _block(words: Sequence[str], node: int, row: Floats, max_parents: int) -> str:
    """All lines of one variable."""
    others = [*words[:node], *words[node + 1 :]]
    kept = np.flatnonzero(np.isfinite(row))
    endings = _endings(others, max_parents)
    lines = [f"{number!r} {endings[place]}" for number, place in zip(row[kept].tolist(), kept.tolist(), strict=True)]
    return "\n".join([f"{words[node]} {len(lines)}", *lines, ""])


def _endings(others: Sequence[str], max_parents: int) -> list[str]:
    """`size parent ... parent` of every parent set in its numbering.

    Sets of one size with largest member `top` come in the order of the sets of one member less below it, and these
    are the first of their size.
    """
    layer = [""]
    endings = ["0"]
    for size in range(1, min(max_parents, len(others)) + 1):
        layer = [
            f"{rest} {name}"
            for top, name in enumerate(others)
            if top >= size - 1
            for rest in layer[: comb(top, size - 1)]
        ]
        endings += [f"{size}{members}" for members in layer]
    return endings


def _checked_weights(log_weights: Floats, names: Sequence[str]) -> Floats:
    weights = np.asarray(log_weights, dtype=np.float64)
    for name, row in zip(names, weights, strict=True):
        if np.isnan(row).any() or row.max() == np.inf:
            raise InputError(f"A log weight of {name!r} is {row[~(row < np.inf)][0]}. They must be numbers or -inf.")
        if row.max() == -np.inf:
            raise InputError(f"No parent set of {name!r} is allowed, so there is no graph to score.")
    return weights


# Reading


def read_jkl(path: str | os.PathLike[str]) -> LocalScores:
    """Read local scores: names, and log weights in our numbering, minus infinity for parent sets that are not listed.

    `max_parents` of the result is the size of the largest parent set in the file. Lines that are blank or start with
    `#` are passed over.
    """
    source = file_path(path)
    lines = _lines(source)
    if not lines:
        raise InputError(f"{str(source)!r} is empty. Its first line should be the number of variables.")
    blocks = _blocks(source, lines)
    words = list(blocks)
    families = [_families(source, [lines[at] for at in blocks[word]], word, words) for word in words]
    limit = max(int(np.bitwise_count(masks).max()) for masks, _ in families)
    nodes = len(blocks)
    count = family_count(nodes - 1, limit)
    what = f"The scores of {nodes} variables with up to {limit} parents"
    memory.require(8 * nodes * count, what, "Leave the largest parent sets out of the file.")
    values = np.full((nodes, count), -np.inf)
    for node, (masks, scores) in enumerate(families):
        numbers = np.empty(len(masks), dtype=np.int64)
        _number_all(masks, node, nodes - 1, binomials(limit).copy(), size_offsets(limit).copy(), numbers)
        values[node, numbers] = scores
    return LocalScores(tuple(map(_name_of, words)), limit, values)


def _lines(source: Path) -> Lines:
    """The lines that say something, with their numbers."""
    size = source.stat().st_size if source.exists() else 0
    memory.require(_BYTES_A_BYTE * size, f"Reading {str(source)!r}", "Use a file with fewer parent sets.")
    numbered = enumerate(read_text(source).split("\n"), start=1)
    return [(number, line) for number, line in numbered if line.strip() and not line.startswith("#")]


def _blocks(source: Path, lines: Lines) -> dict[str, range]:
    """The words of the variables, and which lines have their parent sets."""
    nodes = _whole_number(lines[0][1])
    if not 1 <= nodes <= MAX_NODES:
        raise _wrong(
            source,
            lines[0],
            f"the number of variables must be a whole number from 1 to {MAX_NODES}, not {_line(lines[0])}",
        )
    blocks: dict[str, range] = {}
    at = 1
    while len(blocks) < nodes and at < len(lines):
        words = lines[at][1].split()
        count = _whole_number(words[1]) if len(words) == 2 else 0
        if count < 1 or words[0] in blocks:
            expected = "this line should be another variable and its number of parent sets"
            raise _wrong(source, lines[at], f"{expected}, not {_line(lines[at])} (or the number before it is wrong)")
        blocks[words[0]] = range(at + 1, at + 1 + count)
        at += 1 + count
    if len(blocks) < nodes or at > len(lines):
        raise _wrong(source, lines[-1], f"the file ends before all parent sets of {nodes} variables were listed")
    if at < len(lines):
        raise _wrong(
            source, lines[at], f"nothing should follow after {nodes} variables, but there is {_line(lines[at])}"
        )
    return blocks


def _families(source: Path, lines: Lines, word: str, words: Sequence[str]) -> tuple[Masks, Floats]:
    """The parent sets of one variable as masks over all variables, and their scores."""
    bits = {other: 1 << position for position, other in enumerate(words) if other != word}
    masks, scores = [], []
    for line in lines:
        score, *family = line[1].split()
        mask = 0
        for parent in family[1:]:
            mask |= bits.get(parent, 0)
        size = _whole_number(family[0]) if family else -1
        scores.append(number_in(score))
        masks.append(mask)
        if not (math.isfinite(scores[-1]) and size == len(family) - 1 == mask.bit_count() <= MOST_PARENTS):
            raise _wrong(
                source,
                line,
                f"{_line(line)} is not a parent set of {shown(word)}, which is a finite score, the number of parents, "
                f"at most {MOST_PARENTS}, and these: other variables of this file, each once. Leave out sets that "
                "are not allowed",
            )
    found = np.array(masks, dtype=np.uint64)
    first, member = np.unique(found, return_index=True, return_inverse=True)[1:]
    if len(first) < len(found):
        place = int(np.flatnonzero(first[member] != np.arange(len(found)))[0])
        raise _wrong(source, lines[place], f"this parent set of {shown(word)} comes a second time")
    return found, np.array(scores)


def _whole_number(text: str) -> int:
    """The number that a text is, without a sign; -1 where it is none."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text.strip()) else -1


def _line(line: tuple[int, str]) -> str:
    return shown(line[1].strip())


def _wrong(source: Path, line: tuple[int, str], problem: str) -> InputError:
    return InputError(f"{str(source)!r}, line {line[0]}: {problem}.")


@kernel
def _number_all(
    masks: Masks, node: int, universe: int, binomial: Integers, offset: Integers, numbers: Integers
) -> None:
    for place in range(len(masks)):
        numbers[place] = number_of_set(squeeze(masks[place], node), universe, binomial, offset)


# Names


def _word_of(name: str) -> str:
    """A name without spaces: per cent signs and what cannot be seen are escaped, and `#`, which begins a comment.

    >>> _word_of("M. Work"), _word_of("50%")
    ('M.%20Work', '50%25')
    """
    word = "".join(c if c.isprintable() and c not in " %" else quote(c, errors="surrogatepass") for c in name)
    return (f"%23{word[1:]}" if word.startswith("#") else word) or _EMPTY


def _name_of(word: str) -> str:
    """The name that `_word_of` turned into this word; a word that it never makes is a name as it stands.

    >>> _name_of("M.%20Work"), _name_of("50%"), _name_of("%41")
    ('M. Work', '50%', '%41')
    """
    if word == _EMPTY:
        return ""
    try:
        name = unquote(word, errors="surrogatepass")
    except UnicodeDecodeError:
        return word
    return name if _word_of(name) == word else word
