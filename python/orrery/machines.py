# Machine files: which one describes a GPU.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import functools
import os
import pathlib

from orrery._orrery import Machine, NotFoundError, parse_machine


def folder() -> pathlib.Path:
    """$ORRERY_MACHINES, the package's own folder, or the repository's, whichever exists first."""
    here = pathlib.Path(__file__).resolve().parent
    own = os.environ.get("ORRERY_MACHINES")
    places = [pathlib.Path(own)] if own else []
    places += [here / "machines", here.parents[1] / "machines"]
    for place in places:
        if place.is_dir():
            return place
    raise NotFoundError(f"[machines] no machine files: got {places}, need a folder of .toml files")


@functools.cache
def load(name: str) -> Machine:
    """The machine of file `name`.toml."""
    path = folder() / f"{name}.toml"
    return parse_machine(path.read_text(), str(path))
