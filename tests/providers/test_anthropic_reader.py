"""Reads streamed messages: kinds of events, text, tools, stop reasons, and whatever is new or broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_events import blk, delta, end, error, json_, piece, ping, signature, start, stop, think, txt

from loadrig.marks import Kind
from loadrig.providers import ApiError, Heard, load
from loadrig.providers.anthropic.reader import MessageReader
from loadrig.providers.outcome import outcome
from loadrig.sse import Decoder
from loadrig.words.prompt import Citation, ToolUse
from loadrig.words.record import Usage


def kinds(*events: bytes) -> list[Kind]:
    reader = load("anthropic").reader()
    return [reader.feed(payload) for payload in Decoder().feed(b"".join(events))]


def heard(*events: bytes) -> Heard:
    reader = load("anthropic").reader()
    for payload in Decoder().feed(b"".join(events)):
        reader.feed(payload)
    return reader.heard()


def said(*events: bytes) -> Any:
    return json.loads(heard(*events).said.content)


CLOSE = delta("end_turn") + stop()


def test_a_reply_has_the_name_that_it_was_given() -> None:
    """The id of message_start; of a stream without one, none."""
    assert heard(start(), blk("text"), txt("Hi"), end(), CLOSE).id == "msg_1"
    assert heard(blk("text"), txt("Hi"), end(), CLOSE).id is None


def test_usage_is_final_when_the_last_figures_have_come() -> None:
    """90 in and, at the end, 50 out: exact. Where the end gives no figure the opening's 1 is a placeholder."""
    opening = start(input_tokens=90, output_tokens=1, service_tier="priority"), blk("text"), txt("Hi"), end()
    whole = heard(*opening, delta("end_turn", {"output_tokens": 50}), stop()).usage
    assert whole == Usage(input=90, output=50, exact=True, service_tier="priority")
    bare = heard(*opening, delta("end_turn", {}), stop()).usage
    assert bare == Usage(input=90, output=1, exact=False, flags=("no final output",), service_tier="priority")


def test_each_event_has_its_kind() -> None:
    """Content is a delta that is not empty; everything else is something else."""
    expected = [
        Kind.START, Kind.PING, Kind.BLOCK, Kind.THINKING, Kind.EMPTY, Kind.SIGNATURE, Kind.OTHER,
        Kind.BLOCK, Kind.EMPTY, Kind.TEXT, Kind.TEXT, Kind.OTHER,
        Kind.BLOCK, Kind.EMPTY, Kind.TOOL, Kind.OTHER, Kind.OTHER, Kind.STOP,
    ]  # fmt: skip

    assert expected == kinds(
        start(), ping(), blk("thinking"), think("hm"), think(""), signature(), end(),
        blk("text", 1), txt("", 1), txt("Yes", 1), txt(" ", 1), end(1),
        blk("tool_use", 2), json_("", 2), json_("{}", 2), end(2), delta("tool_use"), stop(),
    )  # fmt: skip


def test_content_in_a_block_start_is_content() -> None:
    """A server that opens a block with its text or input generated it there."""
    assert kinds(blk("text", text="Hi"), blk("tool_use", 1, input={"q": "x"})) == [Kind.TEXT, Kind.TOOL]


def test_tool_arguments_are_joined_raw() -> None:
    """Pieces are joined as they came, byte for byte, and parsed by nobody on the way."""
    found = heard(start(), blk("tool_use"), json_('{"q":'), json_(' "x",'), json_('"n":1e0}'), end(), delta("tool_use"))

    assert (ToolUse("toolu_1", "find", '{"q": "x","n":1e0}'),) == found.tool_uses


def test_no_arguments_are_an_empty_object() -> None:
    """A call without any piece has `{}`."""
    assert heard(blk("tool_use"), end()).tool_uses[0].arguments == "{}"


def test_input_in_the_block_start_counts() -> None:
    """Arguments given in the opening, without deltas, are the arguments."""
    assert heard(blk("tool_use", input={"q": "x"}), end()).tool_uses[0].arguments == '{"q":"x"}'


