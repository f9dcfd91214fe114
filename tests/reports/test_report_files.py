"""Every report of the table, and that what models and documents say stays data in each of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from records import MS, attempt, failed, question, record, turn, write_run
from rich.console import Console

from loadrig import log
from loadrig.analysis.bill import Money
from loadrig.analysis.summary import summarize
from loadrig.reports import FILES, markdown, rig, sweep, terminal, write_all
from loadrig.reports.answers import safe
from loadrig.reports.table import amount, interval, money, one_line, seconds, several
from loadrig.stats import Quantile, quantile
from loadrig.words.corpus import Hit
from loadrig.words.errors import LogError
from loadrig.words.record import Failure, Record, Usage

NASTY = "=1+1 | [red]x[/red] <b>\n| new row | `code` \x1b[31m"


def run_folder(folder: Path, *records: Record, **given: object) -> Path:
    return write_run(folder, records, **given)


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "answers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def printed(folder: Path, width: int = 110) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    terminal.show(summarize(log.read_run(folder)), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("simulated", [False, True])
def test_every_file_of_the_table_is_written(tmp_path: Path, simulated: bool) -> None:
    """One call writes all of them; of a simulated run each that is read by people or programs says so."""
    folder = run_folder(tmp_path, record("a"), failed("f"), simulated=simulated)
    write_all(folder)
    texts = {name: (folder / name).read_text() for name in FILES}
    said = {name for name, text in texts.items() if "dial settings" in text or ",simulated\r\n" in f"{text}\r\n"}
    assert {"summary.json", "report.md"} <= said or not simulated
    assert simulated or "dial settings" not in texts["report.md"]
    assert json.loads(texts["summary.json"])["simulated"] is simulated


@pytest.mark.parametrize("file", list(FILES))
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, file: str) -> None:
    """Something else lies in its place: one error, with the file's name."""
    folder = run_folder(tmp_path, record("a"))
    (folder / file).mkdir()
    with pytest.raises(LogError, match=rf"{file} cannot be written"):
        write_all(folder, files=[file])


def test_a_run_in_which_all_failed_still_reports(tmp_path: Path) -> None:
    """D10: records, report and error table are there; latencies are `-`."""
    folder = run_folder(tmp_path, *(failed(f"f{i}") for i in range(20)))
    write_all(folder)
    text = (folder / "report.md").read_text()
    assert "20 planned = 0 answered + 0 unanswered + 20 failed + 0 not run" in text
    assert "20 timeout" in text
    assert "0/20" in printed(folder)


def test_a_run_without_records_still_reports(tmp_path: Path) -> None:
    """An empty log gives empty tables, not an error."""
    write_all(run_folder(tmp_path), Console(file=io.StringIO()))
    assert "0 planned" in (tmp_path / "report.md").read_text()


def test_a_cell_never_starts_a_formula_and_numbers_stay_numbers(tmp_path: Path) -> None:
    """M1: `=1+1` shows as text; the records keep it; a cost and a negative number are untouched."""
    folder = run_folder(tmp_path, record("a", answer="=1+1", cost="0.05", usage=Usage(input=5, output=7)))
    write_all(folder)
    row = rows_of(folder)[0]
    assert (row["answer"], row["cost"], row["tokens_out"], row["service_ms"]) == ("'=1+1", "0.05", "7", "1000.0")
    assert log.read_run(folder).records[0].answer == "=1+1"
    assert [safe(cell) for cell in ("@x", "+1", "-1", "\tx", "\rx", -1, 0.5, None, "x=1")] == [
        "'@x", "'+1", "'-1", "'\tx", "'\rx", -1, 0.5, None, "x=1",
    ]  # fmt: skip


