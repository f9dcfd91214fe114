"""The reader answers from the prompt and from nothing else."""

from __future__ import annotations

import msgspec
from collection import SWIM, answer_of, shown

from loadrig.simulator.documents import find_documents, parse
from loadrig.simulator.reader import NOT_PROVIDED, NOT_SAID
from loadrig.simulator.reading import read
from loadrig.simulator.reply import Text
from loadrig.simulator.scenario import Scenario


def test_without_documents_it_admits_it() -> None:
    """No document, no answer, in one of the set wordings."""
    assert answer_of("How many swimmers may a lane hold?", "") in NOT_PROVIDED


def test_without_the_passage_it_cannot_answer() -> None:
    """Given other documents only, the reader says that they do not say."""
    assert answer_of("How many swimmers may a lane hold?", shown(SWIM, "note-4")) in NOT_SAID


def test_it_quotes_the_statement_and_names_its_document() -> None:
    """The answer is the sentence in the prompt, followed by the id of its document."""
    answer = answer_of("When does the pool open?", shown(SWIM))
    assert "The pool opens at 7:00 every day. [rules]" in answer


def test_a_question_before_the_documents_is_found() -> None:
    """The documents stand last, and it is answered as if it stood behind them; it is no document itself."""
    asked = {"type": "text", "text": "Question: When does the pool open?"}
    blocks = [asked, {"type": "text", "text": shown(SWIM)}]
    body = {"model": "m", "max_tokens": 400, "messages": [{"role": "user", "content": blocks}]}
    (block,) = read(msgspec.json.encode(body), "t1.1.1", Scenario()).reply.blocks
    assert isinstance(block, Text)
    assert "The pool opens at 7:00 every day. [rules]" in "".join(block.pieces)


def test_the_latest_statement_leads() -> None:
    """Six swimmers by the rules, eight since a later note: eight comes first, whatever the order in the prompt."""
    for order in (("rules", "note-3"), ("note-3", "rules")):
        answer = answer_of("How many swimmers may a lane hold?", shown(SWIM, *order))
        assert "eight swimmers" in answer
        assert "six swimmers" not in answer or answer.index("eight") < answer.index("six swimmers")


def test_yes_or_no_follows_the_latest_decision() -> None:
    """Closed, then open again: with both notes the lead is Yes and the later note, without the later one it is not."""
    both = answer_of("Is the sauna open on Mondays?", shown(SWIM))
    assert both.startswith("Yes. Decision: the sauna is open on Mondays again. [note-2]")
    assert "open on Mondays again" not in answer_of("Is the sauna open on Mondays?", shown(SWIM, "rules", "note-1"))


def test_a_count_lists_every_matching_document() -> None:
    """Three documents say that their status is open; the answer counts and names the three."""
    documents = {f"m{n}": ("2030-01-01", f"Status: {word}\nOwner: x") for n, word in enumerate(("open", "shut") * 3)}
    answer = answer_of("How many papers have the status open?", shown(documents))
    assert "I count 3." in answer
    assert [f"[m{n}]" in answer for n in range(6)] == [True, False] * 3


def test_the_dial_takes_first_value_spoils_supersession() -> None:
    """With the dial at 1 the first comparable statement in the prompt is taken, here the outdated one."""
    answer = answer_of("How many swimmers may a lane hold?", shown(SWIM), Scenario(takes_first_value=1.0))
    assert "six swimmers" in answer
    assert "eight" not in answer


def test_the_dial_misorders_undated_takes_them_for_the_newest() -> None:
    """An undated rule loses against a dated one, and wins with the dial at 1."""
    documents = '<document id="a">\nThe fee is 5 euros a day.\n</document>' + shown(
        {"b": ("2030-01-01", "The fee is 6 euros a day.")}
    )
    right, wrong = (
        answer_of("What is the fee a day?", documents, Scenario(misorders_undated=dial)) for dial in (0.0, 1.0)
    )
    assert right.index("6 euros") < right.find("5 euros") % 10_000
    assert wrong.index("5 euros") < wrong.find("6 euros") % 10_000


def test_wording_follows_the_attempt_and_content_does_not() -> None:
    """Ten attempts give more than one wording, each with the same quotation."""
    answers = {answer_of("When does the pool open?", shown(SWIM), attempt=f"t{n}.1.1") for n in range(10)}
    assert len(answers) > 1
    assert all("The pool opens at 7:00 every day. [rules]" in answer for answer in answers)


def test_documents_are_found_by_their_tags() -> None:
    """Attributes are unescaped whichever quote they came in, and defused tags in the text restored."""
    text = '<document id="a&amp;b" title=\'say "x"\'>\nsee &lt;document\n</document>'
    assert find_documents(text) == [({"id": "a&b", "title": 'say "x"'}, "see <document")]


def test_text_is_cut_into_statements() -> None:
    """A heading, two sentences (not three: 'no. 4' does not end one) and two items."""
    parsed = parse("## Fees\n\nSee minutes no. 4 for it. The fee is\n5 euros.\n\n- first item\n- second item\n")
    assert [statement.text for statement in parsed.statements] == [
        "Fees",
        "See minutes no. 4 for it.",
        "The fee is 5 euros.",
        "- first item",
        "- second item",
    ]


def test_an_opening_record_is_one_statement() -> None:
    """Key-value lines at the very start belong together, continuation lines included."""
    parsed = parse("Number: 7\nStatus: Withdrawn\nAuthors: A,\n  B\n\nText follows here.")
    first = parsed.statements[0]
    assert (first.text, first.record) == ("Number: 7 Status: Withdrawn Authors: A, B", True)