def test_a_call_of_the_servers_own_tool_is_not_ours() -> None:
    """Only tool_use asks us to execute something."""
    assert heard(blk("server_tool_use", id="s", name="web_search", input={}), json_("{}"), end()).tool_uses == ()


def test_the_answer_is_replayed_verbatim() -> None:
    """Thinking with its signature, unknown blocks and fields, and raw arguments survive into the next request."""
    expected = [
        {"type": "thinking", "thinking": "hm", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "novelty", "field": [1]},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"q": "x"}, "caller": {"type": "direct"}},
    ]

    assert expected == said(
        start(), blk("thinking"), think("hm"), signature(), end(),
        blk("redacted_thinking", 1, data="xyz"), end(1), blk("novelty", 2, field=[1]), end(2),
        blk("text", 3), txt("Hi", 3), end(3),
        blk("tool_use", 4, caller={"type": "direct"}), json_('{"q": "x"}', 4), end(4), delta("tool_use"), stop(),
    )  # fmt: skip


def test_an_empty_text_block_is_not_replayed() -> None:
    """The API would reject the next request."""
    assert said(blk("text"), end()) == []


def test_broken_arguments_are_replayed_as_an_object() -> None:
    """The API wants an object; the raw text stays inside it, and with the call."""
    events = blk("tool_use") + json_('{"q": "x') + end()

    assert said(events)[0]["input"] == {"INVALID_JSON": '{"q": "x'}
    assert heard(events).tool_uses[0].arguments == '{"q": "x'


def test_citations_are_kept() -> None:
    """Citations that come as deltas stay with their text block."""
    cited = piece({"type": "citations_delta", "citation": {"source": "s"}})

    assert said(blk("text"), txt("a"), cited, end())[0]["citations"] == [{"source": "s"}]


def test_cited_spans_come_with_their_source() -> None:
    """In the order of the text; what names no span, or is no object, is none."""
    spans = [
        {"cited_text": "one", "source": "a.md"},
        {"cited_text": "two"},
        {"source": "b.md"},
        None,
        {"cited_text": 3},
    ]
    events = blk("text") + txt("a") + b"".join(piece({"type": "citations_delta", "citation": span}) for span in spans)

    assert heard(events + end()).citations == (Citation("one", "a.md"), Citation("two"))


USAGES = st.dictionaries(
    st.sampled_from(["input_tokens", "cache_creation_input_tokens", "output_tokens", "service_tier", "other"]),
    st.sampled_from([None, 0, 3, 7, -1, 2.0, True, "x"]),
) | st.sampled_from([
    None, [], {"cache_creation": {"ephemeral_1h_input_tokens": 4}, "cache_creation_input_tokens": 9},
    {"cache_creation": "x", "output_tokens": 2}, {"output_tokens_details": {"thinking_tokens": 1, "odd": []}},
])  # fmt: skip
EVENTS = st.lists(
    st.builds(lambda usage: {"type": "message_start", "message": {"id": "m", "model": "x", "usage": usage}}, USAGES)
    | st.builds(
        lambda reason, usage: {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        st.sampled_from([None, "end_turn", "tool_use", 3, "novel"]),
        USAGES,
    )
    | st.sampled_from([
        {"type": "message_start", "message": {"id": 3, "model": None}}, {"type": "message_start"},
        {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"a": [1]}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "input": {}}},
        {"type": "content_block_start", "index": 2, "content_block": "x"}, {"type": "content_block_start"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_stop", "index": 0}, {"type": "message_stop"}, {"type": "ping"}, {"type": 5}, [],
    ]),
    max_size=8,
)  # fmt: skip


@given(EVENTS)
def test_the_short_way_hears_what_the_long_one_does(events: list[Any]) -> None:
    """Every event read by the typed decoder is read alike as JSON that may hold anything."""
    short, long = MessageReader(), MessageReader()
    payloads = [json.dumps(event).encode() for event in events]

    assert [short.feed(payload) for payload in payloads] == [long._foreign(payload) for payload in payloads]
    assert (short.heard(), short.ended) == (long.heard(), long.ended)