def test_answers_hold_a_row_for_each_planned_trial(tmp_path: Path) -> None:
    """Key, answer, pre-check and retrieved documents of one trial; warm-up is left out."""
    trial = record(
        "a", retrieved=(Hit("d2", "d2#0", 1.0), Hit("d1", "d1#0", 0.5)), turns=(turn(stop_reason="end_turn"),)
    )
    folder = run_folder(tmp_path, trial, record("w", phase="warmup"), questions=[question(gold=("d1",))])
    write_all(folder)
    rows = rows_of(folder)
    assert len(rows) == 1
    assert (rows[0]["gold"], rows[0]["retrieved"], rows[0]["precheck"]) == ("d1", "d1 d2", "1")
    assert (rows[0]["reference"], rows[0]["stop"], rows[0]["ttft_ms"]) == ("Yes.", "end_turn", "100.0")


def test_what_a_model_says_cannot_leave_its_markdown_cell(tmp_path: Path) -> None:
    """A leaked answer with pipes, tags, links and newlines stays one cell of one row."""
    folder = run_folder(tmp_path, record("a", arm="control", answer=f"yes {NASTY}"))
    text = markdown.render(summarize(log.read_run(folder)))
    row = next(line for line in text.splitlines() if "1+1" in line)
    assert r"yes =1+1 \| \[red\]x\[/red\] \<b\> \| new row \| \`code\`" in row
    assert row.replace(r"\|", "").count("|") == 5
    assert "\x1b" not in text


def test_what_a_plan_says_is_not_markup_on_the_terminal(tmp_path: Path) -> None:
    """Square brackets are shown, not obeyed; escape sequences are gone."""
    folder = run_folder(tmp_path, record("a"), plan={"name": "[red]night[/red]\x1b[2J"}, warnings=["[bold]x"])
    shown = printed(folder)
    assert "plan [red]night[/red] [2J" in shown
    assert "warning: [bold]x" in shown
    assert "\x1b" not in shown


def test_the_headline_fits_a_hundred_columns_and_more(tmp_path: Path) -> None:
    """An arm's name, its times and its cost stand on one line of 106 columns."""
    trial = record("a", arm="rag-bm25-okapi-k10", cost="0.05", turns=(turn("0.05", usage=Usage(input=1, output=1)),))
    line = next(line for line in printed(run_folder(tmp_path, trial), width=106).splitlines() if "okapi" in line)
    assert line.split() == ["rag-bm25-okapi-k10", "1/1", "0", "0.100*/0.100*", "0.200*/0.200*", "1.00*/1.00*", "-/-",
                            "1.0/0.0", "0.05000", "1/1", "-"]  # fmt: skip


def test_what_a_tail_is_and_why_nothing_was_timed_is_said(tmp_path: Path) -> None:
    """`ok` 1/1 beside 2 planned, and 0/0, are explained where they stand; a window too small says so."""
    records = [record("a"), record("t", phase="tail"), record("b", arm="agentic", phase="tail")]
    shown = printed(run_folder(tmp_path, *records))
    assert "too few trials (0 measured)" not in shown
    assert next(line.split()[1:3] for line in shown.splitlines() if line.startswith("rag ")) == ["1/1", "1"]
    assert "tail: trials that ended with fewer than N in flight: not timed" in shown
    assert "agentic: nothing timed, as all 1 trials ended in the tail" in shown


def test_a_window_too_small_for_its_load_gives_its_size_and_no_rate(tmp_path: Path) -> None:
    """Four measured trials of eight in flight: the title gives their number in place of what was reached."""
    records = [record(f"m{i}", begin_ns=0, end_ns=1000) for i in range(4)]
    shown = printed(run_folder(tmp_path, *records, stages=[{"name": "c2", "concurrency": 8}]))
    assert "Stage c2: 8 in flight, too few trials (4 measured) to say what was reached" in shown


