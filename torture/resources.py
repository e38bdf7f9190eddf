"""Too little memory, a full disk, a folder that is read-only, two writers at once, an output that nobody reads.

Whatever is missing, a run ends with the right result or with an error of ours, files are whole or not there, and what
is available again is used again. Limits hold for a forked process alone.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from tests.tools.killed_runs import chain_table

from dagpost import Checkpoint, DagPosterior, DagpostError, DagpostWarning, DagSample, write_graphml
from torture.campaign import Campaign, Defect, require
from torture.choices import Choices

# How a forked process says how it ended.
_DONE, _REFUSED, _NO_MEMORY, _NO_DISK, _WRONG = 0, 10, 11, 12, 13


def run_case(seed: int, folder: Path) -> int:
    """One kind of want."""
    choices = Choices(seed)
    kinds = (_full_disk, _small_memory, _read_only, _two_writers, _two_checkpoints, _short_output, _closed_output)
    # A command of its own takes as long as many cases of the others.
    rare = (_short_output, _closed_output)
    kind = choices.pick(kinds)
    if kind in rare and not choices.chance(0.1):
        kind = _full_disk
    return kind(choices, folder)


def _apart(work: Callable[[], None], words: Path) -> int:
    """Do something in a forked process: the way in which it ended."""
    process = os.fork()
    if process == 0:
        status = _WRONG
        try:
            warnings.simplefilter("ignore", DagpostWarning)
            work()
            status = _DONE
        except DagpostError:
            status = _REFUSED
        except MemoryError:
            status = _NO_MEMORY
        except OSError as error:
            status = _NO_DISK
            words.write_text(f"{error!r}"[:200])
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code < 0:
        raise Defect(f"A want does not crash the process\nIt died of {signal.Signals(-code).name}.")
    require(code != _WRONG, "A want ends in an error of ours, or in what Python raises for it")
    return code


@cache
def _model(nodes: int) -> DagPosterior:
    model = DagPosterior(score="bdeu", seed=1, samples=200, threads=1).fit(chain_table(nodes))
    model.own_sample()
    return model


def _limited_files(size: int) -> None:
    """No file of this process may become larger."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _write(kind: str, nodes: int, path: Path) -> None:
    if kind == "model":
        _model(nodes).save(path)
    elif kind == "sample":
        _model(nodes).own_sample().save(path)
    elif kind == "report":
        _model(nodes).report(path)
    else:
        write_graphml(_model(nodes), path)


def _says(kind: str, path: Path) -> object:
    """What a file holds, as far as two of them are told apart."""
    if kind == "model":
        return DagPosterior.load(path).names_
    if kind == "sample":
        return DagSample.load(path).names
    content = path.read_bytes()
    return len(content), content[:2000], content[-2000:]


_WRITTEN = ("model", "sample", "graphml", "report")


def _full_disk(choices: Choices, folder: Path) -> int:
    """A disk that is full leaves the old file, and nothing beside it."""
    kind = choices.pick(_WRITTEN)
    path = folder / "file"
    _write(kind, 3, path)
    old = _says(kind, path)
    _write(kind, 4, folder / "new")
    new, size = _says(kind, folder / "new"), (folder / "new").stat().st_size
    (folder / "new").unlink()
    limit = choices.integer(0, size + 100)

    def work() -> None:
        _limited_files(limit)
        _write(kind, 4, path)

    code = _apart(work, folder / "words")
    (folder / "words").unlink(missing_ok=True)
    found = _says(kind, path)
    law = f"A {kind} file on a full disk is the new one if that was written, else the old one"
    require(found == (new if code == _DONE else old), law, limit, size, code)
    left = sorted(other.name for other in folder.iterdir())
    require(left == ["file"], f"A {kind} file that was not written leaves nothing behind", left, limit, size)
    return 2


def _small_memory(choices: Choices, folder: Path) -> int:
    """With little memory a fit is right, or refused, or Python says that there is none."""
    nodes = choices.integer(8, 13)
    spare = choices.integer(1, 60) << 20
    parts = choices.pick(("fit", "sample"))
    expected = _model(nodes)
    edges = expected.edge_probabilities_.to_numpy()
    graphs = expected.sample(20_000, seed=4).parents if parts == "sample" else None

    def work() -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + spare, used + spare))
        if graphs is not None:
            found = expected.sample(20_000, seed=4).parents
            right = np.array_equal(found, graphs)
        else:
            model = DagPosterior(score="bdeu", seed=1, samples=200, threads=1).fit(chain_table(nodes))
            right = np.array_equal(model.edge_probabilities_.to_numpy(), edges)
        if not right:
            raise AssertionError("another result")

    if not Path("/proc/self/statm").exists():
        return 0
    _apart(work, folder / "words")
    return 1


