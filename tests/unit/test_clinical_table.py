"""An ordinary clinical table, with no editing: what is left out and dropped, and what is found without any cuts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.tools.clinical import LEFT_OUT, STRONG_PAIRS, TRUE_EDGES, TRUE_EFFECTS, USED, clinical_frame
from tests.tools.wording import Said

from dagpost import Additive, DagPosterior, Recipe, as_table, read_table
from dagpost.causal import Effect
from dagpost.errors import DagpostWarning, InputError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return clinical_frame()


@pytest.fixture(scope="module")
def fitted(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[DagPosterior, list[str]]:
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    frame.to_csv(path, index=False)
    with pytest.warns(DagpostWarning) as said:
        model = DagPosterior(seed=1, missing="drop", samples=6000).fit(path)
    return model, [str(warning.message) for warning in said]


@pytest.fixture(scope="module")
def cut(frame: pd.DataFrame) -> tuple[DagPosterior, list[str]]:
    """The same with a score for levels, which is asked for by name."""
    with pytest.warns(DagpostWarning) as said:
        model = DagPosterior("bdeu", missing="drop").fit(frame)
    return model, [str(warning.message) for warning in said]


def test_identifiers_and_dates_are_left_out_with_a_reason(fitted: Any, said: Said) -> None:
    model, heard = fitted
    assert model.names_ == USED
    assert tuple(step.name for step in model.recipe_.steps_ if not step.used) == LEFT_OUT
    said(model.recipe_.step("patient_id").why)
    assert model.recipe_.step("visit_date").why.startswith("dates: ")
    assert "Left out: 'patient_id' (identifier), 'visit_date' (dates)." in heard[0]
    assert model.n_features_in_ == 9
    assert model.feature_names_in_.tolist()[:2] == ["patient_id", "visit_date"]


def test_nothing_is_cut_and_a_notice_says_what_that_assumes(fitted: Any) -> None:
    model, said = fitted
    assert model.fitted_.score == Additive()
    assert all(step.cuts is None for step in model.recipe_.steps_)
    assert model.recipe_.step("smoking").levels == ("never", "former", "current")
    assert said[1].startswith("Relations may be curved and run either way between levels and numbers")


def test_numbers_are_cut_for_a_score_that_is_named_and_a_notice_says_where(cut: Any) -> None:
    model, said = cut
    for name in ("age", "BMI", "systolic", "diastolic"):
        step = model.recipe_.step(name)
        assert step.rule == "3 quantiles"
        assert model.fitted_.data.levels[model.names_.index(name)] == step.levels
    cuts = model.recipe_.step("age").cuts
    assert f"'age' at {cuts[0]:g} and {cuts[1]:g}" in said[1]
    assert len(said) == 2


def test_rows_with_gaps_are_dropped_and_counted(fitted: Any, frame: pd.DataFrame) -> None:
    model, said = fitted
    gaps = int(frame["smoking"].isna().sum())
    assert model.recipe_.dropped_rows_ == gaps > 40
    assert model.fitted_.data.observations == 900 - gaps
    assert f"{gaps} of 900 rows have gaps and were dropped ('smoking' has {gaps})" in said[0]


@pytest.mark.parametrize("pair", STRONG_PAIRS)
def test_what_truly_belongs_together_is_joined(fitted: Any, pair: tuple[str, str]) -> None:
    assert fitted[0].probability(f"{pair[0]} -- {pair[1]}").value > 0.95


def test_what_has_nothing_to_do_with_each_other_is_not_joined(fitted: Any) -> None:
    assert fitted[0].probability("sex -- smoking").value < 0.5


def test_pairs_that_belong_together_are_the_surest_and_directions_are_the_data_s(fitted: Any) -> None:
    pairs = fitted[0].directions()
    assert set(pairs["direction"]) <= {"clear", "leaning", "open"}
    found = pairs[pairs["joined"] >= 0.95]
    assert {frozenset(pair) for pair in STRONG_PAIRS} <= {
        frozenset(pair) for pair in zip(found["from"], found["to"], strict=True)
    }


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_few_directions_are_claimed_that_are_not_there() -> None:
    """What is called clear has at least 90%: of 44 such directions in eight tables 3 are wrong, and 8 may be.

    Tables and draws have fixed seeds, so that nothing is left to chance.
    """
    clear: list[tuple[str, str]] = []
    for seed in range(1, 9):
        pairs = DagPosterior(seed=1, missing="drop", samples=4000).fit(clinical_frame(seed=seed)).directions()
        claimed = pairs[pairs["direction"] == "clear"]
        clear += zip(claimed["from"], claimed["to"], strict=True)
    wrong = [pair for pair in clear if pair not in TRUE_EDGES]
    assert len(clear) >= 20
    assert len(wrong) <= len(clear) / 5


def test_a_weak_effect_is_found_that_cuts_hide(fitted: Any, cut: Any) -> None:
    """Smoking raises the pressure by 6 with a spread of 9."""
    assert fitted[0].probability("smoking -- systolic").value > 0.95
    assert cut[0].probability("smoking -- systolic").value < 0.5


SMOKING = TRUE_EFFECTS[0]


@pytest.fixture(scope="module")
def smoking(fitted: Any) -> Effect:
    """What smoking does to the pressure, where the model may say which direction each line has."""
    effect: Effect = fitted[0].effect(SMOKING.cause, SMOKING.outcome, do=SMOKING.do, draws=2_000, seed=1)
    return effect


def test_smoking_raises_the_pressure_by_as_much_as_it_truly_does(smoking: Effect) -> None:
    lower, upper = smoking.interval()
    assert lower <= SMOKING.total <= upper < 2 * SMOKING.total
    assert smoking.positive_probability > 0.7
    assert smoking.negative_probability < 0.01
    assert smoking.mean == pytest.approx(SMOKING.total, rel=0.4)


def test_smoking_acts_directly_and_not_through_the_weight(smoking: Effect) -> None:
    assert smoking.direct is not None
    lower, upper = smoking.direct.interval()
    assert lower <= SMOKING.direct <= upper
    assert smoking.direct.mean == pytest.approx(smoking.mean, abs=0.3)
    for part in smoking.through:
        assert part.probability < 0.5
        assert part.through not in SMOKING.through or abs(part.mean) < 0.2


def test_the_recipe_lives_in_the_model_file(fitted: Any, tmp_path: Path) -> None:
    fitted[0].save(tmp_path / "clinic.dagpost")
    again = DagPosterior.load(tmp_path / "clinic.dagpost")
    assert again.recipe_.to_json() == fitted[0].recipe_.to_json()
    assert again.recipe_.steps_ == fitted[0].recipe_.steps_


def _written(**options: Any) -> Callable[[pd.DataFrame, Path], Any]:
    def write(frame: pd.DataFrame, folder: Path) -> Path:
        frame.to_csv(folder / "table.csv", index=False, **options)
        return folder / "table.csv"

    return write


def _parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


def _texts(frame: pd.DataFrame, missing: str = "") -> pd.DataFrame:
    return frame.map(lambda cell: missing if pd.isna(cell) else f" {cell}").astype(object)


def _narrow(frame: pd.DataFrame, _: Path) -> pd.DataFrame:
    numbers = {"age": "float32", "BMI": "float32", "systolic": "int16", "diastolic": "uint8"}
    return frame.astype(numbers)


SPELLINGS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "other order": lambda frame, _: frame[frame.columns[::-1]],
    "nullable": lambda frame, _: frame.convert_dtypes(),
    "arrow types": lambda frame, _: frame.convert_dtypes(dtype_backend="pyarrow"),
    "narrow numbers": _narrow,
    "floats": lambda frame, _: frame.astype({"age": float, "systolic": "Float64", "diastolic": float}),
    "objects": lambda frame, _: frame.astype(object),
    "text": lambda frame, _: _texts(frame),
    "text with NA": lambda frame, _: _texts(frame, "NA"),
    "categories": lambda frame, _: frame.astype(dict.fromkeys(["sex", "smoking", "diagnosis"], "category")),
    "dates": lambda frame, _: frame.assign(visit_date=pd.to_datetime(frame["visit_date"])),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "csv": _written(),
    "csv with semicolons and decimal commas": _written(sep=";", decimal=","),
    "csv with tabs and decimal commas": _written(sep="\t", decimal=",", na_rep="NA"),
    "csv with decimal points throughout": lambda frame, folder: _written()(frame.astype({"age": float}), folder),
    "parquet": _parquet,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_the_same_table_in_another_spelling_gives_the_same_answer(
    fitted: Any, cut: Any, frame: pd.DataFrame, tmp_path: Path, spelling: str
) -> None:
    spelled = SPELLINGS[spelling](frame, tmp_path)
    model = DagPosterior("bdeu", missing="drop").fit(spelled)
    if spelling != "other order":
        assert model.fitted_.data.fingerprint == cut[0].fitted_.data.fingerprint
        assert as_table(spelled, recipe=Recipe(missing="drop")).fingerprint() == fitted[0].fitted_.data.fingerprint
    edges, expected = model.edge_probabilities_.loc[[*USED], [*USED]], cut[0].edge_probabilities_
    if spelling == "other order":
        np.testing.assert_allclose(edges, expected, atol=1e-12)
    else:
        np.testing.assert_array_equal(edges, expected)
    assert {step.name: step for step in model.recipe_.steps_ if step.use == "number"} == {
        step.name: step for step in cut[0].recipe_.steps_ if step.use == "number"
    }


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_the_settings_of_a_recipe_count(frame: pd.DataFrame, said: Said) -> None:
    recipe = Recipe(drop=["diastolic"], cut={"systolic": 140, "age": (4, "quantile")}, missing="level")
    model = DagPosterior("bdeu", recipe=recipe).fit(frame)
    levels = dict(zip(model.names_, model.fitted_.data.levels, strict=True))
    assert "diastolic" not in levels
    assert levels["systolic"] == ("<140", ">=140")
    assert len(levels["age"]) == 4
    assert levels["smoking"] == ("never", "former", "current", "(missing)")
    assert model.recipe_.dropped_rows_ == 0
    assert DagPosterior("bdeu", recipe=recipe, missing="drop").fit(frame).recipe_.dropped_rows_ > 40
    with said.raises(InputError):
        DagPosterior(recipe=recipe, missing="refuse").fit(frame)


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ({"required": [("patient_id", "age")]}, "required"),
        ({"forbidden": [("age", "patient_id")]}, "forbidden"),
        ({"tiers": [["age"], ["patient_id"]]}, "tiers"),
    ],
)
def test_a_rule_about_a_column_that_was_left_out_is_told_why(frame: pd.DataFrame, rules: Any, where: str) -> None:
    expected = rf"'{where}' names the column 'patient_id', which was left out \(identifier.*keep=\['patient_id'\]"
    with pytest.raises(InputError, match=expected):
        DagPosterior(**rules).fit(frame)


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_numbers_stay_numbers_for_a_continuous_score(frame: pd.DataFrame, said: Said) -> None:
    numbers = frame[["patient_id", "age", "BMI", "systolic", "diastolic"]]
    model = DagPosterior("bge").fit(numbers)
    assert model.names_ == ("age", "BMI", "systolic", "diastolic")
    assert [step.cuts for step in model.recipe_.steps_] == [None] * 5
    holes = numbers.assign(BMI=numbers["BMI"].where(numbers["BMI"] > 22))
    with said.raises(InputError):
        DagPosterior("bge", missing="level").fit(holes)


def test_a_fitted_recipe_decides_nothing_anew(fitted: Any, frame: pd.DataFrame) -> None:
    few = frame.dropna().head(12)
    table = fitted[0].recipe_.transform(few)
    assert table.names == USED
    assert table.levels == fitted[0].fitted_.table.levels
    whole = fitted[0].fitted_.table.columns
    rows = np.flatnonzero(frame["smoking"].notna())[:12]
    assert rows.tolist() == few.index.tolist()
    for column, known in zip(table.columns, whole, strict=True):
        assert column.tolist() == known[:12].tolist()


def test_reading_alone_cuts_nothing(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "clinic.csv", index=False)
    with pytest.warns(DagpostWarning, match="Left out"):
        table = read_table(tmp_path / "clinic.csv")
    assert table.levels[0] is None
    assert table.columns[0].tolist() == frame["age"].tolist()
    assert table.gap_count == int(frame["smoking"].isna().sum())
