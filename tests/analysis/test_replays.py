"""Replayed answers: by the reply's own id, and by texts alike, with the share that could have been seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import read_run, record, turn

from loadrig.analysis.checks import LONG_CHARS, long_answers_alike
from loadrig.analysis.summary import summarize
from loadrig.log import RunFolder
from loadrig.words.record import Record
from loadrig.words.safeguard import Safeguard


def found(run: RunFolder, name: str) -> Safeguard:
    (one,) = (one for one in summarize(run).safeguards if one.name == name)
    return one


def replied(trial: str, identity: str | None, text: str = "yes", **given: object) -> Record:
    """A trial of one call, whose reply had this id and this text."""
    return record(trial, question=f"q-{trial}", answer=text, turns=(turn(text=text, reply_id=identity),), **given)


def answer(number: int, size: int = LONG_CHARS) -> str:
    """An answer of so many characters that is like no other."""
    return f"{number} ".ljust(size, "x")


def repeated(folder: Path, questions: int, alike: int, *, size: int = LONG_CHARS, repetitions: int = 2) -> RunFolder:
    """So many questions, each asked as often; the answers to the first `alike` of them are alike to the byte."""
    said = (
        (q, i, answer(q if q < alike else questions * i + q, size))
        for q in range(questions)
        for i in range(repetitions)
    )
    return read_run(
        folder, [record(f"{q}-{i}", question=f"q{q}", repetition=i + 1, answer=text) for q, i, text in said]
    )


def test_one_reply_twice_is_seen_from_the_first_on(tmp_path: Path) -> None:
    """A-83: of three replies two have one id and one text: one was replayed, and in which arm is said."""
    records = [replied("a", "m1"), replied("b", "m2", "no"), replied("c", "m1", arm="control")]
    one = found(read_run(tmp_path, records), "reply ids")
    assert one.verdict == "failed"
    assert one.sentence == "1 of 3 replies have id and text of an earlier one: replayed (control 1 of 1)"


@pytest.mark.parametrize(
    ("identities", "texts", "verdict"),
    [
        (("m1", "m2"), ("yes", "yes"), "passed"),
        (("m1", "m1"), ("yes", "no"), "not checked"),
        ((None, "m1"), ("yes", "no"), "not checked"),
        ((None, None), ("yes", "yes"), "not checked"),
    ],
)
def test_ids_that_name_no_reply_tell_nothing(
    tmp_path: Path, identities: tuple[str | None, ...], texts: tuple[str, ...], verdict: str
) -> None:
    """A-83: the same words under two ids are two replies; one id over two texts, or none, cannot be checked."""
    records = [replied(str(n), *one) for n, one in enumerate(zip(identities, texts, strict=True))]
    assert found(read_run(tmp_path, records), "reply ids").verdict == verdict


@pytest.mark.parametrize(("alike", "verdict"), [(7, "failed"), (6, "passed")])
def test_a_small_share_of_long_answers_alike_is_flagged(tmp_path: Path, alike: int, verdict: str) -> None:
    """A-83: at 1 % by chance 7 of 220 or more come in .0071 of runs, 6 or more in .024: 3.2 % is flagged, 2.7 % not."""
    one = found(repeated(tmp_path, 220, alike), "determinism")
    assert one.verdict == verdict
    assert f"{alike} of 220 pairs" in one.sentence


def test_a_run_says_which_share_of_replays_it_could_have_seen(tmp_path: Path) -> None:
    """A-83: with 40 pairs three alike are flagged; 10.4 % give three or more in four of five cases."""
    (alike,) = long_answers_alike(repeated(tmp_path, 40, 0))
    assert (alike.pairs, alike.same, alike.flagged) == (40, 0, False)
    assert alike.seen == pytest.approx(0.104, abs=0.001)
    one = found(repeated(tmp_path / "again", 40, 0), "determinism")
    assert one.sentence.endswith("replays of 10.4% of requests and more would have been seen")


def test_short_answers_are_no_sign_at_a_small_share(tmp_path: Path) -> None:
    """A-83: 7 of 220 short ones are 3 %, which chance may give; and it is said that no small share can be seen."""
    run = repeated(tmp_path, 220, 7, size=LONG_CHARS - 1)
    assert long_answers_alike(run) == ()
    one = found(run, "determinism")
    assert one.verdict == "passed"
    assert "too few of 160 characters and more to see replays of a small share" in one.sentence


def test_no_answer_is_in_two_pairs(tmp_path: Path) -> None:
    """Four repetitions are two pairs, three are one; what is said of a share is of questions, not of pairs."""
    assert [
        [row.pairs for row in long_answers_alike(repeated(tmp_path / str(n), 5, 0, repetitions=n))] for n in (2, 3, 4)
    ] == [[5], [5], [10]]
