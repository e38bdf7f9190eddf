"""Compiled kernels on disk: several processes at once, and the notice that they are being compiled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dagpost
from dagpost._tools import kernels
from dagpost._tools.compile_notice import NOTICE
from dagpost._tools.source_stamps import source_digest, sources_of
from dagpost._tools.wide_floats import _from_logs
from dagpost.data import datasets

# Small kernels, which the processes come to within moments of each other, and a large one.
RUN = """
import numpy as np
from dagpost.engines import ThreadEngine
from dagpost.exact.order import forward_table
weights = np.arange(25.0).reshape(5, 5) ** 1.1
print(forward_table(weights, 1, engine=ThreadEngine(2)).log_evidence.hex())
"""


# One kernel that compiles in no time.
SMALL_RUN = "import numpy; from dagpost._tools.wide_floats import to_logs; print(to_logs(numpy.zeros(1, numpy.int64)))"

# Kernels with helpers whose sums the compiler may reorder.
SUMMING_RUN = """
import hashlib, numpy as np
from dagpost.engines import ThreadEngine
from dagpost.families.numbering import family_count
from dagpost.sampling.dags import rank_families
from dagpost.engines.host.backend import HostBackend
sums = HostBackend(ThreadEngine(1))
weights = 5.0 * np.random.default_rng(12).normal(size=(12, family_count(11, 3)))
found = sums.structure_posterior(weights, 3)
ranked = rank_families(weights, 3)
_, log_joint = sums.sample_layers(found.tables, ranked, 1000, seed=np.random.SeedSequence(1))
for array in (found.families, found.paths, found.tables.graphs, found.tables.completions, log_joint):
    print(hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest())
"""

# A first answer, and the kernels that it needed with the number of signatures of each.
FIRST_ANSWER = """
import json, sys
from dagpost._tools.kernels import Kernel
from dagpost.cli import app
try:
    app(["fit", "coronary.csv", "--counts", "counts", "-o", "model.dagpost", "--quiet", "--json"])
except SystemExit as ended:
    assert not ended.code
needed = {
    repr(value): len(value.dispatcher.overloads)
    for module, content in list(sys.modules.items()) if module.startswith("dagpost.")
    for value in vars(content).values() if isinstance(value, Kernel) and value.is_compiled
}
print(json.dumps(needed), file=sys.stderr)
"""


def start(folder: Path, program: str = RUN) -> subprocess.Popen[str]:
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *(path for path in sys.path if path)]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )


def copy_package(folder: Path) -> Path:
    """A copy of the package: whoever edits the original meanwhile makes no difference."""
    package = folder / "dagpost"
    shutil.copytree(Path(dagpost.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


@pytest.mark.long
def test_processes_that_start_at_once_on_an_empty_cache_succeed_and_say_that_they_compile(
    tmp_path: Path,
) -> None:
    copy_package(tmp_path)
    processes = [start(tmp_path) for _ in range(3)]
    outcomes = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outcomes
    results = {output for output, _ in outcomes}
    assert len(results) == 1
    for _, errors in outcomes:
        # A process that finds everything compiled by the others has nothing to say.
        assert errors in ("", NOTICE + "\n")
    assert len([errors for _, errors in outcomes if errors]) == 1, "it is said once"

    kept = {path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert kept == {".nbi", ".nbc", ".told"}, "something half-written was left behind"
    later = start(tmp_path)
    output, errors = later.communicate(timeout=300)
    assert (later.returncode, errors) == (0, ""), "a later run compiled again"
    assert {output} == results


@pytest.mark.long
def test_what_was_just_compiled_gives_the_same_bits_as_what_was_kept(tmp_path: Path) -> None:
    copy_package(tmp_path)
    outcomes = [start(tmp_path, SUMMING_RUN).communicate(timeout=600) for _ in range(2)]
    assert [NOTICE in errors for _, errors in outcomes] == [True, False], outcomes
    assert outcomes[0][0] == outcomes[1][0]
    assert len(outcomes[0][0].split()) == 5


def test_a_kernel_compiles_again_when_a_module_changes_that_it_is_made_of(tmp_path: Path) -> None:
    """Numba looks at the kernel's own file only; kernels are made of helpers from other files too."""
    package = copy_package(tmp_path)

    def notices() -> bool:
        # As if nobody had been told yet.
        for file in (tmp_path / "cache").glob("*.told"):
            file.unlink()
        process = start(tmp_path, SMALL_RUN)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return NOTICE in errors

    def change(module: str) -> None:
        content = (package / module).read_text()
        (package / module).write_text(f"{content}# A change.\n")

    assert notices()
    assert not notices()
    change("families/transforms.py")
    assert not notices(), "that module has nothing to do with the kernel"
    change("_tools/wide_floats.py")
    assert notices()
    assert not notices()


def test_the_notice_comes_once_and_not_with_every_feature(tmp_path: Path) -> None:
    copy_package(tmp_path)
    other = SMALL_RUN.replace("to_logs(numpy.zeros(1, numpy.int64))", "from_logs(numpy.zeros(1))").replace(
        "import to_logs", "import from_logs"
    )
    outcomes = [start(tmp_path, program).communicate(timeout=300) for program in (SMALL_RUN, other)]
    assert [errors for _, errors in outcomes] == [NOTICE + "\n", ""]
    kernels = {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nbi")}
    assert len(kernels) == 2, "the second run compiled as well"


def test_the_modules_that_a_kernel_is_made_of_are_found_at_any_remove() -> None:
    package = Path(dagpost.__file__).parent
    names = {file.name for file in sources_of(package / "sampling" / "orders.py")}
    # orders.py imports walk.py, which imports transforms.py, which imports wide_floats.py.
    assert {"orders.py", "walk.py", "transforms.py", "wide_floats.py", "kernels.py"} <= names
    assert not {"estimator.py", "tables.py"} & names


#: What the seconds of the notice were measured with.
FIRST_KERNELS = 21


def test_a_first_answer_needs_as_few_kernels_as_the_notice_says(tmp_path: Path) -> None:
    """Each is compiled for one signature. What is kept from other tests is used: the count is what matters."""
    frame = datasets.load("coronary").to_pandas()
    frame.to_csv(tmp_path / "coronary.csv", index=False)
    finished = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    needed = json.loads(finished.stderr.splitlines()[-1])
    assert 10 < len(needed) <= FIRST_KERNELS, sorted(needed)
    assert set(needed.values()) == {1}, needed


def test_kernels_of_other_versions_of_numba_are_stamped_with_all_that_they_are_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "_KNOWN_INSIDE", ())
    function = _from_logs._function  # type: ignore[attr-defined]
    compiled = kernels._dispatcher_of(function, {"cache": True})
    assert compiled._cache._cache_file._source_stamp == source_digest(Path(function.__code__.co_filename))
