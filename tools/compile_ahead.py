"""Compile the kernels of the common commands for a wheel: `python tools/compile_ahead.py FOLDER`.

`make dist` puts FOLDER into a wheel of its own for this platform and this Python (hatch_build.py). The commands below
are run and what they compiled is written: nothing is listed by hand, so nothing is forgotten when a kernel changes.
The code is for any processor with AVX2 (x86-64-v3), not for the one that it is compiled on.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

#: The kernels are those of the checkout that this file is in, whichever one is installed.
SOURCE = Path(__file__).resolve().parents[1] / "src"
PROCESSOR = "x86-64-v3" if platform.machine().lower() in ("x86_64", "amd64") else "generic"
FIT = ["fit", "coronary.csv", "--counts", "counts"]
COMMANDS = [
    ["data", "export", "coronary", "-o", "coronary.csv"],
    [*FIT, "-o", "model.dagpost", "--seed", "1"],
    ["edges", "model.dagpost"],
    ["query", "model.dagpost", "Smoking -> Pressure", "Smoking ~> Pressure", "Smoking ~>{2} Pressure"],
    ["sample", "model.dagpost", "-n", "100", "-o", "graphs.dagpost"],
    ["best", "model.dagpost", "-k", "3"],
    ["predict", "model.dagpost", "coronary.csv", "--target", "Pressure"],
    ["report", "model.dagpost", "-o", "report.html"],
    [*FIT, "-o", "order.dagpost", "--modularity", "order"],
    [*FIT, "-o", "chain.dagpost", "--method", "block-gibbs", "--samples", "100"],
]


def main() -> None:
    """Write the folder, compiled in a process that was told the processor before it loaded Numba."""
    folder = Path(sys.argv[1]).resolve()
    if os.environ.get("NUMBA_CPU_NAME") == PROCESSOR:
        _write(folder)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        told = {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": empty}
        subprocess.run([sys.executable, __file__, folder], env=os.environ | told, cwd=empty, check=True)


def _write(folder: Path) -> None:
    sys.path.insert(0, str(SOURCE))
    from dagpost._tools.kernels import Kernel
    from dagpost._tools.shipped import save

    for command in COMMANDS:
        _run(command)
    kernels = {}
    for module, content in list(sys.modules.items()):
        for name, value in vars(content).items() if module.startswith("dagpost.") else ():
            if isinstance(value, Kernel) and value.is_compiled and value.__module__ == module:
                kernels[f"{module}.{name}"] = value.dispatcher
    save(folder, PROCESSOR, kernels)
    size = sum(file.stat().st_size for file in folder.iterdir())
    sys.stdout.write(f"{len(kernels)} kernels for {PROCESSOR}, {size / 2**20:.1f} MiB, in {folder}\n")


def _run(command: list[str]) -> None:
    from dagpost.cli import app

    try:
        app(command)
    except SystemExit as ended:
        if ended.code:
            raise


if __name__ == "__main__":
    main()
