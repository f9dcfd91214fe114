"""Dates, citations and figures in the words of papers."""

from __future__ import annotations

import pytest

from loadrig.corpus.manifest import Entry
from loadrig.corpus.variants.amounts import Amounts
from loadrig.corpus.variants.dates import without_dates, written
from loadrig.corpus.variants.opaque import is_mixed, opaque_ids
from loadrig.corpus.variants.recombining import Section, cut
from loadrig.corpus.variants.references import numbered_kind, numbering
from loadrig.corpus.variants.sister import branded

REFERENCES = numbering(
    [
        Entry("a", "a", title="Group, minutes no. 2"),
        Entry("b", "b", title="Group: minutes no. 4"),
        Entry("c", "c", title="Change order no. 1 to the contract"),
        Entry("d", "d", title="Letter"),
    ],
    {"a": "2034-02-07", "b": "2034-03-09", "c": "2034-03-21"},
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("as in minutes no. 2, item 3", "as in the minutes of 7 February 2034, item 3"),
        ("Minutes no. 2 adopted.", "Minutes of 7 February 2034 adopted."),
        ("# Group, minutes no. 2\n", "# Group, minutes of 7 February 2034\n"),
        ("of minutes no. 2", "of the minutes of 7 February 2034"),
        ("the minutes no. 2", "the minutes of 7 February 2034"),
        ("minutes nos. 2 and 4", "the minutes of 7 February 2034 and of 9 March 2034"),
        ("minutes no. 2 or no. 4", "the minutes of 7 February 2034 or of 9 March 2034"),
        ("minutes no. 2 to 4", "the minutes from 7 February 2034 to 9 March 2034"),
        ("minutes no. 2, 4 March and later", "the minutes of 7 February 2034, 4 March and later"),
        ("change order no. 1, signed", "the change order of 21 March 2034, signed"),
        ("request no. 2 and paragraph 4", "request no. 2 and paragraph 4"),
    ],
)
def test_citations_by_date(before: str, after: str) -> None:
    """A paper's number becomes its date, the grammar kept; numbers of other things stay."""
    assert REFERENCES.dated(before) == after


def test_a_number_that_no_paper_has_is_found() -> None:
    """It stays in the text and is named, so that nobody hardens a corpus with a citation into the void."""
    assert REFERENCES.dated("see minutes no. 9") == "see minutes no. 9"
    assert REFERENCES.left("see minutes no. 9") == ["minutes no. 9"]


def test_a_numbered_kind() -> None:
    """What stands before `no.`, up to a comma or colon."""
    titles = ("Group: minutes no. 3", "Change order no. 1 to the contract", "Letter of May")
    assert [numbered_kind(title) for title in titles] == ["minutes", "change order", None]


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("Harbour committee: minutes no. 5", "Harbour committee: minutes"),
        ("Minutes of 21 March 2034", "Minutes"),
        ("Letter (2034-03-21)", "Letter"),
        ("March 2034, report", "report"),
        ("Plan v2 for berths", "Plan for berths"),
    ],
)
def test_titles_without_dates(title: str, bare: str) -> None:
    """Dates, numbers and words with figures go, and what held them."""
    assert without_dates(title) == bare


def test_a_written_date() -> None:
    """As a paper writes it, without a leading 0."""
    assert written("2034-03-09") == "9 March 2034"


def test_opaque_ids_are_not_in_order() -> None:
    """Neither rising nor falling with time, the oldest not first and the newest not last, for every seed tried."""
    for seed in range(50):
        ids = list(opaque_ids(["a", "b", "c", "d"], str(seed)).values())
        assert is_mixed(ids)
        assert sorted(ids)[0] != ids[0]
        assert sorted(ids)[-1] != ids[-1]


AMOUNTS = Amounts("7:1", days=28, year=2034, requests=3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Tuesday 7 February 2034", "Tuesday 7 March 2034"),
        ("on 24 January", "on 21 February"),
        ("2034-01-10", "2034-02-07"),
        ("in March, and December 2034", "in April, and January 2035"),
        ("Request 4 of minutes no. 5", "Request 7 of minutes no. 5"),
        ("paragraph 3.1 and paragraphs 2 and 4", "paragraph 3.1 and paragraphs 2 and 4"),
        ("## 3. Roles\n\n3.1 A user", "## 3. Roles\n\n3.1 A user"),
        ("RX-0040 and A4", "RX-0040 and A4"),
        ("chamber 3", "chamber 3"),
    ],
)
def test_dates_move_and_numbers_of_things_stay(before: str, after: str) -> None:
    """Four weeks on; request numbers three on; names of paragraphs, chambers and codes as they were."""
    assert AMOUNTS.of(before) == after


def test_a_figure_is_the_same_throughout_a_project() -> None:
    """200 in one paper is the same new figure in the next, with thousands parted as before."""
    text = AMOUNTS.of("200 seeds; again 200 seeds; 148,600 crowns; 0.5 grams").split("; ")
    assert text[0] == text[1].removeprefix("again ")
    assert "," in text[2]
    assert {Amounts(f"7:{n}", 28, 2034, 3).of("200") for n in range(40)} > {"200", "100", "300"}


def test_percentages_stay_below_a_hundred() -> None:
    """85 does not become 150: a figure up to 100 stays up to 100."""
    assert max(int(Amounts(f"7:{n}", 28, 2034, 3).of("85")) for n in range(60)) <= 100


def test_a_paper_is_cut_at_its_headings() -> None:
    """Head, sections without their numbers, and whether the numbers have a dot."""
    pieces = cut("# T\n\nhead\n\n## 1. One\n\na\n\nb\n\n## 2. Two\n\nc\n")
    assert (pieces.head, pieces.dot) == ("# T\n\nhead", True)
    assert pieces.sections == (Section("One", ("a", "b")), Section("Two", ("c",)))
    assert cut("# T\n\n## One\n\na\n").dot is None


def test_a_project_is_named_in_long_stretches_without() -> None:
    """The first long paragraph and one after seventy words get the name; a decision has it in its label."""
    text = "# Title\n\n" + "word " * 60 + "\n\nIt was late. Decision: the harbour closes at six and not at seven."
    assert branded(text, "Molbane").count("Molbane") == 2
    assert "Decision on Molbane: the harbour" in branded(text, "Molbane")
