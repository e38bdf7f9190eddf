"""Model files, sample files and checkpoint folders from strangers: damaged, or changed by someone who knows the format.

A file of every kind is changed, then opened and asked what a user would ask. Where bytes were changed, cut off or
exchanged, it must be refused, or hold exactly what it held before. Where checksums were made anew after the change, it
must be refused, or answer with probabilities that can be. Nothing may crash, hang, or raise what is not an error of
ours. A damaged checkpoint must lead to the result of the whole run.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from typer.testing import CliRunner

from dagpost import Checkpoint, DagPosterior, DagSample
from dagpost.checkpoints.folder import MANIFEST
from dagpost.cli import app
from dagpost.errors import DagpostError
from dagpost.files import archive
from torture.campaign import Campaign, Defect, require
from torture.choices import Choices
from torture.file_seeds import MORE_GRAPHS, FolderSeed, Seed, file_seeds, folder_seeds, table

_FILES: list[Seed] = []
_FOLDERS: list[FolderSeed] = []

Arrays = dict[str, NDArray[Any]]

#: What a number in an array may become.
_FLOATS = (0.0, -1.0, 1.0, 0.5, 2.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e18, -1e6, 700.0)
_WHOLES = (0, 1, 2, 3, 7, 64, 255, 2**31, 2**63 - 1, 2**64 - 1, -1, -(2**63))
_KINDS = ("f8", "f4", "f2", "i8", "i1", "u8", "u1", ">f8", ">u8", "c16", "?", "U3", "M8[s]", "g", "O", "V8")
#: What a JSON value may become.
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    3,
    10**9,
    2**63,
    10**400,
    0.5,
    -0.5,
    1e308,
    math.nan,
    math.inf,
    "",
    "A",
    "V1",
    "no such thing",
    "\ud800",
    "\x1b[31m\x00",
    "x" * 5000,
    [],
    {},
    [[]],
    [None],
    [0],
    ["A", "B"],
    {"kind": "BDeu"},
    {"kind": "PartitionMCMC", "chains": 3},
    {"kind": "Nothing", "package": "nowhere"},
)


def prepare() -> None:
    """Make the files and folders; kernels are loaded by the way."""
    if not _FILES:
        _FILES.extend(file_seeds())
        _FOLDERS.extend(folder_seeds())
        _load_kernels()


def _load_kernels() -> None:
    """Use every file once: whatever is loaded late is loaded before the workers are forked."""
    once: list[Any] = [_report, _show, _save]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "seed.dagpost"
        for seed in _FILES:
            path.write_bytes(seed.content)
            for operation in set(_operations(seed)) - set(once):
                _allowed(lambda seed=seed, operation=operation: operation(_load(path, seed), seed, path))  # type: ignore[misc]
        for operation in once:
            operation(_load(path, seed), seed, path)


def run_case(seed: int, folder: Path) -> int:
    """Change one file or folder, and use it."""
    choices = Choices(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if choices.chance(0.15):
            return _folder_case(choices, choices.pick(_FOLDERS), folder)
        return _file_case(choices, choices.pick(_FILES), folder / "changed.dagpost")


# Files


def _file_case(choices: Choices, seed: Seed, path: Path) -> int:
    if choices.chance(0.25):
        path.write_bytes(_damaged(choices, seed.content))
        return _unchanged_or_refused(seed, path)
    about, arrays = json.loads(json.dumps(seed.about)), dict(seed.arrays)
    raw: dict[str, bytes] = {}
    for _ in range(choices.integer(1, 2)):
        if choices.chance(0.5):
            about = _changed_json(choices, about)
        else:
            _change_arrays(choices, arrays, raw)
    if not isinstance(about, dict):
        about = {"dagpost": seed.kind, "format": archive.FORMAT_VERSION}
    _write(path, about, arrays, raw, checked=choices.chance(0.5))
    loaded = _allowed(lambda: _load(path, seed))
    checks = 1
    _info(path)
    if loaded is None:
        return checks + 1
    operations = _operations(seed)
    for _ in range(4):
        operation = choices.pick(operations)
        _allowed(lambda operation=operation: operation(loaded, seed, path))  # type: ignore[misc]
        checks += 1
    return checks + 1


def _load(path: Path, seed: Seed) -> Any:
    return DagPosterior.load(path, threads=1, progress=False) if seed.kind == "model" else DagSample.load(path)


def _allowed(work: Callable[[], Any]) -> Any:
    """What `work` gives; None where it refuses with an error of ours."""
    try:
        return work()
    except DagpostError:
        return None


def _unchanged_or_refused(seed: Seed, path: Path) -> int:
    """A damaged file is refused, or says what it said."""
    found = _allowed(lambda: archive.read_archive(path, seed.kind))
    if found is not None:
        about, arrays = found
        require(about == seed.about, "A damaged file says something else", seed.name)
        same = arrays.keys() == seed.arrays.keys() and all(
            array.dtype == seed.arrays[name].dtype and array.tobytes() == seed.arrays[name].tobytes()
            for name, array in arrays.items()
        )
        require(same, "A damaged file holds other numbers", seed.name)
    _allowed(lambda: _load(path, seed))
    _info(path)
    return 2


def _damaged(choices: Choices, content: bytes) -> bytes:
    damaged = bytearray(content)
    how = choices.pick(("bits", "cut", "exchange", "zeros", "twice"))
    if how == "bits":
        for _ in range(choices.integer(1, 4)):
            damaged[choices.integer(0, len(damaged) - 1)] ^= 1 << choices.integer(0, 7)
        return bytes(damaged)
    start = choices.integer(0, len(damaged) - 1)
    if how == "cut":
        return bytes(damaged[:start])
    length = choices.integer(1, 200)
    if how == "twice":
        return bytes(damaged[:start] + damaged[start : start + length] + damaged[start:])
    other = choices.integer(0, len(damaged) - 1)
    piece = bytes(length) if how == "zeros" else bytes(damaged[other : other + length])
    return bytes(damaged[:start] + piece + damaged[start + len(piece) :])


# Changes by someone who knows the format


def _change_arrays(choices: Choices, arrays: Arrays, raw: dict[str, bytes]) -> None:
    name = choices.pick(sorted(arrays))
    array = arrays[name]
    how = choices.pick(("number", "near", "near", "near", "shape", "kind", "exchange", "remove", "header", "more"))
    if how == "near" and array.size:
        # Changes that no rule of a single number can see.
        arrays[name] = array.copy()
        flat = arrays[name].reshape(-1)
        place, other = choices.integer(0, flat.size - 1), choices.integer(0, flat.size - 1)
        if choices.chance(0.5):
            flat[place], flat[other] = flat[other], flat[place]
        elif flat.dtype.kind == "f":
            flat[place] *= choices.pick((1.0 + 1e-12, 0.999, 0.5, 0.0))
        else:
            flat[place] ^= flat.dtype.type(1 << choices.integer(0, 2))
        return
    if how == "number" and array.size:
        changed = array.copy()
        for _ in range(choices.integer(1, 3)):
            place = choices.integer(0, changed.size - 1)
            value = choices.pick(_FLOATS if changed.dtype.kind == "f" else _WHOLES)
            if changed.dtype.kind != "f":
                value = int(value) & (2 ** (8 * changed.itemsize) - 1)
                changed.reshape(-1).view(f"u{changed.itemsize}")[place] = value
            else:
                changed.reshape(-1)[place] = value
        arrays[name] = changed
    elif how == "shape":
        arrays[name] = choices.pick(
            (array.reshape(-1), array[..., None], array[:1], array[:0], np.repeat(array, 2, axis=0), array.T)
        ) if array.ndim else array[None]  # fmt: skip
    elif how == "kind":
        kind = choices.pick(_KINDS)
        with np.errstate(all="ignore"):
            raw[name] = _npy(array.astype("u8").astype(kind) if kind in ("V8", "M8[s]") else array.astype(kind))
    elif how == "exchange":
        partner = choices.pick(sorted(arrays))
        arrays[name], arrays[partner] = arrays[partner], arrays[name]
    elif how == "remove":
        del arrays[name]
    elif how == "header":
        shape = choices.pick(
            ("(-1,)", "(2, 3", "(1000000000000,)", "(4294967296, 4294967296)", "()", "((1,),)", "(True,)")
        )
        head = f"{{'descr': '<f8', 'fortran_order': {choices.pick(('False', 'True', '1'))}, 'shape': {shape}, }}"
        head = head.ljust(117) + "\n"
        raw[name] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.tobytes()
    else:
        arrays[f"more{choices.integer(0, 9)}"] = array


def _changed_json(choices: Choices, about: Any) -> Any:
    """The description with a value, somewhere, replaced, removed, exchanged or nested deeply."""
    path: list[tuple[Any, Any]] = []
    value = about
    while isinstance(value, dict | list) and value and (not path or choices.chance(0.75)):
        key: Any = choices.pick(sorted(value)) if isinstance(value, dict) else choices.integer(0, len(value) - 1)
        if key in ("checksum", "checksums"):
            break
        path.append((value, key))
        value = value[key]
    if not path:
        return choices.pick(_VALUES)
    parent, key = path[-1]
    how = choices.pick(("value", "value", "value", "remove", "sibling", "deep", "nudge"))
    if how == "remove":
        del parent[key]
    elif how == "sibling":
        parent[key] = parent[choices.pick(sorted(parent)) if isinstance(parent, dict) else 0]
    elif how == "deep":
        for _ in range(choices.pick((3, 200, 5000))):
            value = [value]
        parent[key] = value
    elif how == "nudge" and isinstance(value, int | float) and not isinstance(value, bool):
        parent[key] = choices.pick((value + 1, value - 1, -value, value * 1000))
    else:
        parent[key] = choices.pick(_VALUES)
    return about


def _write(path: Path, about: dict[str, Any], arrays: Arrays, raw: dict[str, bytes], *, checked: bool) -> None:
    """Write a file as dagpost would, with checksums made anew, or left as they were."""
    members = {name: raw.get(name) or _npy(array) for name, array in arrays.items()}
    if checked:
        about = {key: value for key, value in about.items() if key not in ("checksum", "checksums")}
        if isinstance(about.get("arrays"), list):
            about["arrays"] = sorted(members)
        about["checksums"] = {name: hashlib.sha256(member).hexdigest() for name, member in members.items()}
        with contextlib.suppress(RecursionError, UnicodeEncodeError, ValueError, TypeError):
            text = json.dumps(about, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
            about["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    with zipfile.ZipFile(path, "w") as file:
        for name, member in members.items():
            file.writestr(f"{name}.npy", member)
        file.writestr("about.json", _json_text(about))


def _json_text(about: Any) -> str:
    """JSON as Python writes it, nan and all, however deep it is nested and however large its numbers are."""
    if isinstance(about, dict):
        return "{" + ",".join(f"{json.dumps(str(key))}:{_json_text(value)}" for key, value in about.items()) + "}"
    depth = 0
    while isinstance(about, list) and len(about) == 1:
        about, depth = about[0], depth + 1
    if isinstance(about, list):
        text = "[" + ",".join(map(_json_text, about)) + "]"
    elif isinstance(about, int) and not isinstance(about, bool) and about >= 10**300:
        text = "1" + "0" * 5000
    else:
        text = _json_text(about) if isinstance(about, dict) else json.dumps(about)
    return "[" * depth + text + "]" * depth


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


# What users do


def _operations(seed: Seed) -> tuple[Callable[[Any, Seed, Path], Any], ...]:
    common = (_query, _edges, _directions, _show, _save, _report)
    if seed.kind == "model":
        return (*common, _predict, _draw, _best, _effect, _draw, _matrix)
    return (*common, _resume, _resume, _diagnose, _matrix)


def _query(thing: Any, seed: Seed, path: Path) -> None:  # noqa: ARG001
    names = thing.names_ if seed.kind == "model" else thing.names
    first, second, last = (json.dumps(name, ensure_ascii=False) for name in (names[0], names[1], names[-1]))
    for statement in (
        f"{first} -> {second}",
        f"{first} ~> {last}",
        f"compelled({first}, {second}) | {first} -- {last}",
    ):
        _check_estimate(thing.probability(statement), statement)
    _check_estimate(thing.probability(f"{first} -> {second}", given=f"{first} -- {second}"), "given")


def _check_estimate(estimate: Any, statement: str) -> None:
    numbers = (estimate.value, estimate.lower, estimate.upper)
    if not any(map(math.isnan, numbers)):
        fits = all(-1e-6 <= number <= 1.0 + 1e-6 for number in numbers)
        require(fits, "A probability is out of range", statement, estimate)


def _edges(thing: Any, seed: Seed, path: Path) -> None:  # noqa: ARG001
    edges = (thing.edge_probabilities_ if seed.kind == "model" else thing.edge_frequencies()).to_numpy()
    fits = bool(np.isfinite(edges).all() and (edges >= -1e-6).all() and (edges <= 1.0 + 1e-6).all())
    require(fits, "An edge has a probability out of range", edges)


def _matrix(thing: Any, seed: Seed, path: Path) -> None:  # noqa: ARG001
    require(bool((thing.probability_matrix("~>").to_numpy() <= 1.0 + 1e-6).all()), "A path is too probable")


def _directions(thing: Any, seed: Seed, path: Path) -> None:  # noqa: ARG001
    thing.directions()


def _show(thing: Any, seed: Seed, path: Path) -> None:
    repr(thing)
    if seed.kind == "model":
        thing._repr_mimebundle_()
        repr(thing.recipe_)
    else:
        thing._repr_html_()
        thing.summary()
    del path


def _save(thing: Any, seed: Seed, path: Path) -> None:
    again = path.with_suffix(".again")
    thing.save(again)
    _load(again, seed)
    again.unlink(missing_ok=True)


def _report(thing: Any, seed: Seed, path: Path) -> None:  # noqa: ARG001
    thing.report(path.with_suffix(".html"))


def _predict(model: DagPosterior, seed: Seed, path: Path) -> None:  # noqa: ARG001
    rows = _rows(model)
    logs = model.score_samples(rows)
    require(bool((np.isnan(logs) | (logs < 1e9)).all()), "A row has an impossible density", logs)
    if hasattr(model, "predict_proba"):
        model.predict_proba(rows, target=model.names_[0])


def _rows(model: DagPosterior) -> pd.DataFrame:
    own = table(3)
    names = list(model.names_)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (3, len(names))), columns=names)
    return own if names == list(own.columns) else frame


def _draw(model: DagPosterior, seed: Seed, path: Path) -> None:  # noqa: ARG001
    # What a file says of chains may take for ever, as it may where a user says so.
    method: Any = model.fitted_.method
    if (
        getattr(method, "burn_in", 0) + 100 * getattr(method, "thinning", 0) < 10_000
        and getattr(method, "chains", 0) < 9
    ):
        model.sample(8, seed=1).edge_frequencies()


def _best(model: DagPosterior, seed: Seed, path: Path) -> None:  # noqa: ARG001
    model.best(2).summary()


def _effect(model: DagPosterior, seed: Seed, path: Path) -> None:  # noqa: ARG001
    repr(model.effect(model.names_[0], model.names_[1]))


def _resume(sample: DagSample, seed: Seed, path: Path) -> None:  # noqa: ARG001
    if seed.model is not None and sample.chains is not None:
        longer = seed.model.sample(MORE_GRAPHS, resume=sample)
        require(len(longer) == MORE_GRAPHS, "Chains that resumed have another number of graphs", len(longer))
        longer.edge_frequencies()


def _diagnose(sample: DagSample, seed: Seed, path: Path) -> None:  # noqa: ARG001
    sample.diagnostics()


def _info(path: Path) -> None:
    """`dagpost info` in this process: an answer, or one message."""
    result = CliRunner().invoke(app, ["info", str(path)], prog_name="dagpost")
    if result.exit_code not in (0, 2) or (
        result.exception is not None and not isinstance(result.exception, SystemExit)
    ):
        if isinstance(result.exception, Exception):
            raise result.exception
        raise Defect(f"dagpost info left with {result.exit_code}\n{result.output}")


# Checkpoints


def _folder_case(choices: Choices, seed: FolderSeed, folder: Path) -> int:
    place = folder / "work.partial"
    place.mkdir()
    files = dict(seed.files)
    repaired = choices.chance(0.6)
    if repaired:
        _change_folder(choices, files)
    else:
        name = choices.pick(sorted(name for name in files if files[name]))
        files[name] = _damaged(choices, files[name]) if choices.chance(0.9) else b""
    for name, content in files.items():
        (place / name).write_bytes(content)
    found = _allowed(lambda: seed.again(Checkpoint(place, seconds=1e9)))
    if found is not None and not repaired:
        require(np.array_equal(found, seed.found), "A damaged checkpoint leads to another result", seed.name)
    return 1


def _change_folder(choices: Choices, files: dict[str, bytes]) -> None:
    """Change a part or the manifest, and make the checksums anew."""
    manifest = json.loads(files[MANIFEST])
    parts = sorted(name for name in files if name.startswith("part-"))
    if parts and choices.chance(0.6):
        name = choices.pick(parts)
        content = bytearray(files[name])
        for _ in range(choices.integer(1, 3)):
            numbers = np.frombuffer(content, dtype="u8", count=len(content) // 8)
            if len(numbers):
                place = choices.integer(0, len(numbers) - 1)
                wanted = choices.pick((*_WHOLES, *(int(np.float64(value).view("u8")) for value in _FLOATS)))
                numbers[place] = wanted & (2**64 - 1)
        files[name] = bytes(content)
        digest = hashlib.blake2b(bytes(content), digest_size=16).hexdigest()
        for entry in _parts_of(manifest["content"]):
            if entry["file"] == name:
                entry["digest"] = digest
    else:
        manifest["content"] = _changed_json(choices, manifest["content"])
    try:
        text = json.dumps(manifest["content"], sort_keys=True)
    except (RecursionError, TypeError, ValueError):
        text = ""
    manifest["digest"] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    files[MANIFEST] = _json_text(manifest).encode("utf-8", "surrogatepass")


def _parts_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    entries = [entry for task in content["tasks"].values() for entry in task["stages"].values()]
    running = [entry["running"] for entry in entries if entry["running"] is not None]
    return [*running, *(part for entry in entries for part in entry["parts"])]


CAMPAIGN = Campaign(
    "model_files",
    "models, samples and checkpoints that were damaged or changed",
    run_case,
    counted="uses of changed files",
    prepare=prepare,
    seconds=60.0,
)
