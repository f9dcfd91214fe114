"""Time per output token by the length of the reply."""

from __future__ import annotations

from pathlib import Path

from records import MS, read_run, record, turn

from loadrig.analysis.speed_by_length import Replies, speeds
from loadrig.words.record import Record, Usage


def reply(name: str, tokens: int, tpot_ms: int, **more: object) -> Record:
    return record(name, turns=(turn(usage=Usage(output=tokens), tpot_ns=tpot_ms * MS),), **more)


def test_replies_fall_into_groups_of_like_number_by_length(tmp_path: Path) -> None:
    """Twenty replies of 1 to 20 tokens, the longer ten slower: two groups of ten with their medians."""
    trials = [reply(f"t{n:02d}", n, 5 if n <= 10 else 9) for n in range(1, 21)]
    (arm,) = speeds(read_run(tmp_path, trials))
    assert arm.groups == (Replies(10, 5, 5 * MS), Replies(10, 15, 9 * MS))


def test_what_has_no_rate_is_in_no_group(tmp_path: Path) -> None:
    """A failure, a burst without TPOT and a reply without a count of tokens are left out."""
    others = (
        reply("f", 5, 1, outcome="failed", reason="timeout"),
        record("b", turns=(turn(usage=Usage(output=4)),)),
        record("c", turns=(turn(tpot_ns=MS),)),
    )
    (arm,) = speeds(read_run(tmp_path, (reply("a", 3, 7), *others)))
    assert arm.groups == (Replies(1, 3, 7 * MS),)
