"""Feeds damaged replies to the client for as long as you like, and says how many bytes it bore.

    python benchmarks/fuzz.py --megabytes 10 --first 0 --provider openai

Each reply is a whole HTTP response with an event stream inside, bent at random (seeded by its number), cut into reads
at random, and read a second time in one piece. It must become a record that is strict JSON and the same both times.
Exit code 1 with the number of the first that did not; `check(NUMBER)` of `tests/mutated_streams.py` runs it again.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mutated_streams import WHOLE, check, damaged, outcome_of


def main() -> int:
    """Prints streams, bytes, seconds, the slowest stream and what they came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--provider", choices=tuple(WHOLE), default="anthropic")
    options = parser.parse_args()
    done, number, slowest_s, began = 0, options.first, 0.0, time.monotonic()
    became = collections.Counter[str]()
    while done < options.megabytes * 1e6:
        at = time.monotonic()
        try:
            done += check(number, options.provider)
        except Exception as error:  # noqa: BLE001 - whatever breaks is the find
            print(f"reply {number}: {type(error).__name__}: {error}")
            return 1
        slowest_s = max(slowest_s, time.monotonic() - at)
        if number % 10 == 0:
            turn = outcome_of(*damaged(number, options.provider), options.provider)
            became[turn.reason or turn.outcome] += 1
        number += 1
    took_s = time.monotonic() - began
    print(f"{number - options.first:,} replies, {done:,} bytes, {took_s:.1f} s, slowest {slowest_s * 1000:.1f} ms")
    print("every tenth came to:", ", ".join(f"{name} {n}" for name, n in became.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
