"""Local score files: written, read again, read by a reader of their own, and refused line by line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import summaries as naive_summaries
from tests.naive.summaries import ODD_NAMES
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost._tools import memory
from dagpost.errors import InputError, ResourceError
from dagpost.families.numbering import family_count
from dagpost.files.jkl import _name_of, _word_of, read_jkl, write_jkl
from dagpost.scores import LocalScores, local_scores

GOOD = """3
A 2
-1.5 0
-2.25e1 2 B C
B 1
-3 0
C 2
-0.5 1 A
-4 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    return tmp_path_factory.mktemp("jkl")


@st.composite
def weights(draw: Any) -> Any:
    """Names, weights that span thousands of nats, some forbidden, and the most parents."""
    names = draw(
        st.lists(st.one_of(st.text(max_size=5), st.sampled_from(ODD_NAMES)), min_size=1, max_size=6, unique=True)
    )
    max_parents = draw(st.integers(0, 6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([1e-3, 1.0, 3000.0]))
    values = generator.normal(0.0, scale, (len(names), family_count(len(names) - 1, max_parents)))
    values[generator.random(values.shape) < 0.2] = -np.inf
    values[:, 0] = generator.normal(0.0, scale, len(names))
    return names, values, max_parents


@given(weights())
def test_what_is_read_is_what_was_written(folder: Any, case: Any) -> None:
    names, values, max_parents = case
    path = folder / "scores.jkl"
    write_jkl(LocalScores(tuple(names), max_parents, values), path)
    found = read_jkl(path)
    assert found.names == tuple(names)
    # Sizes of which no set is allowed leave no trace.
    width = found.values.shape[1]
    assert width == family_count(len(names) - 1, found.max_parents)
    np.testing.assert_array_equal(found.values, values[:, :width])
    assert (values[:, width:] == -np.inf).all()


@given(weights())
def test_a_plain_reader_finds_every_parent_set_with_its_score(folder: Any, case: Any) -> None:
    names, values, max_parents = case
    path = folder / "plain.jkl"
    write_jkl(LocalScores(tuple(names), max_parents, values), path)
    words = [_word_of(name) for name in names]
    assert naive_summaries.read_jkl(path) == naive_summaries.jkl_of_weights(words, values, max_parents)


@given(st.text(), st.text())
def test_words_have_no_spaces_and_lead_back_to_their_names(first: Any, second: Any) -> None:
    for name in (first, *ODD_NAMES):
        word = _word_of(name)
        assert len(word.split()) == 1
        assert word.isprintable()
        assert not word.startswith("#")
        assert _name_of(word) == name
    assert (_word_of(first) == _word_of(second)) == (first == second)


@given(st.text(st.characters(exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cs"]), min_size=1))
def test_words_of_other_programs_are_never_mixed_up(word: Any) -> None:
    other = _name_of(word)
    assert other == word or _word_of(other) == word


def test_scores_of_real_data_survive_the_round_trip(tmp_path: Path) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 5)
    write_jkl(scores, tmp_path / "coronary.jkl")
    again = read_jkl(tmp_path / "coronary.jkl")
    assert again.names == scores.names
    np.testing.assert_array_equal(again.values, scores.values)
    assert again.score("Proteins", ["M. Work"]) == scores.score("Proteins", ["M. Work"])


@pytest.mark.parametrize(
    ("names", "values", "max_parents"),
    [
        (["A", "B"], np.zeros((2, 3)), 1),
        (["A", "B"], np.array([[0.0, math.nan], [0.0, 0.0]]), 1),
        (["A", "B"], np.array([[0.0, 0.0], [math.inf, 0.0]]), 1),
        (["A", "B"], np.array([[0.0, 0.0], [-math.inf, -math.inf]]), 1),
        (["A", "A"], np.zeros((2, 2)), 1),
        ([], np.zeros((0, 1)), 1),
        ([str(i) for i in range(65)], np.zeros((65, 1)), 0),
        (["A"], np.zeros((1, 1)), 13),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, names: Any, values: Any, max_parents: Any, said: Said
) -> None:
    with said.raises(InputError):
        write_jkl(LocalScores(tuple(names), max_parents, values), tmp_path / "scores.jkl")
    assert list(tmp_path.iterdir()) == []


def test_what_are_not_scores_or_not_a_path_is_refused(tmp_path: Path, said: Said) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 1)
    with said.raises(InputError):
        write_jkl(scores.values, tmp_path / "scores.jkl")
    with said.raises(InputError):
        write_jkl(scores, None)


# Reading


def read(tmp_path: Path, content: Any) -> Any:
    path = tmp_path / "scores.jkl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_jkl(path)


def test_a_file_of_another_program_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert found.names == ("A", "B", "C")
    assert found.max_parents == 2
    assert found.score("A", ["B", "C"]) == -22.5
    assert found.score("A", []) == -1.5
    assert found.score("A", ["B"]) == -math.inf
    assert found.score("C", ["A"]) == -0.5
    assert np.isfinite(found.values).sum() == 5


def test_line_endings_comments_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    expected = read(tmp_path, GOOD)
    other = "# made by hand\r\n\r\n" + GOOD.replace("\n", " \r\n").replace("B 1", "\r\n# next\r\nB   1")
    found = read(tmp_path, other)
    assert found.names == expected.names
    np.testing.assert_array_equal(found.values, expected.values)


def test_one_variable_and_sixty_four_are_read(tmp_path: Path) -> None:
    alone = read(tmp_path, "1\nA 1\n-2.5 0\n")
    assert (alone.max_parents, alone.values.tolist()) == (0, [[-2.5]])
    names = [f"V{i}" for i in range(64)]
    values = np.arange(64.0 * 64.0).reshape(64, 64)
    write_jkl(LocalScores(tuple(names), 1, values), tmp_path / "wide.jkl")
    np.testing.assert_array_equal(read_jkl(tmp_path / "wide.jkl").values, values)


def without(line: Any) -> Any:
    lines = GOOD.split("\n")
    return "\n".join(lines[: line - 1] + lines[line:])


def changed(line: Any, text: str) -> Any:
    lines = GOOD.split("\n")
    return "\n".join([*lines[: line - 1], text, *lines[line:]])


MANY = " ".join(f"V{i}" for i in range(1, 14))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n# nothing\n",
        changed(1, "three"),
        changed(1, "0"),
        changed(1, "65"),
        changed(1, "4"),
        changed(1, "2"),
        changed(2, "A"),
        changed(2, "A 1"),
        changed(2, "A 3"),
        changed(2, "A -1"),
        changed(2, "A 0"),
        changed(7, "C 3"),
        without(9),
        changed(5, "A 1"),
        changed(3, "x 0"),
        changed(3, "nan 0"),
        changed(3, "-inf 0"),
        changed(3, "1e999 0"),
        changed(3, "-1_5 0"),
        changed(3, "-1.5"),
        changed(3, "-1.5 x"),
        changed(3, "-1.5 1"),
        changed(4, "-1.5 1 B C"),
        changed(4, "-1.5 2 B D"),
        changed(4, "-1.5 1 A"),
        changed(4, "-1.5 2 B B"),
        changed(4, "-9 0"),
        changed(9, "-4 1 A"),
        "14\nV0 1\n-1 13 " + MANY + "".join(f"\nV{i} 1\n0 0" for i in range(1, 14)),
        b"1\n\xff 1\n0 0\n",
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, content: Any, said: Said) -> None:
    with said.raises(InputError):
        read(tmp_path, content)


@given(st.integers(0, len(GOOD) - 1), st.sampled_from(list("0129 -.\nABC#%_e")))
def test_a_changed_character_is_refused_or_read_as_it_stands(folder: Any, place: Any, character: Any) -> None:
    content = GOOD[:place] + character + GOOD[place + 1 :]
    path = folder / "changed.jkl"
    path.write_text(content)
    try:
        found = read_jkl(path)
    except InputError:
        return
    # What is read, written again, says the same: nothing was guessed.
    write_jkl(found, folder / "again.jkl")
    stripped = "\n".join(line for line in content.split("\n") if not line.startswith("#") and line.strip())
    path.write_text(stripped + "\n")
    assert naive_summaries.read_jkl(folder / "again.jkl") == naive_summaries.read_jkl(path)


@pytest.mark.parametrize("name", ["nothing.jkl", "."])
def test_what_is_not_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="Cannot read"):
        read_jkl(tmp_path / name)


def test_more_than_fits_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    names = [f"V{i}" for i in range(64)]
    lines = ["64", "V0 1", f"-1 9 {' '.join(names[1:10])}", *(f"{name} 1\n0 0" for name in names[1:])]
    (tmp_path / "wide.jkl").write_text("\n".join(lines))
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with said.raises(ResourceError):
        read_jkl(tmp_path / "wide.jkl")
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with pytest.raises(ResourceError, match="Reading"):
        read_jkl(tmp_path / "wide.jkl")
    with said.raises(ResourceError):
        write_jkl(
            LocalScores(
                (
                    "A",
                    "B",
                ),
                1,
                np.zeros((2, 2)),
            ),
            tmp_path / "other.jkl",
        )


def test_scores_that_were_read_give_the_same_posterior(tmp_path: Path) -> None:
    """The weights of a model, written and read, are the weights of the model."""
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(datasets.load("coronary"))
    weights_of_model = model.fitted_.workspace.all_families("this test").log_weights
    write_jkl(LocalScores(tuple(model.names_), 2, weights_of_model), tmp_path / "model.jkl")
    np.testing.assert_array_equal(read_jkl(tmp_path / "model.jkl").values, weights_of_model)