REASONS = [
    ("end_turn", "Yes", "end", ("answered", None)),
    ("stop_sequence", "Yes", "end", ("answered", None)),
    ("end_turn", "", "end", ("unanswered", "empty")),
    ("end_turn", " \n", "end", ("unanswered", "empty")),
    ("max_tokens", "Yes", "max_tokens", ("unanswered", "cut_off")),
    ("max_tokens", "", "max_tokens", ("unanswered", "starved")),
    ("model_context_window_exceeded", "Yes", "max_tokens", ("unanswered", "cut_off")),
    ("refusal", "", "refusal", ("unanswered", "refused")),
    ("refusal", "I", "refusal", ("unanswered", "refused")),
    ("pause_turn", "Yes", "other", ("unanswered", "other")),
    ("brand_new", "Yes", "other", ("unanswered", "other")),
]


@pytest.mark.parametrize(("raw", "text", "stop_", "became"), REASONS)
def test_stop_reasons(raw: str, text: str, stop_: str, became: tuple[str, str | None]) -> None:
    """Each stop reason is kept verbatim, mapped, and gives its outcome and reason."""
    found = heard(start(), blk("text"), txt(text), end(), delta(raw), stop())

    assert (raw, stop_, became) == (found.stop_reason, found.stop, outcome(found))


def test_a_tool_call_without_text_is_answered() -> None:
    """A turn that asks for a tool did its part."""
    assert outcome(heard(start(), blk("tool_use"), json_("{}"), end(), delta("tool_use"), stop())) == ("answered", None)


def test_a_refusal_keeps_its_details() -> None:
    """Category and explanation are kept as JSON text."""
    found = heard(start(), delta("refusal", stop_details={"type": "refusal", "category": "bio"}), stop())

    assert found.stop_details == '{"type":"refusal","category":"bio"}'


def test_news_in_the_stream_is_passed_over_and_noted() -> None:
    """C9: unknown events, deltas and blocks break nothing, and the record says that they were there."""
    found = heard(
        start(), b'data: {"type":"brand_new","x":{}}\n\n', b"data: 7\n\n", blk("text"), txt("Hi"),
        piece({"type": "odd_delta", "v": 1}), end(), blk("novelty", 1), end(1), CLOSE,
    )  # fmt: skip

    assert (found.text, found.complete) == ("Hi", True)
    assert found.notes == (
        "unknown event 'brand_new'",
        "unknown event None",
        "unknown delta 'odd_delta'",
        "unknown block 'novelty'",
    )


def test_cut_characters_in_fields_nobody_reads_break_nothing() -> None:
    """Invalid UTF-8 in a field of an event that is not ours to read: the event passes, with a note."""
    found = heard(start(), b'data: {"type":"brand_new","x":"\xff"}\n\n', blk("text"), txt("Hi"), end(), CLOSE)

    assert (found.text, found.complete) == ("Hi", True)
    assert "characters that are not valid text were replaced" in found.notes


def test_a_delta_without_its_opening_still_counts() -> None:
    """Some servers leave content_block_start out; the text is not lost."""
    assert heard(start(), txt("Hi"), CLOSE).text == "Hi"


@pytest.mark.parametrize("hidden", [blk("thinking") + signature() + end(), blk("redacted_thinking", data="x") + end()])
def test_hidden_thinking_is_seen(hidden: bytes) -> None:
    """A7: thinking whose text is omitted or redacted is told; nothing of it is answer text."""
    found = heard(start(), hidden, blk("text", 1), txt("Ok", 1), end(1), CLOSE)

    assert (found.hidden_thinking, found.text) == (True, "Ok")


def test_shown_thinking_is_not_hidden() -> None:
    """Thinking that was streamed is visible, and no answer text."""
    found = heard(
        start(), blk("thinking"), think("hm"), signature(), end(), blk("text", 1), txt("Ok", 1), end(1), CLOSE
    )

    assert (found.hidden_thinking, found.text) == (False, "Ok")


def test_an_error_event_ends_the_reply() -> None:
    """D1: what came before is kept, the reply is not complete."""
    found = heard(start(), blk("text"), txt("Part"), error("overloaded_error", "busy"))

    assert (ApiError("overloaded_error", "busy", overloaded=True), "Part", False) == (
        found.error,
        found.text,
        found.complete,
    )


