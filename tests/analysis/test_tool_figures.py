"""What an agent does, by arm and category: the study's two runs in made-up calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import read_run, record, turn

from loadrig.analysis.selection import asked
from loadrig.analysis.tools import ArmTools, tools_by_arm
from loadrig.words.record import Record, ToolCall

LIST = ToolCall("list_documents", "{}", ok=True, docs=(), ns=1)
READ = ToolCall("read", '{"document":"a"}', ok=True, docs=("a",), ns=1)


def search(words: str, hits: int = 1) -> ToolCall:
    return ToolCall("search", f'{{"query":"{words}"}}', ok=True, docs=(), ns=1, hits=hits)


def trials(*, searches: int, reads: int, again: int) -> list[Record]:
    """Sixty trials: a listing each, and so many searches and reads in all; `again` reformulate one without hits."""
    records = []
    for i in range(60):
        found = searches // 60 + (i < searches % 60)
        read = reads // 60 + (i < reads % 60)
        queries = [search(f"w{n}", hits=0 if i < again and n == 0 else 1) for n in range(found)]
        calls = (LIST, *queries, *[READ] * read)
        records.append(record(f"t{i:02}", arm="agentic", turns=(turn(tool_calls=calls),)))
    return records


def measured(folder: Path, records: list[Record]) -> ArmTools:
    run = read_run(folder, records)
    (found,) = tools_by_arm(run, asked(run))
    return found


@pytest.mark.parametrize(
    ("searches", "reads", "again", "mean", "share"), [(121, 95, 23, 4.6, 0.383), (155, 151, 32, 6.1, 0.533)]
)
def test_the_studys_figures_come_out(
    tmp_path: Path, searches: int, reads: int, again: int, mean: float, share: float
) -> None:
    """A-61: 60 listings, 121 searches and 95 reads are 4.6 calls a question, 23 of 60 searched again; and run 2."""
    whole = measured(tmp_path, trials(searches=searches, reads=reads, again=again)).categories[0]
    assert whole.use.by_tool == {"list_documents": 60, "read": reads, "search": searches}
    assert whole.use.per_trial.mean == pytest.approx(mean)
    assert whole.reformulated is not None
    assert (whole.reformulated.k, round(whole.reformulated.share, 3)) == (again, share)


def test_least_most_and_the_cap_are_by_category(tmp_path: Path) -> None:
    """From 1 call to 3, one of two at the cap; a trial without calls is in the mean of its arm."""
    records = [
        record("1", arm="agentic", turns=(turn(tool_calls=(LIST, READ, READ)),), outcome="unanswered",
               reason="turn_cap"),
        record("2", arm="agentic", category="trap", turns=(turn(tool_calls=(LIST,)),)),
        record("3", arm="agentic", category="trap"), record("4"),
    ]  # fmt: skip
    found = {row.category: row for row in measured(tmp_path, records).categories}
    assert (found["all"].use.per_trial.n, found["all"].use.per_trial.min, found["all"].use.per_trial.max) == (3, 0, 3)
    assert found["fact"].capped is not None
    assert (found["fact"].capped.k, found["fact"].capped.n, found["trap"].use.per_trial.mean) == (1, 1, 0.5)


def test_the_same_search_again_is_no_reformulation(tmp_path: Path) -> None:
    """Nor is another one after a search that found something."""
    same = record("1", arm="agentic", turns=(turn(tool_calls=(search("a", 0), search("a", 0))),))
    other = record("2", arm="agentic", turns=(turn(tool_calls=(search("a", 1), search("b", 1))),))
    assert measured(tmp_path, [same, other]).categories[0].use.reformulated == 0
