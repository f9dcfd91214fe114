"""From an ended trial to its record: outcome, sums, money."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from records import attempt, question

from loadrig.cost import Prices
from loadrig.words.arm import Answer
from loadrig.words.prompt import Reply, Said
from loadrig.words.record import Failure, Record, Turn, Usage
from loadrig.words.trial import Trial
from loadrig.worker.client import Notes
from loadrig.worker.recording import Ended, record_of, summed
from loadrig.worker.setup import Setup
from plans import plan

MODEL = "claude-haiku-5-5"
TRIAL = Trial("t1", 0, "rag", MODEL, "q1", "fact", 1, "c2", "measured")
SETUP = Setup("r1", "w1", plan(), Path(), {}, Prices.load())
REPLY = Reply("yes", "end", (), Said(b"[]"))


def _turn(**given: Any) -> Turn:
    usage = Usage(input=1000, output=100)
    fields = {"outcome": "answered", "reason": None, "reply_model": MODEL, "text": "yes"}
    return Turn(**{**fields, "attempts": (attempt(begin_ns=50, usage=usage),), **given})


def _record(*turns: Turn, answer: Answer | None = None, failure: Failure | None = None, **notes: Any) -> Record:
    fields = {"retrieval_ns": None, "retrieval_queue_ns": None, "tool_ns": None, **notes}
    ended = Ended(
        TRIAL, question(), answer, failure, Notes(turns, **fields),
        began_at="2026-11-20T12:00:00.000000Z", begin_ns=0, end_ns=1000,
    )  # fmt: skip
    return record_of(ended, SETUP)


def test_tokens_and_money_are_summed_over_turns() -> None:
    """Two turns of 1,000 in and 100 out at 0.10 and 0.50 a million: 2,000, 200, and 0.0003."""
    record = _record(_turn(), _turn(), answer=Answer(REPLY))
    assert record.usage == Usage(input=2000, output=200)
    assert record.cost == "0.00030"


def test_first_token_counts_from_the_trials_begin_of_its_first_turn() -> None:
    """First turn's first token at 300, last turn's first answer token at 700: 300 and 700, not the other way round."""
    first = _turn(attempts=(attempt(begin_ns=50, first_token_ns=300, first_answer_ns=310),))
    last = _turn(attempts=(attempt(begin_ns=500, first_token_ns=690, first_answer_ns=700),))
    record = _record(first, last, answer=Answer(REPLY))
    assert (record.trial_ttft_ns, record.ttfat_ns, record.service_ns) == (300, 700, 1000)


def test_a_retried_attempt_stays_in_the_bill() -> None:
    """A broken attempt with usage and the good one after it are both paid; a refused one costs nothing."""
    attempts = (
        attempt(http_status=429, failure=Failure("rate_limited", "x")),
        attempt(usage=Usage(input=1000, output=1, exact=False), failure=Failure("incomplete", "x")),
        attempt(usage=Usage(input=1000, output=100)),
    )
    record = _record(_turn(attempts=attempts), answer=Answer(REPLY))
    assert record.usage == Usage(input=2000, output=101, exact=False)
    assert [one.cost for one in record.turns[0].attempts] == ["0", "0.0001005", "0.00015"]


def test_a_request_that_was_sent_and_not_replied_to_may_be_on_the_bill() -> None:
    """No status came: unknown when it was sent whole, nothing when it was not."""
    attempts = (attempt(http_status=None, upload_ns=9), attempt(http_status=None))
    record = _record(_turn(attempts=attempts), failure=Failure("timeout", "x"))
    assert [one.cost for one in record.turns[0].attempts] == [None, "0"]
    assert record.cost is None


def test_a_turn_of_unknown_cost_makes_the_trial_unknown() -> None:
    """A reply of a model without a price: None, never the sum of the rest."""
    record = _record(_turn(), _turn(reply_model="unheard-of"), answer=Answer(REPLY))
    assert record.cost is None
    assert record.usage == Usage(input=2000, output=200)


def test_a_cap_of_ours_is_no_answer() -> None:
    """An agent stopped by its cap is unanswered/turn_cap though its last turn was fine."""
    record = _record(_turn(), answer=Answer(REPLY, stopped="turn_cap"))
    assert (record.outcome, record.reason) == ("unanswered", "turn_cap")


def test_a_trial_ended_from_outside_is_billed_at_least() -> None:
    """With a turn in flight when it ended, cost is unknown and the tokens are a lower bound."""
    record = _record(_turn(), failure=Failure("cancelled", "x"), broken_off=True)
    assert (record.outcome, record.reason, record.cost) == ("failed", "cancelled", None)
    assert record.usage == Usage(input=1000, output=100, exact=False)


def test_a_trial_that_failed_before_its_first_turn_has_a_record() -> None:
    """No turn at all: failed, no latency of a token, no tokens, no money."""
    record = _record(failure=Failure("timeout", "x", phase="total"))
    assert (record.outcome, record.trial_ttft_ns, record.usage, record.cost) == ("failed", None, None, "0")


def test_missing_counters_stay_missing_in_a_sum() -> None:
    """A counter that none reported is null; one that some reported is their sum."""
    assert summed([Usage(input=5), Usage(input=6, output=1), None]) == Usage(input=11, output=1)
    assert summed([None]) is None


def test_how_a_reply_was_served_prices_it() -> None:
    """Batch in the United States: 0.00015 x 0.5 x 1.1; the words stay in the trial's usage."""
    served = Usage(input=1000, output=100, service_tier="batch", inference_geo="us")
    record = _record(_turn(attempts=(attempt(usage=served),)), answer=Answer(REPLY))
    assert (record.cost, record.usage) == ("0.0000825", served)


def test_why_a_cost_is_unknown_or_a_bound_stands_with_its_attempt() -> None:
    """A speed that has no price, and a reply that broke off: no error, a note each."""
    fast = _record(_turn(attempts=(attempt(usage=Usage(input=1, output=1, speed="fast")),)), answer=Answer(REPLY))
    broken = _record(_turn(attempts=(attempt(usage=Usage(input=1, output=1, exact=False)),)), answer=Answer(REPLY))
    notes = [record.turns[0].attempts[0].cost_notes for record in (fast, broken)]
    assert fast.cost is None
    assert notes == [
        ("no price for model 'claude-haiku-5-5' served as 'fast'",),
        ("at least: the final usage did not come",),
    ]


def test_turns_served_in_different_ways_have_no_common_word() -> None:
    """What all turns agree on is kept; what they do not is null."""
    mixed = summed([Usage(speed="fast", inference_geo="us"), Usage(speed="standard", inference_geo="us")])
    assert mixed == Usage(inference_geo="us")


def test_waiting_between_attempts_is_summed_over_attempts_and_turns() -> None:
    """A first turn that waited 200 and 400 before its retries, a second that waited 50: 650 of the trial."""
    waited = (attempt(), attempt(backoff_ns=200), attempt(backoff_ns=400))
    record = _record(_turn(attempts=waited), _turn(attempts=(attempt(), attempt(backoff_ns=50))), answer=Answer(REPLY))
    assert record.backoff_ns == 650
    assert _record(_turn(), answer=Answer(REPLY)).backoff_ns == 0