def test_failures_are_explained_on_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    """Reason with its phase, how many, and what was said of them, harmless; and what it does to the
    latencies, p99 too."""
    gap = Failure("timeout", f"no content for 60 s {NASTY}", phase="gap")
    records = (record("a"), failed("f", failure=gap), failed("g", failure=gap))
    folder = run_folder(tmp_path, *records, self_measurement=[{**BOUND, "lag_p99_ns": MS}])
    shown, text = printed(folder), markdown.render(summarize(log.read_run(folder)))
    assert "2 timeout (gap)" in shown
    assert "2 x no content for 60 s =1+1 | [red]x[/red] <b>" in " ".join(shown.split())
    assert ["rag", "1/3", *[">30.0*"] * 6] in [line.split() for line in shown.splitlines()]
    assert r"| timeout (gap) |        2 | 2 x no content for 60 s =1+1 \| \[red\]" in text
    assert "\x1b" not in shown + text


def test_nothing_is_cut_off_a_narrow_page(tmp_path: Path) -> None:
    """Ten categories of 14 letters do not fit: their names fold, and every letter is there."""
    names = [f"{letter * 14}" for letter in "BDGHJKVQXZ"]
    folder = run_folder(tmp_path, *(record(name, category=name, question=name) for name in names))
    shown = printed(folder, width=80)
    assert [name for name in names if shown.count(name[0]) < 14] == []


def test_the_terminal_fits_two_screens(tmp_path: Path) -> None:
    """Seven arms, all answered: the tables that say it again, or say that nothing happened, are in report.md only."""
    arms = ("control", "rag-bm25-k3", "rag-bm25-k5", "rag-bm25-k10", "rag-bm25-k20", "full_context", "agentic")
    shown = printed(run_folder(tmp_path, *(record(arm, arm=arm) for arm in arms)))
    assert len(shown.splitlines()) <= 50
    assert "Outcomes" not in shown
    assert max(map(len, shown.splitlines())) <= 110


def test_the_first_screen_tells_whether_to_believe_the_rest(tmp_path: Path) -> None:
    """What came of the trials and every warning stand over the first table; the bill's line says where."""
    folder = run_folder(tmp_path, record("a"), warnings=["the first thing", "the second thing"])
    shown = printed(folder).splitlines()
    first = next(number for number, line in enumerate(shown) if line.startswith("Stage c2"))
    head = "\n".join(shown[:first])
    for said in ("1 planned = 1 answered", "warning: the first thing", "warning: the second thing"):
        assert said in head
    assert next(line for line in shown if line.startswith("Whole bill")).endswith("warnings above")
    assert "\n".join(shown[first:]).count("thing") == 0


def test_an_arm_that_does_not_answer_shows_it_beside_what_is_right(tmp_path: Path) -> None:
    """Right on the one it answered, and silent on another: 1/2 of those asked, 1/1 of graded, the silent one named."""
    folder = run_folder(tmp_path, record("a"), record("s", question="q2", outcome="unanswered", reason="refused"))
    shown = printed(folder)
    assert next(line for line in shown.splitlines() if line.startswith("rag ")).split()[-2] == "1/2"
    assert "right: pre-check, of the questions asked; rag 1 unanswered, 0 failed" in shown
    assert "rag 1/2  1/2    1/1        1      0" in shown


BOUND = {
    "stage": "c2", "process": "w1", "lag_n": 100, "lag_p50_ns": 0, "lag_p99_ns": 6 * MS, "lag_max_ns": 9 * MS,
    "cpu_share_max": 0.1, "gc_pauses": 2, "gc_max_ns": 3 * MS, "in_flight_target": 2, "in_flight_max": 2,
    "loop": "uvloop.Loop",
}  # fmt: skip


def test_hidden_thinking_and_a_client_bound_stage_are_said_beside_the_times(tmp_path: Path) -> None:
    """The reader of a TTFT sees what is in it."""
    folder = run_folder(tmp_path, record("a", turns=(turn(hidden_thinking=True),)), self_measurement=[BOUND])
    shown = printed(folder)
    assert "rag: TTFT includes hidden thinking in 1 of 1 first turns" in shown
    assert "Stage c2: 2 in flight (client-bound)" in shown


