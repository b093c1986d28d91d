# Counts instructions and traffic of kernels over rows x cols on a GPU.
# SPDX-License-Identifier: Apache-2.0
"""counters_rows.csv: hardware counters of every kernel that PyTorch launches for operators over
rows x cols, cold caches. Starts itself under ncu (Nsight Compute on PATH, counters permitted).
counters_rows.py [OUT_FOLDER]"""

import csv
import os
import re
import subprocess
import sys

SIZES = {
    "bf16": [(64, 1024), (4096, 1024), (4096, 4096), (65536, 64), (128, 32768), (1000, 1001)],
    "fp32": [(4096, 1024), (4096, 4096)],
    "fp16": [(4096, 4096)],
}
PIPES = "alu fma fmaheavy fp16 xu lsu fp64 uniform cbu adu tex".split()
METRICS = [
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "smsp__inst_executed.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_red.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sector_hit_rate.pct",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_bank_reads.sum",
    "l1tex__data_bank_writes.sum",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
] + [f"sm__inst_executed_pipe_{p}.sum" for p in PIPES]


def launch_all():
    """One launch of each case, inside an NVTX range of its name."""
    import torch
    import rows

    torch.manual_seed(0)
    for op in rows.OPERATORS:
        for dtype, sizes in SIZES.items():
            for r, c in sizes:
                if dtype == "fp16" and op not in ("add", "gelu", "softmax", "sum_rows"):
                    continue
                try:
                    run = rows.call(op, dtype, r, c)
                    torch.cuda.synchronize()
                    torch.cuda.nvtx.range_push(f"{op} {dtype} {r} {c}")
                    torch.cuda.cudart().cudaProfilerStart()
                    run()
                    torch.cuda.synchronize()
                    torch.cuda.cudart().cudaProfilerStop()
                    torch.cuda.nvtx.range_pop()
                except Exception as error:  # a version of PyTorch without it
                    print("skipped", op, dtype, r, c, str(error)[:100], file=sys.stderr)
                run = None


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else "."
    command = [
        "ncu",
        "--csv",
        "--nvtx",
        "--profile-from-start",
        "off",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--metrics",
        ",".join(METRICS),
        sys.executable,
        os.path.abspath(__file__),
        "launch",
    ]
    log = os.path.join(out, "ncu.log")
    with open(log, "w") as f:
        subprocess.run(["timeout", "-s", "INT", "400", *command], stdout=f, check=False)
    kernels = {}
    with open(log) as f:
        for r in csv.DictReader(x for x in f if x.startswith('"')):
            found = re.search(
                r"<default domain>:(.*?):none",
                "".join(r[c] or "" for c in r if c.startswith("thread Domain")),
            )
            if found:
                e = kernels.setdefault(
                    r["ID"],
                    {
                        "case": found.group(1),
                        "kernel": r["Kernel Name"][:300],
                        "block": r["Block Size"],
                        "grid": r["Grid Size"],
                    },
                )
                e[r["Metric Name"]] = r["Metric Value"].replace(",", "")
    names = ["case", "kernel", "block", "grid", *METRICS]
    with open(os.path.join(out, "counters_rows.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(names)
        w.writerows([[e.get(n, "") for n in names] for e in kernels.values()])
    os.remove(log)
    print(len(kernels), "kernels")


if __name__ == "__main__":
    launch_all() if sys.argv[1:] == ["launch"] else main()
