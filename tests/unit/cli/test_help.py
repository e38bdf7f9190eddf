"""Every command explains itself with an example that works, and shells complete what can be completed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run, process
from tests.tools.gapped import answers_to, fitted_to

from dagpost import __version__
from dagpost.cli import choices
from dagpost.engines.registry import ENGINES
from dagpost.explorer.serving import Explorer
from dagpost.methods.registry import METHODS
from dagpost.priors import resolve_prior
from dagpost.scores import SCORES, resolve_score

COMMANDS = (
    "fit",
    "edges",
    "query",
    "effect",
    "sample",
    "best",
    "predict",
    "complete",
    "plot",
    "report",
    "explore",
    "info",
    "demo",
)
GROUP = (("data", "list"), ("data", "export"))
REFERENCE = (("reference", "list"), ("reference", "export"), ("reference", "score"))


def example_of(help_text: str) -> str:
    found = re.search(r"^  Example: (dagpost .*)$", help_text, re.MULTILINE)
    assert found is not None, help_text
    return found[1]


def test_help_lists_every_command_with_a_whole_sentence(run: Run) -> None:
    text = run("--help").stdout
    for command in (*COMMANDS, "data", "reference"):
        assert re.search(rf"^  {command} +\S.*[.?]$", text, re.MULTILINE), command
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == ["Options", "Begin", "Ask", "Show", "Draw", "Check"]
    assert "..." not in text.partition("Begin:")[2]
    assert "--install-completion" in text


def test_the_examples_of_all_helps_run_one_after_the_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who types them in this order needs nothing else."""
    monkeypatch.setattr(Explorer, "wait", Explorer.stop)
    monkeypatch.setattr(Explorer, "open", lambda _: False)
    order = [
        ("data", "list"),
        ("data", "export"),
        ("fit",),
        *((name,) for name in COMMANDS if name != "fit"),
        *REFERENCE,
    ]
    examples = [example_of(run(*command, "--help").stdout) for command in order]
    # That of `complete` is about a table of their own, with gaps.
    fitted_to(answers_to()).save(tmp_path / "votes.dagpost")
    for example in examples:
        assert run(*shlex.split(example)[1:]).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "cases",
        "coronary.csv",
        "coronary.dagpost",
        "coronary.html",
        "coronary.svg",
        "dagpost-demo.dagpost",
        "dagpost-demo.html",
        "completed.csv",
        "graphs.dagpost",
        "votes.dagpost",
    }


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout == f"dagpost {__version__}\n"


def test_the_names_that_shells_complete_are_those_of_the_library() -> None:
    assert list(choices.methods()) == ["auto", *METHODS.names()]
    assert list(choices.engines()) == ["auto", *ENGINES.names()]
    assert [name for name, _ in choices.complete_score("")] == ["auto", *SCORES.names()]
    assert all(resolve_score(name) is not None for name in choices.scores())
    assert all(":" in prior or resolve_prior(prior) is not None for prior in choices.priors())
    assert choices.complete_method("part") == [
        (name, words) for name, words in choices.methods().items() if name.startswith("part")
    ]
    assert [name for name, _ in choices.complete_dataset("i")] == ["iris"]
    assert [name for name, _ in choices.complete_prior("")][:4] == ["auto", "uniform", "indegree", "edge:"]


def test_shells_get_a_script_and_completions(tmp_path: Path) -> None:
    script = process(tmp_path, environment={"_DAGPOST_COMPLETE": "source_bash"})
    assert "complete" in script.stdout
    assert "_DAGPOST_COMPLETE=complete_bash" in script.stdout

    def completions(*words: str) -> list[str]:
        environment = {
            "_DAGPOST_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return process(tmp_path, environment=environment).stdout.split()

    assert completions("dagpost", "fit", "t.csv", "--method", "hyb") == ["hybrid-mcmc"]
    assert completions("dagpost", "fit", "t.csv", "--score", "bg") == ["bge"]
    assert completions("dagpost", "data", "export", "cor") == ["coronary"]
    assert completions("dagpost", "reference", "score", "e.csv", "--case", "tic") == ["tic-tac-toe"]
    assert completions("dagpost", "plot", "m", "--kind", "heat") == ["heat-map"]