def test_the_report_shows_what_the_rig_measured_of_itself(tmp_path: Path) -> None:
    """One row a stage and process: N of it and reached, lag against its limit, CPU, the lag of its reads beside it,
    collections, loop class. And whose stamps the stage's replies have."""
    reply = attempt(headers_ns=1, stamp="kernel", read_lag_ns=2 * MS, read_lag_max_ns=4 * MS)
    records = [record("a", turns=(turn(attempts=(reply, attempt(headers_ns=1, reads_unstamped=1))),))]
    driver = {"stage": "c2", "process": "driver", "lag_p99_ns": 7 * MS}
    folder = run_folder(tmp_path, *records, self_measurement=[BOUND, driver])
    found = summarize(log.read_run(folder))
    itself, stamps = rig.itself(found), rig.stamps(found)
    assert itself is not None
    assert stamps is not None
    assert itself.rows == (
        ("c2, w1!", "2", "2", "0.0", "6.0", "9.0", "5.0", "10 %", "2.0*", "2", "3.0", "uvloop.Loop"),
        ("c2, driver", "-", "-", "-", "7.0", "-", "100.0", "-", "-", "-", "-", "-"),
    )  # fmt: skip
    assert stamps.rows == (("c2", "2", "1", "1", "0", "0", "1", "2.0*", "2.0*", "4.0"),)
    text = markdown.render(found)
    assert all(f"## {table.title}" in text for table in (itself, stamps))


def test_a_sweep_shows_its_stages_side_by_side(tmp_path: Path) -> None:
    """One row a stage in the order they ran, and one for each arm and stage."""
    stages = [{"name": "c1", "concurrency": 1}, {"name": "c16", "concurrency": 16}]
    records = [record("a", stage="c16"), record("b", stage="c1")]
    quiet = [{"stage": name, "process": one, "lag_p99_ns": MS} for name in ("c1", "c16") for one in ("w1", "simulator")]
    folder = run_folder(tmp_path, *records, stages=stages, simulated=True, self_measurement=quiet)
    text = sweep.write(summarize(log.read_run(folder)), folder).read_text()
    assert [line.split()[1] for line in text.splitlines() if line.startswith("| c")] == ["c1", "c16"]
    assert [line.split()[3] for line in text.splitlines() if line.startswith("| rag")] == ["c1", "c16"]
    assert "dial settings" in text


def test_cells_say_not_available_few_and_beyond() -> None:
    """`-` for nothing, `*` for few samples, `>` for a quantile among failures, an open end of an interval."""
    many = Quantile(812_345_678, 200, 200, 790 * MS, None, few=False)
    assert seconds(None) == "-"
    assert seconds(Quantile(1_240_000, 200, 200, None, None, few=False)) == "0.0012"
    assert seconds(many) == "0.812"
    assert [interval(many), interval(None)] == ["0.790 to -", "-"]
    assert seconds(quantile([], 0.5, beyond=[30_000 * MS])) == ">30.0*"
    assert several(None, None) == "-"


def test_money_is_rounded_for_display_only() -> None:
    """Two decimals over one unit, four digits below; partial and open sums say so; unknown is no number."""
    assert [amount(x) for x in ("12.5", "1234.567", "0.005436", "0.00000625", "0", None)] == [
        "12.50", "1,234.57", "0.005436", "0.000006250", "0", "-",
    ]  # fmt: skip
    assert money(Money("0.4", "USD", at_least=False, unknown=1)) == ">= 0.4000 USD"
    assert money(Money(None, "USD", at_least=False, unknown=2)) == "unknown"


def test_a_long_text_is_cut_on_one_line() -> None:
    """Line breaks and control characters become blanks; what is too long ends in an ellipsis."""
    assert one_line("a\nb\x00c\td") == "a b c d"
    assert one_line("abcdef", 4) == "abc…"
