"""Puts kernels that were compiled ahead into the wheel, where DAGPOST_COMPILED names their folder (`make dist`)."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface[Any]):
    """Without that folder the wheel is the same for all platforms, and compiles on first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, and say which Python and which platform the wheel is for."""
        folder = os.environ.get("DAGPOST_COMPILED")
        if not folder or version == "editable":
            return
        # The code calls nothing by itself: Numba links it when it is loaded, and Numba's wheels ask for this system.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_").replace("linux_", "manylinux_2_28_")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        build_data["force_include"][folder] = "dagpost/_compiled"
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{platform}"
