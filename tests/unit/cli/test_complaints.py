"""Wrong use and bad input: one readable message in the words of the command line, status 2, and nothing written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from tests.tools.cli_checks import ESCAPE_CODE, Run, one_message, write_table
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError, datasets
from dagpost._tools.spelling import bare, either, setting
from dagpost.checkpoints.differences import difference
from dagpost.cli.messages import in_words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "missing.csv"], r"missing\.csv: there is no such file"),
        (["fit", "coronary"], r"bundled data set of that name: dagpost data export coronary -o coronary\.csv"),
        (["fit", "."], r"\.: is a folder"),
        (["fit", "table.csv", "--ess", "-1"], r"--ess must be a number above 0.*Got -1\.0"),
        (["fit", "table.csv", "--ess", "nan"], r"--ess must be a number above 0.*Got nan"),
        (
            ["fit", "table.csv", "--ess", "2", "--score", "k2"],
            r"--ess is the equivalent sample size .*; k2 has none",
        ),
        (
            ["fit", "table.csv", "--prior", "magic"],
            r"--prior must be one of auto, uniform, indegree, edge:P\b.*\. Got 'magic'",
        ),
        (["fit", "table.csv", "--prior", "edge:2"], r"edge:P with P between 0 and 1, .*Got 'edge:2'"),
        (["fit", "table.csv", "--method", "dds"], r"Set --modularity order, or choose another method"),
        (["fit", "table.csv", "--method", "parttion"], r"--method has no 'parttion'\. Did you mean 'partition-mcmc'\?"),
        (["fit", "table.csv", "--method", "dds:chains=2"], r"The method dds has no settings"),
        (["fit", "table.csv", "--method", "trees:spanning=perhaps"], r"trees:spanning must be true or false"),
        (["fit", "table.csv", "--method", "order-mcmc:chains"], r"written order-mcmc:setting=value,setting=value"),
        (["fit", "table.csv", "--method", "order-mcmc:magic=1"], r"no setting 'magic'\. It has: chains, thinning"),
        (["fit", "table.csv", "--method", "order-mcmc:chains=1,chains=2"], r"'chains' of order-mcmc is given twice"),
        (["fit", "table.csv", "--method", "order-mcmc:chains=A>B"], r"chains must be a whole number\. Got 'A>B'"),
        (
            ["fit", "table.csv", "--method", "partition-mcmc:chains=0"],
            r"partition-mcmc:chains must be a whole number from 1 to 1,000\. Got 0",
        ),
        (["fit", "table.csv", "--method", "given-order:order=A>B"], r"lacks 'C'"),
        (["fit", "table.csv", "--max-parents", "99"], r"--max-parents must be a whole number from 0 to 12\. Got 99"),
        (["fit", "table.csv", "--samples", "0"], r"--samples must be a whole number of at least 1\. Got 0"),
        (["fit", "table.csv", "--seed", "-3"], r"--seed must be a whole number of at least 0\. Got -3"),
        (["fit", "table.csv", "--counts", "n"], r"--counts names the column 'n', which is not there"),
        (["fit", "table.csv", "--required", "A > B"], r'edge of --required is written "A -> B", .* Got \'A > B\''),
        (["fit", "table.csv", "--required", "A -> Z"], r"there is no column 'Z'"),
        (["fit", "table.csv", "--bins", "1", "--discretise", "quantile"], r"--bins must be .*Got 1"),
        (["fit", "table.csv", "--bins", "0", "--discretise", "quantile"], r"--bins must be .*Got 0"),
        (["fit", "table.csv", "--tier", "A,,B"], r"A tier is written A,B\. Got 'A,,B'"),
        (["fit", "table.csv", "--tier", "A", "--tier", "Z"], r"'Z'"),
        (["fit", "table.csv", "--tier", "A,B"], r"One --tier alone says nothing"),
        (
            ["fit", "table.csv", "--tier", "A", "--tier", "*_30"],
            r"--tier has .\*_30., but no column has a name",
        ),
        (["fit", "table.csv", "--engine", "autos"], r"There is no engine 'autos'\. Did you mean 'auto'\?"),
        (["fit", "table.csv", "--engine", "cuda", "--cluster", "tcp://x:1"], r"--cluster is for --engine dask"),
        (["fit", "table.csv", "--tls-cert", "table.csv"], r"--tls-key are for --cluster tls://"),
        (
            ["fit", "table.csv", "--cluster", "tls://127.0.0.1:1", "--tls-cert", "table.csv"],
            r"--tls-ca-file is missing: --tls-ca-file and --tls-cert go together",
        ),
        (
            ["fit", "table.csv", "--cluster", "tls://127.0.0.1:1", "--tls-ca-file", "gone.pem", "--tls-cert", "x"],
            r"--tls-ca-file gone\.pem: there is no such file",
        ),
        (
            ["fit", "table.csv", "--cluster", "tls://127.0.0.1:1"],
            r"none was given\. Give --tls-ca-file, --tls-cert",
        ),
        (
            [
                "fit",
                "table.csv",
                *["--cluster", "tls://127.0.0.1:1", "--tls-ca-file", "table.csv", "--tls-cert", "table.csv"],
            ],
            r"The certificates for .* cannot be used \(.*\)\. Give files in PEM format",
        ),
        (["fit", "table.csv", "--threads", "0"], r"--threads must be a whole number of at least 1 .*Got 0 instead"),
        (
            ["fit", "missing.csv", "--threads", "100000"],
            r"at most [\d,]+\. Got 100000 instead; there (is|are) \d+ core",
        ),
        (["sample", "model.dagpost", "--threads", "100000", "-o", "x"], r"--threads must be .* Got 100000 instead"),
        (["fit", "table.csv", "--required", "A -> Trees(oak_x)"], r"edge A -> Trees\(oak_x\), .* 'Trees\(oak_x\)'"),
        (["query", "model.dagpost", "Trees(method='dds') -> A"], r"no Trees\( \)\..*\n  Trees\(method='dds'\) -> A\n"),
        (["fit", "table.csv", "--required", "A -> A"], r"--required has the edge A -> A: no node is its own parent"),
        (["fit", "table.csv", "--tier", "A", "--tier", "A"], r"--tier has 'A' twice"),
        (["fit", "table.csv", "--columns", "A,Bee"], r"--columns names 'Bee', which is not a column"),
        (["fit", "table.csv", "--drop", "AA"], r"--drop names 'AA', which is not a column\. Did you mean 'A'\?"),
        (["fit", "table.csv", "--keep", "A,,B"], r"--keep takes names of columns, as A,B\. Got 'A,,B'"),
        (["fit", "table.csv", "--cut", "A"], r"--cut is written COLUMN=NUMBER.*Got 'A'"),
        (["fit", "table.csv", "--cut", "A=low"], r"--cut is written COLUMN=NUMBER.*Got 'A=low'"),
        (["fit", "table.csv", "--cut", "A=4:median"], r"Rules are quantile, uniform, kmeans\. Got 'A=4:median'"),
        (["fit", "table.csv", "--cut", "A=0.5", "--cut", "A=1"], r"--cut is given twice for the column 'A'"),
        (["fit", "table.csv", "--cut", "A=2,1"], r"--cut must be numbers in increasing order.*'A'"),
        (["fit", "table.csv", "--cut", "Z=1"], r"--cut names 'Z', which is not a column"),
        (["fit", "table.csv", "--recipe", "table.csv"], r"table\.csv: is not a recipe, or not written as TOML"),
        (["fit", "table.csv", "--recipe", "x.toml", "--drop", "A"], r"With --recipe, .*leave out --drop"),
        (["info", "table.csv", "--recipe", "table.csv"], r"'table\.csv' is there already and is not a dagpost recipe"),
        (["info", "model.dagpost", "--recipe", "r.toml"], r"--recipe is for tables"),
        (["fit", "model.dagpost"], r"'model\.dagpost' is a model that dagpost has made, not a table\. Ask it with"),
        (["predict", "model.dagpost", "model.dagpost"], r"is a model that dagpost has made, not a table"),
        (["edges", "."], r"'\.' is a folder, not a file"),
        (["data", "export", "iris", "--rows", "5"], r"--rows and --seed are for data that is drawn"),
        (["fit", "table.csv", "-o", "nowhere/m"], r"There is no folder 'nowhere'"),
        (["edges", "missing"], r"There is no file 'missing'"),
        (["edges", "table.csv"], r"'table\.csv' is not a dagpost file"),
        (["fit", "table.csv", "--method", "augmentation:graphs=7"], r"augmentation:graphs must be a divisor of 100"),
        (["sample", "model.dagpost", "-n", "0", "-o", "x"], r"--number must be a whole number of at least 1\. Got 0"),
        (["sample", "model.dagpost", "-n", "5", "--seed", "-1", "-o", "x"], r"--seed must be .*Got -1"),
        (["sample", "model.dagpost", "-n", "5", "--precision", "0.1", "-o", "x"], r"not for both"),
        (["sample", "model.dagpost", "--precision", "2", "-o", "x"], r"--precision must be a number between 0 and 1"),
        (["sample", "model.dagpost", "-n", "99999999999999", "-o", "x"], r"memory"),
        (["sample", "model.dagpost", "-n", "5", "-o", "nowhere/x"], r"There is no folder 'nowhere'"),
        (
            ["query", "model.dagpost", "A ~> Bee"],
            r"There is no variable 'Bee'\..*\n  A ~> Bee\n       \^",
        ),
        (["query", "model.dagpost", "A ~>"], r"Expected a variable, but the text ends here"),
        (["query", "model.dagpost", "A -> B", "--confidence", "95"], r"--confidence must be .*Got 95"),
        (["query", "table.csv", "A -> B"], r"is not a dagpost file"),
        (["best", "model.dagpost", "--ess", "3"], r"--ess is for tables"),
        (["best", "model.dagpost", "-k", "0"], r"--number must be a whole number of at least 1"),
        (["best", "missing.csv"], r"there is no such file"),
        (["predict", "model.dagpost", "missing.csv"], r"there is no such file"),
        (["predict", "model.dagpost", "table.csv", "--target", "Z"], r"There is no variable 'Z'"),
        (["predict", "model.dagpost", "table.csv", "--interventions", "Z"], r"--interventions names the column 'Z'"),
        (["report", "missing"], r"There is no file 'missing'"),
        (["report", "model.dagpost", "-o", "nowhere/x.html"], r"There is no folder 'nowhere'"),
        (["info", "missing.csv"], r"there is no such file"),
        (["data", "export", "irish"], r"Did you mean 'iris'\?"),
        (["data", "export", "asia", "--rows", "0"], r"must be a whole number of at least 1\. Got 0"),
        (["data", "export", "asia", "-o", "table.csv"], r"'table\.csv' is there already"),
        (["demo", "-o", "table.csv"], r"'table\.csv' is there already and is not a dagpost report"),
        (["demo", "-o", "new.dagpost"], r"where the model would go.*such as new\.html"),
        (["best", "model.dagpost", "--bins", "4"], r"--bins is for tables"),
        (["info", "model.dagpost", "--counts", "A"], r"--counts is for tables; 'model\.dagpost' is not a table"),
        (["sample", "model.dagpost", "--confidence", "7"], r"--confidence must be a number between 0 and 1"),
        (["fit", "table.csv", "-o", 250 * "a"], r"'a+'\.\.\. is too long for a file: at most 247 bytes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_readable_message_and_status_2(
    arguments: list[str], message: str, run: Run, model: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    assert re.search(message, one_message(run(*arguments, status=2)))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A,B\n1,\n2,3\n", r"only one column, 'A', is left.*'B' \(constant.*--keep"),
        ("A,A\n1,2\n2,3\n", "'A'"),
        ("A,B\n1.5,0.2\n2.5,inf\n0.3,0.4\n", "'B' holds inf in row 2.*must be finite"),
        ("A\n1\n2\n", "only one column"),
        ("A,B\n", "empty"),
        ("", "empty"),
        ("A,B\n1,2,3\n", "row|line"),
        ("A,B\n1,x\x00y\n", ""),
    ],
)
@pytest.mark.parametrize("command", ["fit", "best"])
def test_bad_tables_are_one_readable_message_and_status_2(command: str, text: str, message: str, run: Run) -> None:
    assert re.search(message, one_message(run(command, "-", status=2, standard_input=text)))


@pytest.mark.parametrize("command", ["fit", "best"])
def test_too_few_complete_rows_are_said_with_other_ways(command: str, run: Run) -> None:
    text, message = "A,B\n1,nan\n2,3\n,4\n", r"Of 3 rows, 1 has a value in every column.*--drop.*--missing augment"
    said = one_message(run(command, "-", "--missing", "drop", status=2, standard_input=text))
    assert re.search(message, said)


def test_levels_that_were_not_seen_are_named_with_the_option_that_helps(
    run: Run, model: str, tmp_path: Path, said: Said
) -> None:
    few = pd.read_csv(write_table(tmp_path, "new.csv"))
    few.loc[7, "C"] = 5
    few.to_csv("few.csv", index=False)
    message = one_message(run("predict", model, "few.csv", status=2))
    said(message)
    write_table(tmp_path, "new.csv", C=5)
    message = one_message(run("predict", model, "new.csv", status=2))
    said(message)
    assert "--unseen" not in message, "the prior alone would answer"
    assert len(run("predict", model, "new.csv", "--unseen", "prior").stdout.splitlines()) == 400


def test_what_differs_is_said_when_chains_cannot_go_on(run: Run, chained: str, model: str, said: Said) -> None:
    run("sample", chained, "-n", "200", "--seed", "4", "-o", "some", "-q")
    run(
        "fit", "table.csv", "--ess", "3", "--method", "structure-mcmc:chains=2", "--samples", "200", "-o", "other", "-q"
    )
    message = one_message(run("sample", "other", "-n", "400", "--resume", "some", status=2))
    said(message)
    assert "prior is" not in message
    fewer = one_message(run("sample", chained, "-n", "100", "--resume", "some", status=2))
    said(fewer)
    assert "Only chains" in one_message(run("sample", model, "-n", "400", "--resume", "some", status=2))


def test_a_model_is_not_taken_for_a_sample_nor_the_other_way(run: Run, model: str, said: Said) -> None:
    run("sample", model, "-n", "5", "--seed", "1", "-o", "graphs")
    said(one_message(run("sample", "graphs", "-n", "5", "-o", "x", status=2)))


def test_threads_beyond_reason_are_refused_in_python_too(said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(score="bdeu", threads=100_000).fit(datasets.load("iris"))


def test_a_result_that_was_cut_short_is_said_to_be(run: Run, model: str, tmp_path: Path) -> None:
    (tmp_path / "cut.dagpost").write_bytes((tmp_path / model).read_bytes()[:700])
    for arguments in (
        ["fit", "cut.dagpost"],
        ["best", "cut.dagpost"],
        ["edges", "cut.dagpost"],
        ["info", "cut.dagpost"],
    ):
        message = one_message(run(*arguments, status=2))
        assert re.search("'cut.dagpost' is .* cut short or damaged.* Make it again", message)
        assert "zip" not in message


def test_what_is_no_command_option_or_choice_is_status_2(run: Run, model: str) -> None:
    for arguments, message in (
        (["magic"], "magic"),
        (["fit"], ""),
        (["query", model], "STATEMENT"),
        (["fit", "table.csv", "--magic"], "--magic"),
        (["fit", "table.csv", "--score", "magic"], "'bdeu'"),
        (["fit", "table.csv", "--modularity", "both"], "'structure', 'order'"),
        (["fit", "table.csv", "--discretise", "magic"], "'quantile'"),
        (["fit", "table.csv", "--seed", "one"], "'--seed': 'one' is not a whole number."),
        (["fit", "table.csv", "--samples=ten"], "'ten' is not a whole number."),
        (["fit", "table.csv", "--ess", "one"], "--ess must be a number, average, or several as 1,5,10. Got 'one' "),
        (["best", "table.csv", "-kten"], "'ten' is not a whole number."),
        (["edges", model, "--minimum", "nan"], "--minimum must be between 0 and 1. Got nan"),
        (["edges", model, "--minimum", "1.5"], "--minimum must be between 0 and 1. Got 1.5"),
        (["predict", model, "table.csv", "--unseen", "magic"], "'error', 'prior'"),
    ):
        result = run(*arguments, status=2)
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        assert "alue error" not in result.stderr


def test_names_from_the_data_are_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    frame = pd.read_csv(tmp_path / write_table(tmp_path))
    frame.columns = ["a\x1b[31mred", "b [bold]x[/bold]", "c\x07%s{0}\x9b31m\x7f\u202eé\U000e0001"]
    frame.to_csv(tmp_path / "odd.csv", index=False)
    for result in (
        run("fit", "odd.csv", "-o", "m"),
        run("edges", "m"),
        run("info", "m"),
        run("info", "odd.csv"),
        run("best", "m"),
        run("query", "m", '"a\x1b[31mred" ~> "b [bold]x[/bold]"'),
        run("query", "m", "zz -> a", status=2),
        run("query", "m", "\x1b[31m", status=2),
        run("fit", "odd.csv", "--counts", "zz", status=2),
        run("fit", "a\x1b[31m.csv", status=2),
        run("predict", "m", write_table(tmp_path), status=2),
    ):
        assert not ESCAPE_CODE.search(result.stdout + result.stderr)
    assert "a\\x1b[31mred" in run("edges", "m").stdout
    assert "b [bold]x[/bold]" in run("edges", "m").stdout
    shown = run("edges", "m", "--json").stdout
    assert not ESCAPE_CODE.search(shown)
    assert json.loads(shown)["names"] == list(frame.columns)
    assert list(frame.columns) == list(DagPosterior.load(tmp_path / "m").names_)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            f"Use {setting('method', 'dds')} with {setting('modularity', 'order')}, or fewer variables.",
            "Use --method dds with --modularity order, or fewer variables.",
        ),
        (f"Raise {bare('max_parents')} to 3.", "Raise --max-parents to 3."),
        (f"{either('sample.diagnostics() does it', 'draw again for that')}.", "draw again for that."),
        (
            f"({difference('required', [], [['A', 'B']])}; {difference('tiers', [['A']], None)})",
            "(--required: none there, A -> B here; --tier: A there, none here)",
        ),
        (
            f"({difference('graphs', 5, 6)}; {difference('resumed_from', 32 * '0', None)})",
            "(--number: 5 there, 6 here; --resume: others there than here)",
        ),
        (difference("data", 32 * "0", 32 * "1"), "data: others there than here"),
    ],
)
def test_parameters_are_called_options(message: str, words: str) -> None:
    assert in_words(message) == words


def test_a_method_with_settings_is_named_as_the_option_takes_it(run: Run, table: str, said: Said) -> None:
    run("fit", table, "--method", "bootstrap:replicates=20", "-o", "m", "-q")
    message = one_message(run("sample", "m", "-n", "500", status=2))
    said(message)


def test_names_from_the_data_are_left_as_they_are(run: Run, tmp_path: Path, said: Said) -> None:
    """Even where they look like settings of the library."""
    names = ["seed", "method='dds'", "K2(depth_m)", "The 'seed' must be an int. Got "]
    frame = pd.DataFrame({name: [0, 1] * 20 for name in names}).assign(**{names[2]: 0})
    frame.to_csv(tmp_path / "odd.csv", index=False)
    heard = run("fit", "odd.csv", "-o", "m").stderr
    said(heard)
    message = one_message(run("fit", "odd.csv", "--required", "seed -> Trees(oak)", "-q", status=2))
    said(message)
    assert repr(names[3].strip()) in one_message(run("query", "m", "score='bge' -> seed", status=2))


def test_more_threads_than_anyone_means_are_one_sentence(
    run: Run, table: str, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setattr("dagpost.engines.threads.available_cores", lambda: 2)
    said(one_message(run("fit", table, "--threads", "257", status=2)))


def test_what_differs_from_an_unfinished_run_is_said_in_options(
    run: Run, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setenv("DAGPOST_CHECKPOINT_SECONDS", "0")
    monkeypatch.setattr("dagpost.checkpoints.Checkpoint.remove", lambda _: None)
    run("fit", table, "-o", "m", "-q")
    settings = ["--prior", "edge:0.2", "--required", "A -> B", "--tier", "A", "--tier", "B,C"]
    method = ["--method", "structure-mcmc:chains=2,burn_in=7"]
    message = one_message(run("fit", table, "-o", "m", *settings, *method, status=2))
    said(message)
    assert not re.search(r"[\[\]{}_]|Prior", message)


def test_words_are_refused_by_a_score_for_numbers(run: Run) -> None:
    result = run("fit", "-", "--score", "bge", "-q", status=2, standard_input="A,B\nx,0.2\ny,3.1\nx,0.4\ny,0.5\n")
    assert re.search("'A' is not made of numbers.*use a discrete score such as --score bdeu", one_message(result))


def test_numbers_are_cut_for_a_discrete_score_with_a_notice(run: Run, said: Said) -> None:
    result = run("fit", "-", "--score", "bdeu", standard_input="A,B\n1.5,0.2\n2.5,3.1\n0.3,0.4\n")
    said(result.stderr)
