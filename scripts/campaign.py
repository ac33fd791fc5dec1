"""Searches for failing graphs, for a given time or number of cases.

    python scripts/campaign.py descriptors --count 100000 --seed 7
    python scripts/campaign.py graphs programs --time 600
    python scripts/campaign.py relations files fuzz --time 3600 --journal found.jsonl
    python scripts/campaign.py descriptors --against directml --time 600

descriptors: walks from valid descriptors, one change at a time. A descriptor that passes the checks must compile, run
and match the reference; one that a change of a field breaks must have a finding, counted by whether it names the field.
graphs: random graphs of up to 50 nodes. programs: DxDispatch programs of several dispatches over parts of the same
buffers. relations: changes to graphs that must not change results. sizes: graphs, programs and operators with named
sizes, whose one model is compared with the model of each size. files: mutated models of all formats, within limits of
memory and time. fuzz: the same, coverage-guided with atheris (``pip install atheris``), by bytes and by structure.

``--against directml`` also runs descriptors, valid and invalid, and graphs on DirectML itself (``scripts/directml.py``
installs it) and compares its verdicts with the checks and its numbers with the compiled model.

The interpreter determines the version of ONNX Runtime. Every case has its own seed, from ``--seed`` on. The journal
has a line for each finding, with a minimal model as native JSON, and the figures at the end, also after an interrupt.
Progress is printed every minute. ``--need-all`` fails if a cell of operator, support row and class of view has not been
reached: 4400 seeds of descriptors reach all of them.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

import _campaign_directml as directml
from _campaign_files import files, fuzz
from _campaign_graphs import descriptors, graphs, programs, relations
from _campaign_journal import Campaign
from _campaign_sizes import sizes

PARTS = {
    "descriptors": descriptors,
    "graphs": graphs,
    "programs": programs,
    "relations": relations,
    "sizes": sizes,
    "files": files,
    "fuzz": fuzz,
}
AGAINST_DIRECTML = {"descriptors": directml.descriptors, "graphs": directml.graphs}


def main() -> int:
    parser = argparse.ArgumentParser(description="Searches for failing graphs; exit code 1 if it finds one.")
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, "all"], default="all", metavar="PART",
        help=f"parts to run: {', '.join(PARTS)} (default: all of them except fuzz)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: 0)")
    parser.add_argument(
        "--count", type=int, help="seeds of each part: walks of some seven descriptors, batches of 50 graphs, files"
    )
    parser.add_argument("--time", type=float, metavar="SECONDS", help="for each part")
    parser.add_argument("--journal", type=Path, metavar="FILE.jsonl", help="lines of JSON, appended")
    parser.add_argument("--shrink", type=float, default=60.0, metavar="SECONDS", help="for each finding (default: 60)")
    parser.add_argument("--need-all", action="store_true", help="exit code 1 if a cell has not been reached")
    parser.add_argument("--against", choices=["directml"], help="also run descriptors and graphs on DirectML itself")
    options = parser.parse_args()
    parts = PARTS if options.against is None else AGAINST_DIRECTML
    named = [name for name in parts if name != "fuzz"] if "all" in options.parts else options.parts
    if unknown := [name for name in named if name not in parts]:
        parser.error(f"{', '.join(unknown)}: --against directml supports only {' and '.join(parts)}")
    if options.count is None and options.time is None:
        options.time = 60.0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    campaign = Campaign(options.journal, options.seed, options.shrink)
    try:
        for part in named:
            parts[part](campaign, campaign.seeds(part, options.count, options.time))
    except KeyboardInterrupt:
        print("interrupted")
    missing = campaign.finish(time.monotonic())
    return 1 if campaign.found or (options.need_all and missing) else 0


if __name__ == "__main__":
    sys.exit(main())