@pytest.mark.parametrize("noise", [b"data: {oops\n\n", b"data: hello\n\n", b'data: {"type":"ping"\n\n'])
def test_what_is_not_json_ends_the_reply_as_malformed(noise: bytes) -> None:
    """An unreadable event is told, with its beginning; the text before it is kept."""
    found = heard(start(), blk("text"), txt("Part"), noise)

    assert found.malformed is not None
    assert found.malformed.endswith(noise[6:-2].decode())
    assert (found.text, found.complete) == ("Part", False)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb"a\ud83db", "a\ufffdb"),
        (rb"\ud83d\ude00\udc00", "\U0001f600\ufffd"),
        (rb"\\ud83d \ud800", "\\ud83d \ufffd"),
        (b"a\xffb", "a\ufffdb"),
    ],
)
def test_broken_characters_are_replaced_not_fatal(raw: bytes, text: str) -> None:
    """A lone surrogate or invalid UTF-8 costs one character, not the reply, and is noted."""
    broken = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"' + raw + b'"}}\n\n'
    found = heard(start(), blk("text"), broken, end(), CLOSE)

    assert text == found.text
    assert found.notes == ("characters that are not valid text were replaced",)


def test_wrong_types_inside_events_break_nothing() -> None:
    """Foreign JSON of any shape is data."""
    found = heard(
        b'data: {"type":"message_start","message":[]}\n\n', b'data: {"type":"content_block_start","index":"0"}\n\n',
        b'data: {"type":"content_block_delta","index":null,"delta":{"type":"text_delta","text":null}}\n\n',
        b'data: {"type":"message_delta","delta":{"stop_reason":5},"usage":7}\n\n', b"data: " + b"[" * 100_000 + b"\n\n",
    )  # fmt: skip

    assert (found.text, found.stop_reason, found.stop) == ("", "5", "other")


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
field = st.sampled_from(
    ["index", "delta", "message", "content_block", "usage", "error", "text", "input", "stop_reason"]
)
event_type = st.sampled_from([
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "error",
])  # fmt: skip


@given(st.lists(st.tuples(event_type, st.dictionaries(field, any_json, max_size=4)), max_size=6))
def test_no_event_can_break_the_reader(events: list[tuple[str, dict[str, Any]]]) -> None:
    """Known types with any fields: the reader always has something to say, and its replay is JSON."""
    reader = load("anthropic").reader()
    for kind, fields in events:
        reader.feed(json.dumps({"type": kind, **fields}).encode())

    assert isinstance(json.loads(reader.heard().said.content), list)


def test_an_error_body_is_understood() -> None:
    """Type, message and finer code of a JSON body; a spend limit is recognised."""
    details = b'"details":{"error_code":"enforced_spend_limit_reached"}'
    body = b'{"type":"error","error":{"type":"rate_limit_error","message":"m",%b}}' % details

    found = load("anthropic").error(body)
    assert (found.type, found.message, found.code) == ("rate_limit_error", "m", "enforced_spend_limit_reached")
    assert (found.rate_limited, found.spend_limit, found.overloaded) == (True, True, False)
    assert found.told == "rate_limit_error: m (enforced_spend_limit_reached: a spend limit; waiting does not lift it)"


@pytest.mark.parametrize("body", [b"bad gateway", b"[]", b'"x"', b"", b"\xff"])
def test_a_foreign_error_body_becomes_its_own_message(body: bytes) -> None:
    """What a proxy says is kept as text."""
    assert ApiError("", body.decode(errors="replace")) == load("anthropic").error(body)


def test_a_reply_that_never_opened_is_taken_and_noted() -> None:
    """Text and stop reason without message_start: answered, prompt tokens unknown rather than 0, and said."""
    reader = load("anthropic").reader()
    for event in (
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ):
        reader.feed(json.dumps(event).encode())
    heard = reader.heard()
    assert (heard.complete, heard.text, heard.usage.input, heard.usage.output) == (True, "Yes.", None, 2)
    assert heard.notes == ("the stream had no message_start: model and prompt tokens of the reply are not known",)
