"""What users install: a wheel with everything in it, which works where there is no checkout."""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import dagpost

PROJECT = Path(__file__).resolve().parents[3]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())
PACKAGE = PROJECT / "src" / "dagpost"
#: Endings of files that Python and Numba leave in a checkout.
MADE = {".nbi", ".nbc", ".pyc"}


def run(*command: str | Path, cwd: Path, **settings: str) -> str:
    """Standard output of a command, run without the settings that could lead Python back to the checkout."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | settings
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist; the wheel is made from the unpacked sdist, so whatever it needs is in there."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, PROJECT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture
def empty_environment(tmp_path: Path) -> Path:
    """The `bin` folder of a new virtual environment with pip and nothing else."""
    venv.create(tmp_path / "environment", with_pip=True)
    return tmp_path / "environment" / ("Scripts" if os.name == "nt" else "bin")


def borrow_dependencies(binaries: Path) -> None:
    """Make the libraries of this environment, but not this checkout, importable in another one.

    A path file adds a folder without reading the path files in it, and one of those leads to the checkout.
    """
    site_packages = run(
        binaries / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=binaries
    )
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site_packages.strip()) / "borrowed.pth").write_text("\n".join(folders) + "\n")


def check_installed_demo(binaries: Path, folder: Path) -> None:
    """The demo runs from the installed files, far from the checkout, and gives the known evidence."""
    where = run(binaries / "python", "-c", "import dagpost; print(dagpost.__file__)", cwd=folder).strip()
    assert Path(where).is_relative_to(binaries.parent)
    assert run(binaries / "dagpost", "--version", cwd=folder).split() == ["dagpost", dagpost.__version__]
    result = json.loads(run(binaries / "dagpost", "demo", "--json", cwd=folder))
    assert result["log_evidence"] == pytest.approx(-6729.4234, abs=1e-3)
    assert "M. Work" in run(binaries / "dagpost", "demo", cwd=folder)


@pytest.mark.long  # compiles everything anew
def test_demo_runs_from_the_wheel_in_another_environment(
    distributions: tuple[Path, Path], empty_environment: Path, tmp_path: Path
) -> None:
    borrow_dependencies(empty_environment)
    run(
        *(empty_environment / "python", "-m", "pip", "install", "--no-deps", "--no-index", distributions[0]),
        cwd=tmp_path,
    )
    check_installed_demo(empty_environment, tmp_path)


@pytest.mark.long
def test_demo_runs_from_the_wheel_in_an_empty_environment(
    distributions: tuple[Path, Path], empty_environment: Path, tmp_path: Path
) -> None:
    """Everything comes from the package registry, in the newest versions that the wheel allows."""
    run(empty_environment / "python", "-m", "pip", "install", distributions[0], cwd=tmp_path)
    check_installed_demo(empty_environment, tmp_path)


@pytest.mark.long  # compiles the kernels of all common commands
def test_a_wheel_with_compiled_kernels_answers_without_compiling(empty_environment: Path, tmp_path: Path) -> None:
    compiled, cache = tmp_path / "compiled", tmp_path / "cache"
    run(sys.executable, PROJECT / "tools" / "compile_ahead.py", compiled, cwd=tmp_path)
    build = (sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, PROJECT)
    run(*build, cwd=tmp_path, DAGPOST_COMPILED=str(compiled))
    (wheel,) = tmp_path.glob("*.whl")
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name
    borrow_dependencies(empty_environment)
    run(empty_environment / "python", "-m", "pip", "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    run(empty_environment / "dagpost", "data", "export", "coronary", "-o", "coronary.csv", cwd=tmp_path)
    fit = (empty_environment / "dagpost", "fit", "coronary.csv", "--counts", "counts")
    assert "M. Work" in run(*fit, cwd=tmp_path, NUMBA_CACHE_DIR=str(cache))
    assert list(cache.rglob("*.nbc")) == []


def test_wheel_holds_the_whole_package_and_nothing_else(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[0]) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    there = {
        file.relative_to(PACKAGE.parent).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and file.suffix not in MADE and "__pycache__" not in file.parts
    }
    assert held == there
    assert "dagpost/py.typed" in held


def test_sdist_holds_what_a_contributor_needs(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[1]) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    needed = [
        "Makefile",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "CODE_OF_CONDUCT.md",
        "requirements.lock",
    ]
    assert {*needed, "tests/naive/structure.py", "benchmarks/run.py", "docs/start.md", "tools/floor_plan.py"} <= held
    made = [name for name in held if name.startswith((".venv", "docs/_build")) or Path(name).suffix in MADE]
    assert made == []


def test_version_comes_from_one_place(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[0]) as wheel:
        (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        in_wheel = email.message_from_bytes(wheel.read(metadata))["Version"]
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert in_wheel == dagpost.__version__
    literal = re.compile(rf"""['"]{re.escape(dagpost.__version__)}['"]""")
    holders = [file.name for file in PACKAGE.rglob("*.py") if literal.search(file.read_text())]
    assert holders == ["_version.py"]


def test_changelog_and_citation_know_the_version() -> None:
    assert f"## [{dagpost.__version__}]" in (PROJECT / "CHANGELOG.md").read_text()
    assert f"\nversion: {dagpost.__version__}\n" in (PROJECT / "CITATION.cff").read_text()


def test_every_pin_is_exact_and_every_dependency_is_pinned() -> None:
    pins = [
        line
        for lock in ("requirements.lock", "requirements-docs.lock")
        for line in (PROJECT / lock).read_text().splitlines()
        if not line.startswith("#")
    ]
    assert [pin for pin in pins if not re.fullmatch(r'[\w.-]+==[\w.+]+(; python_version < "3\.\d+")?', pin)] == []
    pinned = {_plain_name(pin) for pin in pins}
    groups = PYPROJECT["project"]["optional-dependencies"]
    # What needs a device cannot be installed where there is none; nothing that `make` runs needs it.
    installed = [name for group, names in groups.items() if group != "cuda" for name in names]
    asked = [*PYPROJECT["project"]["dependencies"], *installed]
    assert {_plain_name(name) for name in asked} <= pinned


def _plain_name(requirement: str) -> str:
    """The name of a requirement as registries compare it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[=<>~!\[; ]", requirement)[0]).lower()
