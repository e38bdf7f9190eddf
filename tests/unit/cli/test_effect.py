"""`dagpost effect`: what setting a column does to another, as a person reads it, as JSON, and as a picture."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import ESCAPE_CODE, Run, one_message

from dagpost import DagPosterior
from dagpost.causal.results import Effect
from dagpost.causal.sentences import in_sentences, way_sentence
from dagpost.cli.effect_question import causes_of
from dagpost.errors import InputError

NAMES = ("dose", "weight", "pressure=mm", "sex", "grade", "asthma")
LEVELS = (None, None, None, ("f", "m"), ("low", "middle", "high"), (0, 1))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of numbers in a known order: dose raises weight by 2, and weight lowers pressure by 1."""
    rng = np.random.default_rng(4)
    dose = rng.normal(10.0, 1.0, 300)
    weight = 2.0 * dose + rng.normal(0.0, 1.0, 300)
    pressure = 140.0 - weight + rng.normal(0.0, 1.0, 300)
    odd = rng.normal(0.0, 1.0, 300)
    frame = pd.DataFrame({"dose": dose, "weight": weight, "pressure": pressure, "\x1b[31m=odd": odd})
    folder = tmp_path_factory.mktemp("effects")
    tiers = [["dose"], ["weight"], ["pressure", "\x1b[31m=odd"]]
    DagPosterior("bge", tiers=tiers, seed=1, samples=500).fit(frame).save(folder / "m")
    return folder / "m"


@pytest.fixture
def model(fitted: Path, tmp_path: Path) -> str:
    shutil.copy(fitted, tmp_path / "m")
    return "m"


def test_an_effect_is_said_in_words_with_its_parts_and_what_it_assumes(run: Run, model: str, fitted: Path) -> None:
    found = DagPosterior.load(fitted).effect("dose", "pressure", do=(12.0, 10.0), seed=3)
    said = run("effect", model, "dose", "pressure", "--do", "12", "--rather-than", "10", "--seed", "3").stdout
    lines = said.splitlines()
    assert lines[0].startswith("With dose set to 12 rather than 10, the mean of pressure falls by ")
    assert f"falls by {-found.mean:.3g} on average, from " in lines[0]
    assert found.mean == pytest.approx(-4.0, abs=0.3)
    assert lines[1].startswith("It rises with probability 0, falls with 1")
    rows = {line.split("  ")[0]: line for line in lines}
    assert f"{found.mean:+.3g}" in rows["total"]
    assert f"{found.direct.mean:+.3g}" in rows["direct"] if found.direct else False
    assert rows["through weight"].split()[2] == f"{found.through[0].mean:+.3g}"
    assert rows["12"].split()[1] == f"{found.outcomes[0].mean:#.5g}"
    assert "Assumed:" in lines
    assert all(f"- {sentence}" in lines for sentence in found.assumptions)
    assert any("No common cause" in sentence for sentence in found.assumptions)


def test_json_has_what_python_has(run: Run, model: str, fitted: Path) -> None:
    found = DagPosterior.load(fitted).effect("weight", "pressure", seed=3, draws=500)
    as_json = json.loads(run("effect", model, "weight", "pressure", "--draws", "500", "--seed", "3", "--json").stdout)
    assert as_json == json.loads(json.dumps(found.summary()))


def test_several_columns_are_set_at_once(run: Run, model: str, fitted: Path) -> None:
    asked = {"dose": (12.0, 10.0), "weight": 20.0}
    found = DagPosterior.load(fitted).effect(asked, "pressure", seed=1, draws=500)
    line = [
        "effect",
        model,
        "dose=12",
        "weight=20",
        "pressure",
        "--rather-than",
        "weight=20",
        "--rather-than",
        "dose=10",
    ]
    as_json = json.loads(run(*line, "--seed", "1", "--draws", "500", "--json").stdout)
    assert as_json["mean"] == found.mean
    assert abs(found.mean) < 0.7
    assert "With dose set to 12 rather than 10 and weight held at 20" in run(*line, "--draws", "100").stdout


def test_an_effect_under_a_condition_says_so(run: Run, model: str) -> None:
    said = run("effect", model, "dose", "pressure", "--given", "!(dose -> pressure)", "--draws", "200").stdout
    assert said.startswith("Given !(dose -> pressure): with one unit more of dose, the mean of pressure falls by")
    assert "!(dose -> pressure) itself has probability 0." in said


