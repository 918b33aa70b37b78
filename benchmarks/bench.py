"""OMBA and what a user would pick instead, on the same data, in the same run.

    python benchmarks/bench.py                      every suite
    python benchmarks/bench.py rules current        some
    python benchmarks/bench.py --quick              that they run, on little data
    python benchmarks/bench.py --out FOLDER         where the figures go as JSON

Each suite ends in a table and JSON. Sides run in turns; seconds are medians with their spread; what counts are ratios.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

from measure import HERE, announce, machine

SUITES = ("learning", "rules", "itemsets", "current", "scale", "serving", "limit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", help=f"which to run: {', '.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help="little data, few repeats")
    parser.add_argument("--out", type=Path, default=Path("omba-bench"), help="folder for the figures")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.suites if name not in SUITES]
    if unknown:
        raise SystemExit(f"suite {unknown[0]!r} is not known: give some of {', '.join(SUITES)}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    print(machine() + (" · quick: the figures mean nothing" if chosen.quick else ""), flush=True)
    for name in chosen.suites or SUITES:
        start = time.perf_counter()
        announce(name)
        tables = importlib.import_module(name).suite(chosen.quick)
        seconds = time.perf_counter() - start
        announce(f"{name}: {seconds:.0f} s")
        for table in tables:
            if chosen.quick:
                table.bars.clear()
            print(f"\n{table}", flush=True)
        report = {"suite": name, "machine": machine(), "quick": chosen.quick, "seconds": seconds}
        report["tables"] = [table.to_dict() for table in tables]
        (chosen.out / f"{name}.json").write_text(json.dumps(report, indent=1))
        print(f"\n{name} took {seconds:.0f} s; the figures are in {chosen.out / name}.json", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
