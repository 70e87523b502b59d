"""Measure the real program from outside, beside its floors. Run: ``python -m bench [MEASURE ...] [--quick]``.

Prints a Markdown table and keeps every figure in ``bench/results/``.
"""

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench.measures import MEASURES, QUICK, Figure, Size
from bench.pty_program import Gone

RESULTS = Path(__file__).parent / "results"


def row(figure: Figure) -> str:
    """One row of the table."""
    floor = f"{figure.floor:,.3g} ({figure.floor_name})" if figure.floor is not None else ""
    ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else ""
    met = {True: "yes", False: "no", None: ""}[figure.met]
    return f"| {figure.name} | {figure.value:,.3g} {figure.unit} | {floor} | {ratio} | {figure.goal} | {met} |"


def machine() -> dict[str, str]:
    """Where the figures were taken."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    return {"cpu": f"{os.cpu_count()} x {model}", "python": platform.python_version(), "system": platform.platform()}


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Measure the real program beside its floors.")
    parser.add_argument(
        "measures", nargs="*", metavar="MEASURE", help=f"of {', '.join(MEASURES)}; all where none is named"
    )
    parser.add_argument("--quick", action="store_true", help="the smallest sizes, only to see that everything runs")
    options = parser.parse_args()
    if unknown := set(options.measures) - set(MEASURES):
        parser.error(f"no such measure: {', '.join(sorted(unknown))}")
    size = QUICK if options.quick else Size()
    figures: list[Figure] = []
    runs: list[dict[str, object]] = []
    record = {"machine": machine(), "size": asdict(size), "began": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "runs": runs}
    failed = False
    print("| measure | value | floor | ratio | goal | met |\n| --- | ---: | ---: | ---: | --- | --- |", flush=True)
    for name in options.measures or MEASURES:
        before = os.getloadavg()[0]
        try:
            found = list(MEASURES[name](size))
        except Gone as error:
            failed = True
            print(f"| {name} | failed: {error} | | | | no |", flush=True)
            continue
        figures += found
        runs.append({"measure": name, "load_before": before, "figures": [asdict(each) for each in found]})
        for figure in found:
            print(row(figure), flush=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}{'-quick' if options.quick else ''}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"\nload {os.getloadavg()[0]:.1f}; kept in {path.relative_to(Path(__file__).parents[1])}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
