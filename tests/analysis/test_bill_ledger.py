"""The ledger: the bill by stage, arm, model, category and purpose, with tokens; and its lines by arm."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from records import attempt, failed, read_run, record, turn

from loadrig.analysis.bill import bill
from loadrig.analysis.ledger import PARTS, Entry, Tokens, ledger, spent, tokens
from loadrig.log import RunFolder
from loadrig.words.record import Record, Usage

USED = Usage(input=10, cache_write_5m=2, cache_read=3, output=7, thinking=4)


def priced(trial: str, cost: str, **given: object) -> Record:
    return record(trial, cost=cost, turns=(turn(cost, usage=USED),), **given)


def mixed(folder: Path) -> RunFolder:
    """Two answered, one of them by two attempts, one failed, one warm-up, one try that was asked again."""
    retried = turn(attempts=(attempt(cost="0.02", usage=USED), attempt(cost="0.01", usage=USED)), cost="0.03")
    return read_run(
        folder,
        [
            priced("a", "0.16", try_no=1), priced("a", "0.32", try_no=2), record("r", cost="0.03", turns=(retried,)),
            failed("f", cost="0.04", turns=(turn("0.04", usage=USED),)), priced("w", "0.08", phase="warmup"),
            record("n", outcome="not_run", reason="stopped", answer=""),
        ],
    )  # fmt: skip


def sum_of(amounts: Iterable[str | None]) -> Decimal:
    return sum((Decimal(amount or "nan") for amount in amounts), Decimal(0))


def by_item(run: RunFolder) -> dict[str, Entry]:
    return {entry.item: entry for entry in ledger(run)}


def test_what_asking_took_is_one_entry_and_the_rest_has_its_own(tmp_path: Path) -> None:
    """0.32 + 0.01 measured, 0.02 retries, 0.04 failed: 0.39 for three asked, two answered, both right."""
    found = by_item(mixed(tmp_path))
    questions = found["questions"]
    assert (questions.money.amount, questions.trials, questions.asked) == ("0.39", 3, 3)
    assert (questions.answered, questions.correct) == (2, 2)
    assert dict(zip(PARTS, questions.parts, strict=True)) == {
        "measured": "0.33", "tail": "0", "classifier": "0", "retries": "0.02", "failed": "0.04",
    }  # fmt: skip
    assert {item: entry.money.amount for item, entry in found.items() if item != "questions"} == {
        "warmup": "0.08", "superseded": "0.16",
    }  # fmt: skip
    assert (found["warmup"].asked, found["warmup"].parts) == (0, ())


def test_the_ledger_sums_to_the_bill_line_by_line(tmp_path: Path) -> None:
    """0.63 in all: entries, lines by arm, and the bill are three cuts through the same charges."""
    run = mixed(tmp_path)
    whole = bill(run)
    assert (
        sum_of(entry.money.amount for entry in ledger(run)) == Decimal(whole.total.amount or "nan") == Decimal("0.63")
    )
    lines = {line.name: Decimal(line.money.amount or "nan") for line in whole.lines}
    found = {name: sum_of(one.money.amount for one in spent(run) if one.line == name) for name in lines}
    assert found == lines


def test_tokens_are_summed_over_every_charge_by_kind(tmp_path: Path) -> None:
    """Six charges of 10 + 2 + 3 prompt tokens and 7 output, 4 of it thinking; the hour's write was never told."""
    found = [one.tokens for one in spent(mixed(tmp_path))]
    assert sum(of.told for of in found) == 6
    assert sum(of.prompt or 0 for of in found) == 90
    assert (sum(of.output or 0 for of in found), sum(of.thinking or 0 for of in found)) == (42, 24)
    assert {of.cache_write_1h for of in found} == {None}


def test_what_no_reply_told_is_not_nothing() -> None:
    """Of no charge at all every counter is unknown."""
    assert tokens([]) == Tokens(told=0, untold=0)
    assert Tokens().prompt is None


def test_entries_are_by_stage_arm_model_and_category(tmp_path: Path) -> None:
    """Four trials that differ in one of these each are four entries."""
    records = [
        priced("a", "1"),
        priced("b", "1", arm="full"),
        priced("c", "1", category="trap"),
        priced("d", "1", stage="c9"),
    ]
    assert len(ledger(read_run(tmp_path, records))) == 4
