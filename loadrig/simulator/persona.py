"""The simulated model: takes a request, says whether it judges, answers or calls tools. It sees the prompt alone."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from loadrig.simulator.agent import ToolCall, next_calls
from loadrig.simulator.citing import Planting, cited, element_asked
from loadrig.simulator.counting import pieces
from loadrig.simulator.documents import Source, find_documents, outside_documents, parse
from loadrig.simulator.draws import draw
from loadrig.simulator.echo import repeated
from loadrig.simulator.evidence import rank
from loadrig.simulator.forms import Grasp, filled, in_parts
from loadrig.simulator.judge import judge
from loadrig.simulator.obeying import calls_ordered, words_ordered
from loadrig.simulator.reader import Habits, Said, tell
from loadrig.simulator.reply import Call, Text
from loadrig.simulator.request import Message, Request, user_texts
from loadrig.simulator.results import NONE, results_of, source_of
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.spoiling import without_middle
from loadrig.simulator.summarising import most_words, summary
from loadrig.simulator.transcript import Transcript, toolset, transcribe

ASKED = "Question:"
ASKS = 2  # of what a scenario has an agent look up besides, in each trial
PLAIN_CHARS = 300
"""Untagged text before the question counts as a document from this length on."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the first user message holds: the question and the documents before it."""

    question: str
    sources: list[Source]


def respond(request: Request, attempt: str, scenario: Scenario) -> tuple[str, tuple[Text | Call, ...]]:
    """(stop reason, blocks) for a request: a verdict when it is a case to judge, lines when it asks to repeat some, a
    summary when it asks for one, the question's parts when its form is a list; else tool calls while they help, and an
    answer from all that was seen."""
    said = _verdict(request.messages, attempt, scenario) or repeated(request.messages)
    if said is not None:
        return _saying(said)
    given = read_given(request.messages)
    words = most_words(request.messages)
    if words is not None:
        return _saying(summary(given.sources, given.question, words))
    parts = in_parts(request.form, given.question)
    if parts is not None:
        return _saying(parts)
    sources = _read(given.sources, attempt, scenario)
    if request.tools:
        seen = transcribe(request.messages, toolset(request.tools), sources)
        calls = _calls(request, given.question, seen, attempt, scenario=scenario)
        if calls:
            ids = draw(scenario.seed, attempt, f"calls {seen.turns}")
            return "tool_use", tuple(_call(call, f"toolu_sim{ids.getrandbits(80):020x}") for call in calls)
        sources = seen.sources
    told = _told(given.question, sources, attempt, scenario)
    if request.form is not None:
        grasp = _grasp(request, Given(given.question, sources), told.text, attempt, scenario=scenario)
        return _saying(filled(request.form, grasp))
    planting = Planting(
        draw(scenario.seed, attempt, "citations"), scenario.fabricates_citations, scenario.misplaces_citations
    )
    whole = Said(told.text + _manner(len(sources), attempt, scenario), told.quotes)
    return "end_turn", cited(whole, sources, element_asked(request.system), planting)


def _saying(text: str) -> tuple[str, tuple[Text]]:
    return "end_turn", (Text(tuple(pieces(text))),)


def _told(question: str, sources: list[Source], attempt: str, scenario: Scenario) -> Said:
    """The answer and what it quotes; what a document orders it to say, where it obeys."""
    ordered = words_ordered(sources) if _obeys(attempt, scenario) else None
    if ordered is not None:
        return Said(ordered)
    told = tell(question, sources, draw(scenario.seed, attempt, "words"), _habits(attempt, scenario))
    return told if sources else Said(scenario.knows.get(question, told.text))


def _calls(request: Request, question: str, seen: Transcript, attempt: str, *, scenario: Scenario) -> list[ToolCall]:
    """The next calls: its own, or what a document orders; the first ones for ever where it goes in circles."""
    tools, asks = toolset(request.tools), _asks(attempt, scenario)
    if _drawn(attempt.rsplit(".", maxsplit=2)[0], "circles", scenario.goes_in_circles, scenario):
        return next_calls(question, tools, Transcript())
    if seen.is_told_to_answer:
        return []
    ordered = calls_ordered(request, seen.sources) if _obeys(attempt, scenario) else []
    return ordered or next_calls(question, tools, seen, asks=asks)


def _obeys(attempt: str, scenario: Scenario) -> bool:
    return _drawn(attempt, "obeys", scenario.obeys_documents, scenario)


def _drawn(of: str, purpose: str, share: float, scenario: Scenario) -> bool:
    return share > 0 and draw(scenario.seed, of, purpose).random() < share


