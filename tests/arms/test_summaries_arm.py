"""The arm that answers from summaries: what it has built, which level a question gets, what it reads whole."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import msgspec
import pytest
from scripted_client import ScriptedClient, says, tiny

from loadrig.arms.passages import whole
from loadrig.arms.summaries import GROUP, PIECE_TOKENS, Summaries, Tree, _pieces
from loadrig.corpus.view import CallerView, view_of
from loadrig.words.arm import Answer
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.errors import TurnFailed
from loadrig.words.prompt import Ask, Prompt
from loadrig.words.record import Failure

QUESTION = Question("q1", "fact", "When are apples pruned?", "In February.")
FIRST = "trees/apples.md"


class Maker:
    """Gives `text 1`, `text 2`, ... and remembers what it was asked; `fails` at that number."""

    def __init__(self, fails: int = 0) -> None:
        self.prompts: list[Prompt] = []
        self.ended = 0
        self._fails = fails

    async def __call__(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        number = len(self.prompts)
        for _ in range(9 * number):
            await asyncio.sleep(0)
        self.ended += 1
        if number == self._fails:
            raise TurnFailed(Failure("refused", "no"))
        return f"text {number}"


def _texts(prompt: Prompt) -> list[str]:
    return [part.text for message in prompt.messages if isinstance(message, Ask) for part in message.parts]


def _built(arm: Summaries, maker: Maker, view: CallerView | None = None) -> Tree:
    view = view or view_of(tiny(), ())
    return msgspec.json.decode(asyncio.run(arm.build(view, maker)), type=Tree)


def _answered(arm: Summaries, *replies: str) -> tuple[Answer, ScriptedClient]:
    client = ScriptedClient([says(text) for text in replies])
    client.built = asyncio.run(arm.build(client.view, Maker()))
    return asyncio.run(arm.answer(QUESTION, client)), client


def test_the_first_level_has_a_summary_of_each_document() -> None:
    """Five documents, five calls, each over the whole of one; the wish stands last and tells how long."""
    maker = Maker()
    tree = _built(Summaries(words=40), maker)
    documents = tiny().documents
    assert [summary.document for summary in tree.levels[0]] == [document.id for document in documents]
    assert [_texts(prompt)[0] for prompt in maker.prompts] == [whole(document) for document in documents]
    assert all(
        _texts(prompt)[-1].startswith("Summarise the document above in at most 40 words:") for prompt in maker.prompts
    )
    assert len(tree.levels) == 1


def test_a_level_that_is_too_long_is_summarised_in_groups() -> None:
    """Five texts of 3 tokens and 25 for their tags are 140: over 139 they are summarised as one, over 140 they stay."""
    assert len(_built(Summaries(length=140), Maker()).levels) == 1
    maker = Maker()
    tree = _built(Summaries(length=139), maker)
    assert [len(level) for level in tree.levels] == [5, 1]
    assert tree.levels[1][0].document is None
    group = maker.prompts[5]
    assert "text 1" in _texts(group)[0]
    assert "text 5" in _texts(group)[0]
    assert _texts(group)[-1].startswith("Summarise the 5 texts above in at most 120 words:")
    assert "square brackets" in _texts(group)[-1]


def test_levels_rise_until_one_summary_is_left() -> None:
    """Seventy documents and no room: nine groups of at most eight, then two, then one."""
    documents = tuple(Document(f"d{number}", "text", 1) for number in range(70))
    view = view_of(Corpus("many", documents, (), (), "-", "-"), ())
    tree = _built(Summaries(length=1), Maker(), view)
    assert GROUP == 8
    assert [len(level) for level in tree.levels] == [70, 9, 2, 1]


def test_a_question_gets_the_most_detailed_level_that_fits() -> None:
    """All five under their ids where there is room, else the one of all, under none."""
    _, roomy = _answered(Summaries(length=140), "In February.")
    _, tight = _answered(Summaries(length=139), "In February.")
    shown, small = _texts(roomy.prompts[0])[0], _texts(tight.prompts[0])[0]
    assert shown.count("<document id=") == 5
    assert f'<document id="{FIRST}"' in shown
    assert small == "<document>\ntext 6\n</document>"


def test_the_summaries_are_one_static_block_and_the_question_stands_last() -> None:
    """The same bytes for every question; nothing is retrieved, so no recall is claimed."""
    answer, client = _answered(Summaries(), "In February.")
    block, asked = client.prompts[0].messages[0].parts  # type: ignore[union-attr]
    assert block.static
    assert asked.text == "Question: When are apples pruned?"
    assert (answer.reply.text, answer.retrieved, answer.route) == ("In February.", (), None)


def test_documents_that_the_model_names_are_read_whole() -> None:
    """The first of the two it names; the second turn has it whole, and it is what was retrieved."""
    answer, client = _answered(Summaries(read=1), f"I would read [{FIRST}], then about.md.", "In February.")
    assert "name the ids of the documents" in client.prompts[0].system
    assert _texts(client.prompts[1])[0] == whole(client.view.documents[FIRST])
    assert ([hit.doc for hit in answer.retrieved], answer.route) == ([FIRST], "documents")


def test_a_model_that_names_no_document_answers_from_the_summaries() -> None:
    """The record says so; an id that does not exist is none."""
    answer, client = _answered(Summaries(read=2), "trees/cherries.md", "In February.")
    assert _texts(client.prompts[1]) == _texts(client.prompts[0])
    assert (answer.route, answer.route_note, answer.retrieved) == ("summaries", "no document named", ())


def test_a_caller_who_may_see_nothing_is_answered_from_nothing() -> None:
    """No document, no call of building, and none that the model could name."""
    client = ScriptedClient([says("None, no."), says("Nothing says so.")], replace(tiny(), documents=()))
    client.built = asyncio.run(Summaries(read=1).build(client.view, Maker()))
    answer = asyncio.run(Summaries(read=1).answer(QUESTION, client))
    assert (answer.route, answer.route_note, answer.retrieved) == ("summaries", "no document named", ())


def test_without_summaries_there_is_no_answer() -> None:
    """Building failed: the arm says so and asks nothing."""
    client = ScriptedClient([])
    with pytest.raises(LookupError, match="no summaries"):
        asyncio.run(Summaries().answer(QUESTION, client))
    assert client.prompts == []


def test_a_call_that_fails_ends_the_building_when_all_others_have_ended() -> None:
    """The second of five fails: all five have ended, and its failure is what is raised."""
    maker = Maker(fails=2)
    with pytest.raises(TurnFailed):
        _built(Summaries(), maker)
    assert maker.ended == 5


def test_a_very_long_document_is_summarised_in_pieces() -> None:
    """Two and a bit times the length of a piece makes three, cut at ends of lines, nothing lost."""
    text = "".join(f"line {number}\n" for number in range(9_000))
    pieces = _pieces(Document("d", text, 2 * PIECE_TOKENS + 1, "T", "2034-01-01"))
    assert len(pieces) == 3
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text.endswith("\n") for piece in pieces)
    assert {(piece.id, piece.title, piece.date) for piece in pieces} == {("d", "T", "2034-01-01")}
    assert len(_pieces(Document("d", text, PIECE_TOKENS))) == 1


def test_what_building_takes_is_foreseen() -> None:
    """Two documents of 100 tokens: each with 245 for instructions and tags, 168 of output a summary; where two of 193
    do not fit, one more call over both of them."""
    corpus = Corpus("c", (Document("a", "-", 100), Document("b", "-", 100)), (), (), "-", "-")
    assert Summaries(length=386).build_tokens(corpus) == (690, 336)
    assert Summaries(length=385).build_tokens(corpus) == (690 + 386 + 220, 336 + 168)


def test_options_are_in_the_name() -> None:
    """What differs from the defaults, and nothing else."""
    assert Summaries().name == "summaries"
    assert Summaries(length=500, read=2, chronology=False).name == "summaries-w120-l500-read2-nochronology"