def _read_only(choices: Choices, folder: Path) -> int:
    """A folder that may not be written to is named in an error, and stays as it is."""
    kind = choices.pick(_WRITTEN)
    place = folder / "closed"
    place.mkdir()
    _write(kind, 3, place / "file")
    old = _says(kind, place / "file")

    def work() -> None:
        if os.getuid() == 0:
            # Nothing is forbidden to root: become somebody else.
            os.setgid(65534)
            os.setuid(65534)
        _write(kind, 4, place / "file")

    folder.chmod(0o755)
    place.chmod(0o555)
    try:
        code = _apart(work, folder / "words")
        law = f"A {kind} file in a folder that is read-only is refused, and stays"
        require(code in (_REFUSED, _NO_DISK), law, code)
        require(_says(kind, place / "file") == old, law)
        require(len(list(place.iterdir())) == 1, law, list(place.iterdir()))
    finally:
        place.chmod(0o755)
    return 1


def _two_writers(choices: Choices, folder: Path) -> int:
    """Of two that write one file at once, one wins, and the file is whole."""
    kind = choices.pick(_WRITTEN)
    path = folder / "file"
    says = []
    for nodes in (3, 4):
        _write(kind, nodes, folder / f"file{nodes}")
        says.append(_says(kind, folder / f"file{nodes}"))
    processes = []
    for nodes in (3, 4):
        process = os.fork()
        if process == 0:
            try:
                for _ in range(5):
                    _write(kind, nodes, path)
                os._exit(0)
            finally:
                os._exit(1)
        processes.append(process)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    require(codes == [0, 0], f"Two can write one {kind} file at once", codes)
    require(_says(kind, path) in says, f"A {kind} file that two have written is that of one of them")
    left = sorted(other.name for other in folder.iterdir())
    require(left == ["file", "file3", "file4"], "Nothing is left beside the file", left)
    return 2


def _two_checkpoints(choices: Choices, folder: Path) -> int:
    """Of two runs with one checkpoint each gets the right result, or is told that the other has it."""
    nodes = choices.integer(9, 11)
    edges = _model(nodes).edge_probabilities_.to_numpy()
    # The disk may be full as well: the run goes on without a checkpoint.
    limits = [choices.pick((None, None, 100, 5_000, 100_000)) for _ in range(2)]
    processes = []
    for limit in limits:
        process = os.fork()
        if process == 0:
            status = _WRONG
            try:
                warnings.simplefilter("ignore", DagpostWarning)
                if limit is not None:
                    _limited_files(limit)
                checkpoint = Checkpoint(folder / "checkpoint", seconds=0)
                model = DagPosterior(score="bdeu", seed=1, samples=200, threads=1)
                found = model.fit(chain_table(nodes), checkpoint=checkpoint).edge_probabilities_.to_numpy()
                status = _DONE if np.array_equal(found, edges) else _WRONG
            except DagpostError:
                status = _REFUSED
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(status)
        processes.append(process)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    law = "Two runs with one checkpoint are right, or told that another has it"
    require(set(codes) <= {_DONE, _REFUSED}, law, codes, limits)
    require(_DONE in codes, "One of two runs with one checkpoint gets through", codes, limits)
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    return 2


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "dagpost.cli", *arguments]


def _short_output(choices: Choices, folder: Path) -> int:
    """A command whose output does not fit says so: never status 0 for half a table."""
    arguments = _command("data", "export", "asia", "--rows", "3000", "--seed", "7")
    whole = subprocess.run(arguments, capture_output=True, check=True).stdout
    limit = choices.integer(0, len(whole) + 5_000)
    with (folder / "output").open("wb") as output:
        ended = subprocess.run(
            arguments, stdout=output, stderr=subprocess.PIPE, check=False, preexec_fn=lambda: _limited_files(limit)
        )
    written = (folder / "output").read_bytes()
    law = "A command ends with status 0 only if its output was written whole"
    require((ended.returncode == 0) == (written == whole), law, limit, len(whole), len(written), ended)
    require(ended.returncode in (0, 2) and b"Traceback" not in ended.stderr, law, ended)
    return 1


def _closed_output(choices: Choices, folder: Path) -> int:  # noqa: ARG001
    """A reader that goes away, as `head` does, is no error, and nothing is said."""
    lines = choices.integer(0, 50)
    arguments = _command("data", "export", "asia", "--rows", "20000", "--seed", "7")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        status = process.wait()
    law = "A command whose reader goes away says nothing"
    require(status == 0 and said == b"", law, status, said)
    return 1


def prepare() -> None:
    """Make the models."""
    for nodes in (3, 4, *range(8, 14)):
        _model(nodes)


CAMPAIGN = Campaign(
    "resources",
    "too little memory, full disks, folders that are read-only, two writers, outputs that nobody reads",
    run_case,
    prepare=prepare,
    seconds=180,
)
