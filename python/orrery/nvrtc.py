# Where Python's packages keep NVRTC, for the C++ side, which knows only the system's places.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import importlib.util
import pathlib


def package_folders() -> list[str]:
    """Library folders of the nvidia-* packages that are installed (nvidia-cuda-nvrtc and kin)."""
    spec = importlib.util.find_spec("nvidia")
    if spec is None or spec.submodule_search_locations is None:
        return []
    folders: list[str] = []
    for root in spec.submodule_search_locations:
        for library in sorted(pathlib.Path(root).glob("*/lib")):
            if any(library.glob("libnvrtc.so*")):
                folders.append(str(library))
    return folders