def _read(sources: list[Source], attempt: str, scenario: Scenario) -> list[Source]:
    """The documents given that are read: all, unless the scenario says that the middle of many is missed."""
    if not scenario.misses_middle or len(sources) <= scenario.wide_documents:
        return sources
    return without_middle(sources, draw(scenario.seed, attempt, "middle"), scenario.misses_middle)


def _grasp(request: Request, given: Given, text: str, attempt: str, *, scenario: Scenario) -> Grasp:
    """What a form is filled from: `text` is the answer from what was given."""
    found = rank(given.question, given.sources)
    return Grasp(
        given.question,
        text,
        min(1.0, found[0].coverage) if found else 0.0,
        " ".join(block["text"] for block in request.system if block["type"] == "text"),
        draw(scenario.seed, attempt, "form"),
        misfiles=scenario.misfiles,
        overconfident=scenario.overconfident,
    )


def _asks(attempt: str, scenario: Scenario) -> list[str]:
    """What an agent asks its tools for besides, drawn from the scenario's list."""
    texts = scenario.asks_for
    return draw(scenario.seed, attempt, "asks").sample(texts, min(ASKS, len(texts)))


def _manner(documents: int, attempt: str, scenario: Scenario) -> str:
    """What an answer over many documents ends with, where the scenario has a text for it."""
    if not scenario.marks_wide or documents <= scenario.wide_documents:
        return ""
    is_marked = draw(scenario.seed, attempt, "manner").random() < scenario.marks_wide_share
    return f" {scenario.marks_wide}" if is_marked else ""


def _habits(attempt: str, scenario: Scenario) -> Habits:
    """What goes wrong in this answer; a dial more shifts no draw of another."""
    dials, more = draw(scenario.seed, attempt, "habits"), draw(scenario.seed, attempt, "more habits")
    return Habits(
        takes_first=dials.random() < scenario.takes_first_value,
        undated_is_newest=dials.random() < scenario.misorders_undated,
        denies_above=scenario.wide_documents if more.random() < scenario.denies_when_wide else None,
        opens_with_no=more.random() < scenario.opens_with_no,
        cites_dates=scenario.cites_dates or scenario.invents_dates > 0,
        invents_dates=scenario.invents_dates,
        guesses=draw(scenario.seed, attempt, "guesses").random() < scenario.guesses,
    )


def _verdict(messages: tuple[Message, ...], attempt: str, scenario: Scenario) -> str | None:
    """The verdict on a case to judge; None when the last user text is none."""
    texts = user_texts(messages)
    chance = draw(scenario.seed, attempt, "judge")
    if not texts:
        return None
    return judge(
        texts[-1],
        chance,
        errs=scenario.judge_errs,
        mumbles=scenario.judge_mumbles,
        likes_words=scenario.judge_likes_words,
        likes_marker=scenario.judge_likes_marker,
    )


def _call(call: ToolCall, identity: str) -> Call:
    arguments = {call.parameter: call.value} if call.parameter else {}
    return Call(identity, call.tool, tuple(pieces(msgspec.json.encode(arguments).decode())))


def read_given(messages: tuple[Message, ...]) -> Given:
    """Find the question (the last text of the last user message that has text; where documents stand last, what is
    asked before them) and the documents of all user text."""
    texts = user_texts(messages)
    if not texts:
        return Given("", [])
    before, question = _split_question(texts[-1])
    if not question:
        asked = next((place for place in range(len(texts) - 2, -1, -1) if texts[place].startswith(ASKED)), None)
        if asked is not None:
            question = texts.pop(asked)[len(ASKED) :].strip()
    sources: list[Source] = []
    for text in (*texts[:-1], before):
        add_sources(text, sources, plain=True)
    for call, block, number in results_of(messages):
        if call == NONE:
            sources.append(source_of(block, number, len(sources)))
    return Given(question, sources)


def _split_question(text: str) -> tuple[str, str]:
    """(what comes before, the question): after the last `Question:`, else after the last document."""
    at = text.rfind(ASKED)
    if at >= 0 and text.find("</document>", at) < 0:
        return text[:at], text[at + len(ASKED) :].strip()
    end = text.rfind("</document>")
    return (text[: end + 11], text[end + 11 :].strip()) if end >= 0 else ("", text.strip())


def add_sources(text: str, sources: list[Source], *, plain: bool) -> None:
    """Append the documents of a text block; with `plain`, long untagged text is one as well."""
    found = find_documents(text)
    for attributes, inner in found:
        title, date = attributes.get("title"), attributes.get("date")
        sources.append(Source(len(sources), attributes.get("id"), date, title, parse(inner)))
    rest = outside_documents(text).strip() if plain else ""
    if len(rest) >= PLAIN_CHARS:
        sources.append(Source(len(sources), None, None, None, parse(rest)))
