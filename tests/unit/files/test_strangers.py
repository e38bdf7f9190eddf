"""Files from strangers: a flipped bit is one clear error, and what a file must not hold never reaches a kernel."""

from __future__ import annotations

import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.changed_files import write_members
from tests.tools.wording import Said

from dagpost import (
    BlockGibbs,
    Bootstrap,
    DagPosterior,
    DagSample,
    HybridMCMC,
    InputError,
    OrderMCMC,
    PartialOrderMCMC,
    PartitionMCMC,
    StructureMCMC,
)
from dagpost.checkpoints import Checkpoint
from dagpost.checkpoints.folder import Folder
from dagpost.files import archive
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.chain import ChainMethod
from dagpost.methods.registry import METHODS

CODES = np.random.default_rng(1).integers(0, 2, (40, 3))
GAPS = np.where(np.random.default_rng(2).random((40, 3)) < 0.1, np.nan, CODES)
CHAINS: dict[str, Any] = {
    "order": OrderMCMC(chains=2, thinning=1, burn_in=0),
    "partial order": PartialOrderMCMC(bucket_size=2, chains=2, thinning=1, burn_in=0),
    "partition": PartitionMCMC(chains=2, thinning=1, burn_in=0),
    "structure": StructureMCMC(chains=2, thinning=1, burn_in=0),
    "hybrid": HybridMCMC(chains=2, thinning=1, burn_in=0),
    "blocks": BlockGibbs(chains=2, thinning=1, burn_in=0),
    "completed tables": Augmentation(chains=2, burn_in=0, given_table="exact-layers"),
}


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior("bdeu", prior="uniform", samples=5, seed=1).fit(CODES)


