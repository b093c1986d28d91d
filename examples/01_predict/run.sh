#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One decode step of a model on a GPU: predicted, explained, as JSON, and on a machine of one's own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

orrery predict llama-3.1-8b --machine h200 --phase decode --batch 32 --context 1024
orrery explain llama-3.1-8b --machine h200 --phase decode --batch 32 --context 1024
orrery predict llama-3.1-8b --machine h200 --phase prefill --seq 2048 --json >"$folder/answer.json"
head -n 20 "$folder/answer.json"

# A machine is a file, which may lie in a folder of your own.
sed -e 's/^id = .*/id = "my-h200"/' -e 's/^aliases = .*/aliases = []/' \
  machines/h200-sxm.toml >"$folder/my-h200.toml"
orrery predict llama-3.1-8b --machine my-h200 --machine-dir "$folder" --batch 32

# A model that does not fit is a no: exit status 1.
if orrery predict llama-3.1-405b --machine h200; then exit 1; fi