def test_without_an_outcome_all_effects_are_listed(run: Run, model: str, fitted: Path) -> None:
    table = DagPosterior.load(fitted).effects(draws=100, seed=1)
    said = run("effect", model, "--draws", "100", "--seed", "1").stdout
    assert not ESCAPE_CODE.search(said.replace("\n", ""))
    likely = table[table["no_effect"] <= 0.9]
    lines = said.splitlines()
    assert lines[0].split()[:5] == ["cause", "set", "to", "outcome", "mean"]
    assert len([line for line in lines if " one unit more " in line]) == len(likely)
    assert f"({len(table) - len(likely)} effects with probability below 0.1 not shown: --minimum 0)" in lines
    every = run("effect", model, "--draws", "100", "--seed", "1", "--minimum", "0").stdout.splitlines()
    assert len([line for line in every if " one unit more " in line]) == len(table)
    of_one = json.loads(run("effect", model, "dose", "--draws", "100", "--seed", "1", "--json").stdout)["effects"]
    assert {row["cause"] for row in of_one if row["outcome"] != "dose"} == {"dose"}


def test_an_effect_is_drawn(run: Run, model: str, tmp_path: Path) -> None:
    line = ["effect", model, "dose", "pressure", "--draws", "200"]
    assert run(*line, "-o", "a.png", "--dpi", "40").stdout.endswith("Picture: a.png\n")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    found = run("effect", model, "dose=11", "weight=9", "pressure", "--draws", "50", "-o", "b.svg", "--size", "20x16",
                "--rather-than", "dose=10", "--rather-than", "weight=8", "--json")  # fmt: skip
    assert json.loads(found.stdout)["picture"] == "b.svg"
    for kind in ("effect-density", "effect-parts", "effect-outcomes", "effect-curve"):
        run("plot", model, "--kind", kind, "--cause", "dose", "--outcome", "pressure", "-o", "c.svg")