def parts(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as file:
        return file.namelist()


def with_flipped_bit(path: Path, part: str) -> None:
    """Flip a bit in the middle of a part, and make the checksum of the archive itself anew."""
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    middle = bytearray(content[part])
    middle[-len(middle) // 4] ^= 1
    with zipfile.ZipFile(path, "w") as file:
        for name, own in content.items():
            file.writestr(name, bytes(middle) if name == part else own)


# Checksums


@pytest.mark.parametrize("kind", ["model", "sample"])
def test_a_flipped_bit_in_any_part_is_an_error_that_names_the_part(
    kind: str, model: DagPosterior, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    load: Any = DagPosterior.load if kind == "model" else DagSample.load

    def write() -> None:
        if kind == "model":
            model.save(path, rows=True)
        else:
            model.sample(5, seed=1).save(path)

    write()
    for part in parts(path):
        write()
        with_flipped_bit(path, part)
        with pytest.raises(InputError, match=part):
            load(path)


def test_parts_that_changed_places_are_refused(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as file:
        content = {name: file.read(name) for name in file.namelist()}
    content["edges.npy"], content["paths.npy"] = content["paths.npy"], content["edges.npy"]
    with zipfile.ZipFile(tmp_path / "y", "w") as file:
        for name, own in content.items():
            file.writestr(name, own)
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "y")


def test_an_array_that_says_it_is_huge_takes_no_memory(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "model")
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }".ljust(117) + "\n"
    huge = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(72)
    write_members(tmp_path / "y", about, dict.fromkeys(arrays, huge))
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "y")


@pytest.mark.parametrize("listed", [False, True])
def test_a_file_that_unpacks_to_more_than_it_is_long_is_refused_before_it_takes_memory(
    listed: bool, model: DagPosterior, tmp_path: Path, said: Said
) -> None:
    """Parts that no rule asks for, each below any limit, made a gigabyte of a file of one megabyte."""
    model.save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "model")
    more = {f"more{place}": np.zeros(1 << 18) for place in range(8)} if listed else {}
    archive.write_archive(tmp_path / "y", "model", about, {**arrays, **more})
    with zipfile.ZipFile(tmp_path / "y") as file:
        content = {name: file.read(name) for name in file.namelist()}
    if not listed:
        content["about.json"] += b" " * (1 << 24)
    with zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as file:
        for name, own in content.items():
            file.writestr(name, own)
    tracemalloc.start()
    try:
        with said.raises(InputError):
            DagPosterior.load(tmp_path / "z")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_parts_that_overlap_are_refused(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    """Parts in the same place of a file are more, together, than the file is long."""
    model.save(tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    with zipfile.ZipFile(tmp_path / "x") as file:
        part = file.getinfo("edges.npy")
    place = content.index(b"edges.npy", content.index(b"PK\x01\x02")) - 46
    sizes = slice(place + 20, place + 28)
    assert content[sizes] == part.file_size.to_bytes(4, "little") * 2
    claimed = len(content).to_bytes(4, "little") * 2
    (tmp_path / "x").write_bytes(content[: sizes.start] + claimed + content[sizes.stop :])
    with said.raises(InputError):
        archive.kind_of(tmp_path / "x")


@pytest.mark.parametrize("name", ["more.npy", "more.txt"])
def test_a_part_that_is_not_listed_is_refused(name: str, model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x", "a") as file:
        file.writestr(name, b"x")
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "x")


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e999}', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_json_that_is_no_json_is_refused(text: str, tmp_path: Path, said: Said) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as file:
        file.writestr("about.json", text)
    with said.raises(InputError):
        archive.kind_of(tmp_path / "x")


# The schema


def changed(model: DagPosterior, tmp_path: Path, change: Any) -> Path:
    """A file of a model whose checksums are right, though somebody has changed it."""
    model.save(tmp_path / "x", rows=True)
    about, arrays = archive.read_archive(tmp_path / "x", "model")
    change(about, arrays)
    archive.write_archive(tmp_path / "y", "model", about, arrays)
    return tmp_path / "y"


def number(name: str, value: Any) -> Any:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[-1] = value

    return change


def many_counts(_: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Each is a number that a file may hold; their sum is not one that 64 bits hold."""
    arrays.update(statistics_cells=np.arange(1024), statistics_counts=np.full(1024, 2**53))


def everywhere(name: str, value: Any) -> Any:
    return lambda _, arrays: arrays.update({name: np.full_like(arrays[name], value)})


def entry(value: Any, *path: Any) -> Any:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        place: Any = about
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (number("edges", 2.0), "edges has 2.0, out of the range"),
        (number("edges", np.nan), "edges has numbers that are not finite"),
        (number("log_weights", np.inf), "log_weights has"),
        (number("sample_parents", 255), "sample: parents|parents has parents beyond|parents has a cycle"),
        (number("sample_weights", 0.9), "its weights sum to"),
        (everywhere("sample_log_joint", 400.0), "log_joint has a graph of probability e^"),
        (everywhere("sample_log_joint", -1e15), "the heaviest graph the weight e^-1e+15"),
        (everywhere("sample_log_proposal", -500.0), "the heaviest graph the weight e^49"),
        (number("statistics_counts", 0), "counts has 0"),
        (many_counts, "counts adds up to 9.22e+18"),
        (entry([10**400, 1], "levels", 0), "levels is"),
        (number("rows_column0", 9), "column0 has 9"),
        (entry("many", "settings", "samples"), "settings is"),
        (entry(True, "observations"), "observations is True"),
        (entry([1], "names"), "names is"),
        (entry(["V0", "V0", "V2"], "names"), "none twice"),
        (entry({"kind": 3}, "settings", "score"), "settings is"),
        (entry([["V9"]], "targets"), "targets of other variables"),
        (entry(["x", 3], "method"), "method is"),
    ],
)
def test_what_a_model_must_not_hold_is_refused_before_anything_is_computed(
    change: Any, words: str, model: DagPosterior, tmp_path: Path, said: Said
) -> None:
    with said.raises(InputError) as refused:
        DagPosterior.load(changed(model, tmp_path, change))
    assert any(word in str(refused.value) for word in words.split("|"))


# Chains


@pytest.fixture(scope="module", params=list(CHAINS))
def chain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[DagPosterior, Path]:
    method = CHAINS[request.param]
    table = GAPS if isinstance(method, Augmentation) else CODES
    path = tmp_path_factory.mktemp("chains") / "x"
    with warnings.catch_warnings():
        # Such short chains are not to be trusted, and most say so.
        warnings.simplefilter("ignore")
        model = DagPosterior(
            "bdeu", prior="uniform", method=method, modularity=method.modularity, samples=220, seed=1
        ).fit(table)
        model.sample(220, seed=2).save(path)
    return model, path


@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_chains_do_not_resume_from_where_no_chain_can_be(chain: tuple[DagPosterior, Path], tmp_path: Path) -> None:
    """A kernel would index with what these arrays say: such files ended processes, or hung."""
    model, path = chain
    about, arrays = archive.read_archive(path, "sample")
    states = [name for name in arrays if name.startswith("standing_state_")]
    assert states
    for name in states:
        whole = arrays[name].dtype.kind != "f"
        for value in (2**40, -1, 77) if whole else (np.nan, 1e300, 5.0):
            other = arrays[name].copy()
            other.reshape(-1)[:1] = np.array([value]).astype(other.dtype)
            archive.write_archive(tmp_path / "y", "sample", about, {**arrays, name: other})
            with pytest.raises(InputError, match=r"parts|resume"):
                model.sample(330, resume=DagSample.load(tmp_path / "y"))
    assert len(model.sample(330, resume=DagSample.load(path))) == 330


@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_a_checkpoint_whose_chains_cannot_be_is_refused(
    chain: tuple[DagPosterior, Path], tmp_path: Path, said: Said
) -> None:
    model, _ = chain
    place = tmp_path / "work.partial"
    whole = model.sample(220, seed=3, checkpoint=Checkpoint(place, seconds=0))
    assert model.sample(220, seed=3, checkpoint=Checkpoint(place, seconds=1e9)) == whole
    folder = Folder(place)
    content = folder.read_manifest()
    assert content is not None
    running = content["tasks"]["sample"]["stages"]["chains"]["running"]
    numbers = np.zeros(running["bytes"], dtype=np.uint8)
    folder.read_part(running, [numbers])
    numbers[:8] = 255
    content["tasks"]["sample"]["stages"]["chains"]["running"] = folder.write_part([numbers])
    folder.write_manifest(content)
    with said.raises(InputError):
        model.sample(220, seed=3, checkpoint=Checkpoint(place, seconds=1e9))


@pytest.mark.parametrize(
    ("method", "task", "stage"),
    [
        ("exact-layers", "sample", "graphs"),
        (Bootstrap(replicates=20), "fit", "replicates"),
    ],
    ids=["layers", "bootstrap"],
)
@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_a_checkpoint_whose_graphs_cannot_be_is_refused(
    method: Any, task: str, stage: str, tmp_path: Path, said: Said
) -> None:
    place = tmp_path / "work.partial"

    def run(seconds: float) -> DagSample:
        checkpoint = Checkpoint(place, seconds=seconds)
        model = DagPosterior("bdeu", prior="uniform", method=method, seed=1)
        model.fit(CODES, checkpoint=checkpoint)
        return model.sample(20, seed=3, checkpoint=checkpoint)

    whole = run(0)
    assert run(1e9) == whole
    folder = Folder(place)
    content = folder.read_manifest()
    assert content is not None
    part = content["tasks"][task]["stages"][stage]["parts"][0]
    masks = np.zeros(part["bytes"], dtype=np.uint8)
    folder.read_part(part, [masks])
    masks[:8] = 255
    part.update(folder.write_part([masks]))
    folder.write_manifest(content)
    with said.raises(InputError):
        run(1e9)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(tasks=[]),
        lambda content: content["tasks"].update(fit=3),
        lambda content: content["tasks"]["fit"].update(stages={"x": {"done": -1, "parts": [], "running": None}}),
        lambda content: next(iter(content["tasks"]["fit"]["stages"].values())).update(
            running={"file": "../secret", "bytes": 1, "digest": ""}
        ),
    ],
)
def test_a_manifest_that_is_none_is_not_used(change: Any, tmp_path: Path) -> None:
    place = tmp_path / "work.partial"

    def fit(seconds: float) -> Any:
        return DagPosterior("bdeu", prior="uniform", seed=1).fit(CODES, checkpoint=Checkpoint(place, seconds=seconds))

    edges = fit(0).edge_probabilities_
    folder = Folder(place)
    content = folder.read_manifest()
    assert content is not None
    change(content)
    folder.write_manifest(content)
    with pytest.warns(UserWarning, match="damaged manifest"):
        assert (fit(1e9).edge_probabilities_ == edges).to_numpy().all()


def test_every_chain_declares_what_its_states_are() -> None:
    kinds = [kind for kind in METHODS.classes().values() if issubclass(kind, ChainMethod)]
    ours = [kind for kind in kinds if kind.__module__.startswith("dagpost.")]
    assert len(ours) == len(CHAINS)
    for kind in ours:
        assert tuple(kind.state_rules) == kind().state._fields
