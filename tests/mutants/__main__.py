"""`make golden-mutants`: which defects of the engine the golden corpus alone finds.

Exit 0 when all deliberate defects and at least 85 % of the generated mutants are killed, 2 when
the program was changed meanwhile: then the figures say nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import django
import yaml

from tests.mutants import deliberate, generated
from tests.mutants.mutant import ENGINE, Mutant

NEEDED_SHARE = 0.85
PER_AREA = 100
REASONS = Path(__file__).with_name("survivors.yaml")


def main(argv: Sequence[str] | None = None) -> int:
    options = _options(argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")
    django.setup()
    from tests.mutants.corpus import Corpus

    before = _program()
    corpus = Corpus.shipped()
    _say(f"{len(corpus.documents)} cases")
    for name in corpus.left_out:
        _say(f"left out, since it does not hold as the engine is: {name}")
    chosen = [
        *(deliberate.mutants() if options.area in ("", deliberate.AREA) else ()),
        *generated.mutants(per_area=options.per_area, area=options.area),
    ]
    survivors = []
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        for number, killed in pool.imap_unordered(corpus.kill, enumerate(chosen)):
            if not killed.by:
                survivors.append(chosen[number])
    if _program() != before:
        _say("The program was changed meanwhile: these figures would say nothing.")
        return 2
    return conclude(chosen, survivors)


def conclude(tried: Sequence[Mutant], survivors: Sequence[Mutant]) -> int:
    """Say what was found, area by area; return the exit code."""
    reasons = yaml.safe_load(REASONS.read_text(encoding="utf-8")) or {}
    for one in sorted(survivors, key=lambda one: (one.area, one.name)):
        _say(f"survived  {one.name}\n          {reasons.get(one.key, 'no reason is given yet')}")
    for area in dict.fromkeys(one.area for one in tried):
        _say(_share(area, tried, survivors))
    wanting = [one for one in survivors if one.area == deliberate.AREA]
    made = [one for one in tried if one.area != deliberate.AREA]
    left = len(survivors) - len(wanting)
    if made:
        _say(f"generated    {len(made) - left} of {len(made)} killed, {1 - left / len(made):.1%}")
    return 1 if wanting or left > (1 - NEEDED_SHARE) * len(made) else 0


def _program() -> dict[Path, int]:
    """Each mutant reads the engine and the corpus anew."""
    places = (ENGINE.parent, ENGINE.parents[1] / "processes")
    return {
        path: path.stat().st_mtime_ns
        for place in places
        for kind in ("*.py", "*.yaml")
        for path in place.rglob(kind)
    }


def _share(area: str, tried: Sequence[Mutant], survivors: Sequence[Mutant]) -> str:
    count = sum(one.area == area for one in tried)
    left = sum(one.area == area for one in survivors)
    return f"{area:<12} {count - left} of {count} killed"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("golden-mutants", description=__doc__)
    parser.add_argument("--per-area", type=int, default=PER_AREA, help=f"({PER_AREA})")
    parser.add_argument("--all", dest="per_area", action="store_const", const=None)
    parser.add_argument("--area", default="", help="one area alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    return parser.parse_args(argv)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
