"""Looks for graphs that go wrong, for as long as one likes.

    python scripts/campaign.py descriptors --count 100000 --seed 7
    python scripts/campaign.py graphs programs --time 600
    python scripts/campaign.py relations files fuzz --time 3600 --journal found.jsonl
    python scripts/campaign.py descriptors --against directml --time 600

descriptors: walks from descriptors that are right, one change at a time. What the checks let pass compiles, runs
and equals the reference; what one change of a field spoils has a finding, counted by whether it names that field.
graphs: random graphs of up to 50 nodes. programs: DxDispatch programs of several dispatches
over parts of the same buffers. relations: what must make no difference to graphs. sizes: graphs, programs and
operators with names for sizes, whose one model is compared with the model of each size. files: models of all formats
with something changed in them, within limits of memory and time. fuzz: the same, led by the lines that are reached,
with atheris (``pip install atheris``), by bytes and by structure.

With ``--against directml`` descriptors, right ones and wrong ones, and graphs go to DirectML itself as well
(``scripts/directml.py`` installs it): its verdicts are compared with those of the checks, its numbers with the
compiled model's.

Run it with the interpreter whose ONNX Runtime is meant. Every case has a seed of its own, from ``--seed`` on; the
journal has a line for each finding, a smallest model of it as native JSON in it, and the figures at the end, also when
it is interrupted. Every minute it says how far it is. ``--need-all`` fails when a cell of operator, support row and
class of view has not been reached: 4400 seeds of descriptors reach all of them.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import _campaign_directml as directml  # noqa: E402
from _campaign_files import files, fuzz  # noqa: E402
from _campaign_graphs import graphs, programs, relations  # noqa: E402
from _campaign_journal import Campaign  # noqa: E402
from _campaign_operators import descriptors  # noqa: E402
from _campaign_sizes import sizes  # noqa: E402

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
    parser = argparse.ArgumentParser(description="Looks for graphs that go wrong; exit code 1 when it finds one.")
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, "all"], default="all", metavar="PART",
        help=f"what to try: {', '.join(PARTS)} (default: all, which is all but fuzz)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: 0)")
    parser.add_argument(
        "--count", type=int, help="seeds of each part: walks of some seven descriptors, batches of 50 graphs, files"
    )
    parser.add_argument("--time", type=float, metavar="SECONDS", help="for each part")
    parser.add_argument("--journal", type=Path, metavar="FILE.jsonl", help="lines of JSON, appended")
    parser.add_argument("--shrink", type=float, default=60.0, metavar="SECONDS", help="for each finding (default: 60)")
    parser.add_argument("--need-all", action="store_true", help="exit code 1 when a cell has not been reached")
    parser.add_argument("--against", choices=["directml"], help="ask DirectML itself: descriptors and graphs")
    options = parser.parse_args()
    parts = PARTS if options.against is None else AGAINST_DIRECTML
    named = [name for name in parts if name != "fuzz"] if "all" in options.parts else options.parts
    if unknown := [name for name in named if name not in parts]:
        parser.error(f"{', '.join(unknown)}: DirectML itself is asked about {' and '.join(parts)} only")
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
