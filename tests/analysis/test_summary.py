"""The summary as a whole: planned is the sum of the four, warnings say what was wrong, the JSON is strict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from records import S, attempt, failed, plain, question, read_run, record, trial_of, turn

from loadrig.analysis.summary import Summary, summarize
from loadrig.words.record import Failure, Record, ToolCall, Usage


def summary(folder: Path, *records: Record, **given: Any) -> Summary:
    return summarize(read_run(folder, records, **given))


def answers(arm: str, right: int, *, of: int = 20) -> list[Record]:
    """One answer to each of so many questions, the first `right` of them right."""
    texts = (f"{'yes' if i < right else 'no'} {i}" for i in range(of))
    return [record(f"{arm}{i}", arm=arm, question=f"q{i}", answer=text) for i, text in enumerate(texts)]


def warned(found: Summary, words: str) -> bool:
    return any(words in warning for warning in found.warnings)


def checked(found: Summary, name: str) -> tuple[str, str]:
    """Verdict and sentence of a safeguard of one model, or of the run."""
    (one,) = (one for one in found.safeguards if one.name == name)
    return one.verdict, one.sentence


def test_planned_is_answered_unanswered_failed_and_not_run(tmp_path: Path) -> None:
    """Four trials of the plan, one of each outcome, and one of warm-up, counted apart."""
    records = [
        record("a"), record("u", outcome="unanswered", reason="refused"), failed("f"),
        record("n", outcome="not_run", reason="stopped"), record("w", phase="warmup"),
    ]  # fmt: skip
    plan, warmup = summary(tmp_path, *records).counts
    assert (plan.planned, plan.answered, plan.unanswered, plan.failed, plan.not_run) == (4, 1, 1, 1, 1)
    assert (warmup.planned, warmup.answered) == (1, 1)
    assert plan.balanced
    assert warmup.balanced


def test_a_planned_trial_without_a_record_is_missing(tmp_path: Path) -> None:
    """Two planned, one recorded: one missing, not balanced, and the warning says how to go on."""
    trials = [trial_of(record("a")), trial_of(record("b"), 1)]
    found = summary(tmp_path, record("a"), trials=trials)
    assert (found.counts[0].missing, found.counts[0].balanced) == (1, False)
    assert warned(found, "1 of 2 trials (plan) have no record: --resume asks them")


def test_a_record_beside_the_plan_is_noticed(tmp_path: Path) -> None:
    """Nothing is counted twice: a record of an unplanned trial breaks the balance."""
    found = summary(tmp_path, record("a"), record("b"), trials=[trial_of(record("a"))])
    assert not found.counts[0].balanced
    assert warned(found, "not those of the plan")


def test_identical_repetitions_are_flagged(tmp_path: Path) -> None:
    """A-83: two of two neighbouring repetitions byte for byte the same; the control's refusals are no mark of a cache,
    so the table flags what the warning names."""
    records = [record(f"{arm}{i}", arm=arm, repetition=i) for arm in ("control", "rag") for i in (1, 2, 3)]
    found = summary(tmp_path, *records)
    assert [(row.arm, row.same, row.pairs, row.flagged) for row in found.repeated_answers] == [
        ("control", 2, 2, False), ("rag", 2, 2, True),
    ]  # fmt: skip
    verdict, sentence = checked(found, "determinism")
    assert verdict == "failed"
    assert "byte for byte the same (rag 2 of 2)" in sentence


def test_a_corpus_on_which_every_arm_is_right_is_called_out(tmp_path: Path) -> None:
    """A-24: 17 of 20 in every arm warns, with the numbers; one arm at 16 does not."""
    found = summary(tmp_path / "1", *answers("rag", 17), *answers("agentic", 20))
    verdict, sentence = checked(found, "saturation")
    assert verdict == "warned"
    assert "every arm is right on at least 85% of the questions (rag 17 of 20, agentic 20 of 20)" in sentence
    assert not warned(summary(tmp_path / "2", *answers("rag", 16), *answers("agentic", 20)), "do not tell arms apart")


def test_few_questions_say_nothing_about_the_corpus(tmp_path: Path) -> None:
    """19 of 19 right is no reason to call the questions easy."""
    assert not warned(summary(tmp_path, *answers("rag", 19, of=19)), "do not tell arms apart")


def test_a_stage_whose_trials_are_mostly_tail_is_called_too_short(tmp_path: Path) -> None:
    """Half of rag is tail: the reader is told which figures look too good; 1 of 10 would pass."""
    tail = [record(f"t{i}", phase="tail") for i in range(5)]
    found = summary(tmp_path, *(record(f"m{i}") for i in range(5)), *tail)
    assert warned(
        found, "stage c2 is too short for 2 in flight: 5 of 10 trials ended in its tail and are not timed (rag"
    )
    assert (found.arms[0].n, found.arms[0].timed, found.arms[0].tail, found.arms[0].again) == (10, 5, 5, 0)
    fine = summary(tmp_path / "fine", *(record(f"m{i}") for i in range(9)), tail[0])
    assert not warned(fine, "too short")


def test_planned_trials_that_are_not_timed_are_accounted_for(tmp_path: Path) -> None:
    """Four planned: one timed, one tail, one lost and asked again, one not run."""
    records = [
        record("m"), record("t", phase="tail"), failed("a", "lost"), record("a", try_no=2),
        record("n", outcome="not_run", reason="stopped"),
    ]  # fmt: skip
    arm = summary(tmp_path, *records).arms[0]
    assert (arm.n, arm.timed, arm.tail, arm.again) == (4, 1, 1, 1)


def test_more_in_flight_than_asked_for_is_doubted(tmp_path: Path) -> None:
    """Worker 1 has two in flight for 5 s, then idles; worker 2 has two for 5 s of its own: 4 of 2 cannot be."""
    records = [
        record(f"{worker}{i}", worker=worker, begin_ns=0, end_ns=5 * S) for worker in ("w1", "w2") for i in range(2)
    ]
    assert warned(summary(tmp_path, *records), "stage c2: 4.00 in flight reached is more than the 2 asked for")


def test_starved_answers_are_warned_of_with_the_remedy(tmp_path: Path) -> None:
    """Every answer of an arm starved: the reader is told to raise max_tokens."""
    starved = [record(f"s{i}", outcome="unanswered", reason="starved", answer="") for i in range(3)]
    verdict, sentence = checked(summary(tmp_path, *starved), "output ceiling")
    assert verdict == "failed"
    assert "used up before any text (rag 3 of 3): raise max_tokens" in sentence


def test_why_trials_failed_is_in_the_summary(tmp_path: Path) -> None:
    """Three timeouts of one phase with two details, a fault of the arm's own, one of warm-up: each reason counted,
    the commonest detail on one line with its number."""
    slow = [failed(f"t{i}", failure=Failure("timeout", detail, phase="gap")) for i, detail in enumerate("aab")]
    broke = failed("e", "arm_error", failure=Failure("arm_error", "ValueError: no\nsuch (mine.py:7)"))
    found = summary(tmp_path, *slow, broke, failed("w", phase="warmup"))
    assert [(f.kind, f.reason, f.phase, f.n, f.detail_n, f.detail) for f in found.failures] == [
        ("plan", "timeout", "gap", 3, 2, "a"), ("plan", "arm_error", None, 1, 1, "ValueError: no such (mine.py:7)"),
        ("warmup", "timeout", None, 1, 1, "x"),
    ]  # fmt: skip
    assert [(row.reason, row.phase, row.n) for row in found.arms[0].outcomes] == [
        ("arm_error", None, 1), ("timeout", "gap", 3),
    ]  # fmt: skip


def test_the_json_is_strict_and_missing_is_null(tmp_path: Path) -> None:
    """H5, M2: a run in which all failed has nulls, no NaN, and the beyond form of its latencies."""
    found = plain(summary(tmp_path, failed("f")))
    service = found["arms"][0]["service"]
    assert service["successes"]["p50"] is None
    assert service["with_failures"]["p50"] == {
        "value_ns": None, "n": 1, "ok": 0, "low_ns": None, "high_ns": None, "few": True, "beyond_ns": 30 * S,
    }  # fmt: skip
    assert found["arms"][0]["tokens_per_question"]["prompt"] is None


def test_tokens_are_summed_over_turns_and_averaged_over_what_was_reported(tmp_path: Path) -> None:
    """A-59: one trial of 100 + 300 prompt tokens in two turns, one unreported: 400 a question, 200 a turn, n = 1."""
    turns = tuple(turn("0.01", usage=Usage(input=i, cache_read=0, output=10)) for i in (100, 300))
    known = record("a", usage=Usage(input=400, cache_read=0, output=20), turns=turns)
    arm = summary(tmp_path, known, record("b")).arms[0]
    assert (arm.tokens_per_question.n, arm.tokens_per_question.prompt, arm.tokens_per_question.cache_read) == (
        1,
        400,
        0,
    )
    assert (arm.tokens_per_question.thinking, arm.tokens_per_turn.prompt) == (None, 200)
    assert [(row.turn, row.n, row.prompt, row.cost) for row in arm.by_turn] == [(1, 1, 100, 0.01), (2, 1, 300, 0.01)]


def test_the_crediting_rule_is_stamped(tmp_path: Path) -> None:
    """A-55: whoever compares recall sees by which rule documents were credited."""
    assert plain(summary(tmp_path, record("a")))["crediting_rule"] == "1"


def test_agentic_behaviour_is_counted(tmp_path: Path) -> None:
    """A-61: 3 calls and 1; a search without hits, then other words, is reformulated; the same words again are not."""

    def search(words: str, hits: int) -> ToolCall:
        return ToolCall("search", words, ok=True, docs=(), ns=1, hits=hits)

    read = ToolCall("read", "{}", ok=True, docs=("a",), ns=1)
    again = record("a", turns=(turn(tool_calls=(search("x", 0),)), turn(tool_calls=(search("y", 2), read))))
    same = record(
        "b", reason="turn_cap", outcome="unanswered", turns=(turn(tool_calls=(search("x", 0), search("x", 0))),)
    )
    tools = summary(tmp_path, again, same).arms[0].tools
    assert (tools.per_trial.mean, tools.per_trial.max, tools.by_tool) == (2.5, 3, {"read": 1, "search": 4})
    assert (tools.searched, tools.reformulated, tools.capped) == (2, 1, 1)


def test_the_runs_own_warnings_come_first_and_models_are_not_compared_by_tokens(tmp_path: Path) -> None:
    """A-90: two models in one run: said once, behind what the run itself warned of."""
    found = summary(tmp_path, record("a"), record("b", model="n"), warnings=["a worker was lost"])
    assert found.warnings[0] == "a worker was lost"
    verdict, sentence = checked(found, "tokens across models")
    assert verdict == "warned"
    assert "compare models by cost only" in sentence


def test_arms_stand_in_the_plans_order_the_control_first(tmp_path: Path) -> None:
    """The plan says k3, k10, control; trials ran shuffled: control, k3, k10."""
    plan = {"name": "p", "arms": [{"name": name} for name in ("k3", "k10", "control")]}
    found = summary(tmp_path, *(record(arm, arm=arm) for arm in ("k10", "control", "k3")), plan=plan)
    assert [arm.arm for arm in found.arms] == ["control", "k3", "k10"]
    assert [row.arm for row in found.accuracy] == ["control", "k3", "k10"]


def test_odd_counters_are_told(tmp_path: Path) -> None:
    """F4: writes without a split; the reader is told, with the number of trials."""
    odd = record("a", usage=Usage(input=1, output=1, cache_write_5m=9, flags=("write split unknown",)))
    assert warned(summary(tmp_path, odd), "token counters of 1 trials were odd: write split unknown")


def test_why_money_is_unknown_or_a_bound_is_told(tmp_path: Path) -> None:
    """F4, F6: each reason once, with the number of requests it holds for, tries asked again among them."""
    noted = {name: turn(attempts=(attempt(cost="1", cost_notes=(name,)),)) for name in ("no price", "at least")}
    first = record("a", turns=(noted["no price"],), try_no=1)
    found = summary(tmp_path, first, record("a", turns=tuple(noted.values()), try_no=2))
    assert warned(found, "cost of 2 requests: no price")
    assert warned(found, "cost of 1 requests: at least")


def test_a_simulated_run_says_so(tmp_path: Path) -> None:
    """What comes from the simulator is dial settings, not evidence."""
    found = summary(tmp_path, record("a"), simulated=True, status="interrupted", questions=[question()])
    assert found.simulated
    assert "dial settings" in (found.note or "")
    assert warned(found, "the run is interrupted")


def test_a_bare_manifest_is_enough(tmp_path: Path) -> None:
    """A run whose driver died early still has a summary."""
    run = read_run(tmp_path, [])
    bare = type(run)(run.path, {}, run.trials, run.questions, run.records, run.superseded)
    assert plain(summarize(bare))["bill"]["total"]["amount"] == "0"