def test_a_curve_is_listed_drawn_and_written(run: Run, model: str, fitted: Path, tmp_path: Path) -> None:
    line = ["effect", model, "dose", "pressure", "--curve", "--draws", "200", "--seed", "1"]
    frame = DagPosterior.load(fitted).effect("dose", "pressure", draws=200, seed=1).curve()
    lines = run(*line, "-o", "a.svg").stdout.splitlines()
    start = next(place for place, said in enumerate(lines) if said.startswith("do(dose)"))
    for row, said in zip(frame.to_dict("records"), lines[start + 1 : start + 26], strict=True):
        numbers = [f"{row[name]:#.5g}" for name in ("mean", "lower", "upper")]
        assert said.split() == [f"{row['value']:.5g}", numbers[0], numbers[1], "to", numbers[2]]
    assert lines[-1] == "Picture: a.svg"
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    found = json.loads(run(*line, "--json").stdout)
    pd.testing.assert_frame_equal(pd.DataFrame(found["curve"]), frame)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["dose=1", "weight=2", "pressure", "--rather-than", "dose=0", "--rather-than", "weight=0", "--curve"],
            "A curve is of one cause",
        ),
        (["dose", "--curve"], "--curve is for one effect"),
        (["dose", "presure"], "There is no variable 'presure'. Did you mean 'pressure'?"),
        (["doze", "pressure"], "There is no variable 'doze'. Did you mean 'dose'?"),
        (["doze=3", "pressure"], "There is no variable 'doze'. Did you mean 'dose'?"),
        (["dose", "dose"], "Cause and outcome are both 'dose'"),
        (["dose=1", "dose=2", "pressure"], "The cause 'dose' is named twice"),
        (["dose", "pressure", "--do", "many"], "'dose' is a column of numbers, and 'many' is not a number"),
        (["dose", "pressure", "--do", "3"], "say both what it is set to and rather than what, as dose=3 --rather-than"),
        (["dose=3", "weight=4", "pressure", "--rather-than", "2"], "--rather-than is written COLUMN=VALUE"),
        (["dose=3", "pressure", "--do", "4"], "--do is for one cause that has no value yet"),
        (["dose", "pressure", "--level", "high"], "--level is about levels"),
        (["dose", "pressure=high"], "To look at one of its levels: pressure --level high."),
        (["dose", "pressure", "--do", "1e308", "--rather-than=-1e308"], "between -1e+100 and 1e+100"),
        (["dose", "pressure", "--draws", "0"], "--draws must be a whole number of at least 1"),
        (["dose", "pressure", "--confidence", "2"], "--confidence"),
        (["dose", "pressure", "--given", "nobody -> dose"], "'nobody'"),
        (["dose", "pressure", "-o", "a.txt"], "does not end as the file of a picture"),
        (["dose", "pressure", "--minimum", "0"], "--minimum is for all effects"),
        (["dose", "--do", "3"], "--do is for one effect. Name an outcome beside 'dose'"),
        (["--given", "dose -> nobody"], "'nobody'"),
        (["--minimum", "7"], "--minimum must be between 0 and 1"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_effect_refuses_in_words(arguments: list[str], words: str, run: Run, model: str) -> None:
    assert words in one_message(run("effect", model, *arguments, status=2))


@pytest.mark.parametrize(
    ("words", "do", "rather_than", "expected"),
    [
        (["sex"], None, [], {"sex": None}),
        (["sex"], "m", [], {"sex": ("m", "f")}),
        (["sex=m"], None, [], {"sex": ("m", "f")}),
        (["sex"], None, ["m"], {"sex": ("f", "m")}),
        (["grade"], "high", ["low"], {"grade": ("high", "low")}),
        (["dose=3"], None, ["2"], {"dose": (3.0, 2.0)}),
        (["pressure=mm"], None, [], {"pressure=mm": None}),
        (["pressure=mm=130"], None, ["pressure=mm=120"], {"pressure=mm": (130.0, 120.0)}),
        (["sex=f", "dose=3"], None, ["dose=3"], {"sex": ("f", "m"), "dose": 3.0}),
        (["asthma"], "1.0", [], {"asthma": ("1.0", "0")}),
    ],
)
def test_words_of_the_command_line_become_values(
    words: list[str], do: str | None, rather_than: list[str], expected: dict[str, object]
) -> None:
    assert causes_of(words, do, rather_than, NAMES, LEVELS) == expected


@pytest.mark.parametrize(
    ("words", "rather_than", "said"),
    [
        (["grade=high"], [], "'grade' has 3 levels (low, middle, high): say what 'high' is compared with"),
        (["grade=hihg"], [], "has no level 'hihg'. Did you mean 'high'?"),
        (["sex=x"], [], "has no level 'x'"),
        (["sex=f", "dose=3"], ["dose=3", "dose=4"], "--rather-than is given twice for 'dose'"),
    ],
)
def test_values_that_are_open_or_wrong_are_refused(words: list[str], rather_than: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")):
        causes_of(words, None, rather_than, NAMES, LEVELS)


def effect_of(samples: list[float], **more: object) -> Effect:
    """An effect with these draws."""
    settings: dict[str, object] = {
        "causes": ("dose",), "outcome": "pressure", "values": (None,), "outcome_level": None, "confidence": 0.9,
        "samples": np.array(samples), "mean": float(np.mean(samples)), "direct": None, "through": (), "outcomes": (),
        "zero_probability": float(np.mean(np.array(samples) == 0.0)), "assumptions": (), "graphs": 3,
        "observations": 9, "modularity": "structure", **more,
    }  # fmt: skip
    return Effect(**settings)


def test_sentences_say_what_the_draws_say() -> None:
    said = in_sentences(effect_of([0.0, 0.0, 1.0, -2.0, 3.0]))
    assert said[0] == (
        "With one unit more of dose, the mean of pressure rises by 0.4 on average; the 90% interval of the change is "
        "-2 to +3."
    )
    assert said[1] == (
        "It rises with probability 0.400, falls with 0.200, and does not change at all with 0.400, where no directed "
        "path leads from dose to pressure."
    )
    assert said[2] == "If there is an effect, it is +0.667 on average, 90% interval -2 to +3."
    assert way_sentence(effect_of([1.0])) == ""
    nothing = in_sentences(effect_of([0.0, 0.0]))
    assert nothing == [
        "With one unit more of dose, the mean of pressure does not change: no directed path leads there in any graph."
    ]
