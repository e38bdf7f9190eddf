"""Fetch the JavaScript libraries of the HTML report from npm: `make vendor`.

The newest version within the major one named here is taken; nothing in the package is run. What was fetched is written
down with its version and SHA-256 in hashes.json, which the tests compare with the files.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "dagpost" / "report" / "vendor"
#: What npm knows it by, and the file of it that a page needs.
LIBRARIES = {
    "cytoscape": ("cytoscape@3", "dist/cytoscape.min.js"),
    "dagre": ("@dagrejs/dagre@3", "dist/dagre.min.js"),
}


def fetch(package: str, folder: Path) -> tarfile.TarFile:
    """The archive that npm publishes; npm itself checks that it arrived whole."""
    finished = subprocess.run(
        ["npm", "pack", "--silent", "--ignore-scripts", package],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        sys.exit(f"npm could not fetch {package}: {finished.stderr.strip()}")
    return tarfile.open(folder / finished.stdout.split()[-1])


def member(archive: tarfile.TarFile, name: str) -> bytes:
    """The content of one file of a package."""
    file = archive.extractfile(f"package/{name}")
    if file is None:
        sys.exit(f"The package has no file {name}.")
    return file.read()


def main() -> None:
    """Fetch all libraries, with their licences, and write down what they are."""
    FOLDER.mkdir(exist_ok=True)
    listed = {}
    with tempfile.TemporaryDirectory() as folder:
        for library, (package, path) in LIBRARIES.items():
            with fetch(package, Path(folder)) as archive:
                about = json.loads(member(archive, "package.json"))
                files = {f"{library}.min.js": member(archive, path), f"{library}.LICENSE": member(archive, "LICENSE")}
            for name, content in files.items():
                (FOLDER / name).write_bytes(content)
                digest = hashlib.sha256(content).hexdigest()
                listed[name] = {"package": about["name"], "version": about["version"], "sha256": digest}
            sys.stdout.write(f"{about['name']} {about['version']} ({about['license']})\n")
    (FOLDER / "hashes.json").write_text(json.dumps(listed, indent=2) + "\n")


if __name__ == "__main__":
    main()
