"""A target that does not let us in: told once, at once, over a real socket."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from records import failed, record
from scripted_server import Script
from small_run import Fired, fire
from stream_events import reply

from loadrig.fleet.admission import Admission
from loadrig.words.record import Failure, Record
from loadrig.words.settings import ModelSettings
from plans import plan


def refusal(status: int) -> Script:
    body = b'{"type":"error","error":{"type":"authentication_error","message":"invalid key"}}'
    head = b"HTTP/1.1 %d No\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
    return Script([(0, body)], head=head, chunked=False)


def fired(folder: Path, *scripts: Script) -> Fired:
    """Four questions, 25 times over, two at once: a hundred trials of one model."""
    small = plan(repetitions=25, model=(ModelSettings(id="m-1"),))
    return fire(small, {"m-1": scripts}, folder)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_ends_the_run_at_once_with_one_message(tmp_path: Path, status: int) -> None:
    """Of a hundred trials a handful is asked; the rest is not run; one warning names the refusal."""
    found = fired(tmp_path, refusal(status))
    outcomes = Counter((r.outcome, r.reason) for r in found.run.records)
    asked = outcomes["failed", "http_4xx"]
    assert 3 <= asked <= 8  # two in flight, and what had been leased ahead
    assert outcomes == {("failed", "http_4xx"): asked, ("not_run", "stopped"): 100 - asked}
    assert len(found.servers["m-1"].requests) == asked
    (told,) = (warning for warning in found.summary.warnings if "refuses us" in warning)
    assert f"HTTP {status}, authentication_error: invalid key" in told


def test_a_run_that_is_let_in_goes_on_through_later_refusals(tmp_path: Path) -> None:
    """One good reply, then 401 to all: every trial is asked, the refusals are results."""
    found = fired(tmp_path, Script([(0, reply())]), refusal(401))
    assert Counter(r.outcome for r in found.run.records) == {"answered": 1, "failed": 99}


def refused(trial: str, status: int) -> Record:
    return failed(trial, "http_4xx", failure=Failure("http_4xx", "x", http_status=status))


@pytest.mark.parametrize(
    ("records", "denied"),
    [
        ([refused("a", 401), refused("b", 403)], False),
        ([refused("a", 401), refused("b", 401), refused("c", 401)], True),
        ([refused("a", 407), refused("b", 407), refused("c", 407)], True),
        ([record("a"), refused("b", 401), refused("c", 401), refused("d", 401)], False),
        ([failed("a"), refused("b", 401), refused("c", 401), refused("d", 401)], False),
        ([refused("a", 400), refused("b", 401), refused("c", 401), refused("d", 401)], False),
        ([record("n", outcome="not_run"), refused("b", 401), refused("c", 401), refused("d", 401)], True),
    ],
)
def test_three_refusals_and_nothing_else_are_enough(records: list[Record], denied: bool) -> None:
    """Only a run that began with three 401, 403 or 407 is given up; a trial not run says nothing."""
    admission = Admission()
    for one in records:
        admission.add(one)
    assert (admission.denied is not None) is denied
