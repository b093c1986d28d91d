#!/usr/bin/env bash
# One virtual environment for each opponent that chooses tiles: FOLDER/nvmmh and FOLDER/origami.
# SPDX-License-Identifier: Apache-2.0
#
#     bench/opponents/environments.sh FOLDER
#
# rocm-origami has no wheel, and its own build needs ROCm's HIP and GitHub; of its source
# distribution the same sources are built here without either (origami/CMakeLists.txt).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: environments.sh FOLDER}
nvmmh=nvidia-matmul-heuristics==0.1.0.27
origami=rocm-origami==0.0.3
nanobind=nanobind==3.1.0

for name in nvmmh origami; do
  [[ -x $folder/$name/bin/pip ]] || python3 -m venv "$folder/$name"
done
"$folder/nvmmh/bin/pip" install --quiet "$nvmmh"

pip=$folder/origami/bin/pip
python=$folder/origami/bin/python
"$pip" install --quiet "$nanobind"
"$pip" download --quiet --no-deps --no-binary rocm-origami --dest "$folder/source" "$origami"
tar -xf "$folder/source/rocm_origami-${origami##*==}.tar.gz" -C "$folder/source"
cmake -S "$here/origami" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DORIGAMI_SOURCE="$folder/source/rocm_origami-${origami##*==}" \
  -DPython_EXECUTABLE="$(realpath --no-symlinks "$python")" \
  -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" \
  -DCMAKE_INSTALL_PREFIX="$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/origami"
cmake --build "$folder/build" --target install -j2
"$python" -c 'import origami; print("rocm-origami", origami.__version__)'
