"""The simulated agent's trace follows from the question and the tool results, and from nothing else."""

from __future__ import annotations

from collection import SWIM, TOOLS, run_agent

from loadrig.simulator.transcript import Tool, toolset


def test_it_searches_reads_and_answers_from_what_it_read() -> None:
    """First a search with the question's words, then reading, then the right answer with its document."""
    trace, answer = run_agent("When does the pool open?", SWIM)
    assert trace[0] == ("search", {"query": "pool open"})
    assert ("read", {"document": "rules"}) in trace
    assert "The pool opens at 7:00 every day. [rules]" in answer


def test_it_reads_several_documents_in_one_turn() -> None:
    """Two documents look decisive, so two calls stand side by side."""
    trace, answer = run_agent("Is the sauna open on Mondays?", SWIM)
    assert [call for call in trace if call[0] == "read"][:2] == [
        ("read", {"document": "note-2"}),
        ("read", {"document": "note-1"}),
    ]
    assert answer.startswith("Yes. Decision: the sauna is open on Mondays again. [note-2]")


def test_without_the_gold_document_trace_and_answer_change() -> None:
    """Deleting the document that holds the answer changes both: nothing is known beforehand."""
    without = {identity: entry for identity, entry in SWIM.items() if identity != "note-3"}
    question = "How many swimmers may a lane hold from now on?"
    whole, poorer = run_agent(question, SWIM), run_agent(question, without)
    assert "eight" in whole[1]
    assert "eight" not in poorer[1]
    assert whole[0] != poorer[0]


def test_a_search_that_finds_nothing_is_tried_in_other_words() -> None:
    """No word of the question is in the collection: several different searches, then an honest admission."""
    trace, answer = run_agent("Where do giraffes sleep tonight?", SWIM)
    queries = [arguments["query"] for name, arguments in trace if name == "search"]
    assert len(queries) == len(set(queries)) >= 2
    assert "[" not in answer


def test_a_failing_tool_does_not_stop_it() -> None:
    """When reading always fails it answers from the passages that searches showed, and reads nothing twice."""
    trace, answer = run_agent("When does the pool open?", SWIM, broken="read")
    reads = [arguments["document"] for name, arguments in trace if name == "read"]
    assert len(reads) == len(set(reads)) > 0
    assert "The pool opens at 7:00 every day. [rules]" in answer


def test_it_comes_to_an_end() -> None:
    """No question takes more than seven requests, the answer included."""
    for question in ("How many lanes are there?", "Who keeps the key?", "x", "List every decision."):
        trace, _ = run_agent(question, SWIM)
        assert sum(name == "search" for name, _ in trace) <= 6


def test_tools_are_told_apart_by_their_parameters() -> None:
    """Other names serve as well: what takes a query searches, what takes an id reads."""
    renamed = [
        {"name": "look_up", "input_schema": {"properties": {"q": {"type": "string"}}, "required": ["q"]}},
        {"name": "fetch", "input_schema": {"properties": {"doc_id": {"type": "string"}}, "required": ["doc_id"]}},
    ]
    found = toolset(tuple(renamed))
    assert (found.search, found.read, found.listing) == (Tool("look_up", "q"), Tool("fetch", "doc_id"), None)
    assert toolset(tuple(TOOLS)).listing == Tool("list_documents")
