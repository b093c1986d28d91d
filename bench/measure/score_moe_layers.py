# Scores predictions of single layers against moe_layers.py's measurements.
# SPDX-License-Identifier: Apache-2.0
"""python3 bench/measure/score_moe_layers.py test/validation/moe_layers_even.csv [--machine h200]

A layer's time is the difference of two models that differ by it alone: shipped configurations in
bf16, cut to few layers, gpt-oss with full attention in all. Windows of 20 ms and less are measured
before the clock drops.
"""

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FEWEST = {"deepseek-v3": 4, "gpt-oss-120b": 2}  # layers with experts among them
BURST_US = 20000


def config(model, layers, folder):
    """The path of `model` with so many layers."""
    facts = json.loads((ROOT / "models" / f"{model}.json").read_text(encoding="utf-8"))
    facts["num_hidden_layers"] = layers
    facts.pop("quantization_config", None)
    if "layer_types" in facts:
        facts["layer_types"] = ["full_attention"] * layers
    path = Path(folder) / f"{model}-{layers}.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    return path


def predicted_us(path, row, machine):
    sizes = ["--seq", row["seq_q"]] if row["phase"] == "prefill" else ["--context", row["context"]]
    state = "burst" if float(row["latency_us"]) < BURST_US else "steady"
    command = [ROOT / "orrery", "predict", path, "--machine", machine, "--phase", row["phase"]]
    command += ["--batch", row["batch"], *sizes, "--state", state, "--usable-memory", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["time_us"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--machine", default="h200")
    options = parser.parse_args()
    errors = {}
    with options.table.open(encoding="utf-8") as table, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(table):
            few = FEWEST[row["model"]]
            less, more = (
                predicted_us(config(row["model"], layers, folder), row, options.machine)
                for layers in (few, few + 1)
            )
            measured = float(row["latency_us"])
            error = (more - less) / measured - 1
            errors.setdefault(row["model"], []).append(abs(error))
            case = " ".join(row[key] for key in ("model", "phase", "batch", "seq_q", "context"))
            print(f"{case:40} {measured:9.1f} {more - less:9.1f} {100 * error:+6.1f} %")
    every = [error for some in errors.values() for error in some]
    for model, some in [*errors.items(), ("all", every)]:
        print(f"{model}: {len(some)} cases, mean error {100 * sum(some) / len(some):.1f} %")


if __name__ == "__main__":
    main()
