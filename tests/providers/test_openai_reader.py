"""Reads streamed chat completions: kinds of events, text, tools, stop reasons, and whatever servers make of them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from chat_events import DONE, NAMED, blk, chunk, delta, event, json_, start, think, txt
from hypothesis import given
from hypothesis import strategies as st

from loadrig.marks import Kind
from loadrig.providers import ApiError, Heard, load
from loadrig.providers.openai.reader import ChatReader
from loadrig.providers.outcome import outcome
from loadrig.sse import Decoder
from loadrig.words.prompt import ToolUse

OWN_ID = "a tool call came without an id of its own and was given one"


def kinds(*events: bytes) -> list[Kind]:
    reader = load("openai").reader()
    return [reader.feed(payload) for payload in Decoder().feed(b"".join(events))]


def heard(*events: bytes) -> Heard:
    reader = load("openai").reader()
    for payload in Decoder().feed(b"".join(events)):
        reader.feed(payload)
    return reader.heard()


def calls(*pieces: dict[str, Any]) -> bytes:
    """One chunk with pieces of calls."""
    return chunk({"tool_calls": list(pieces)})


def piece(index: int | None, identity: str | None, name: str | None, arguments: Any = None) -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    return {**made, **({} if index is None else {"index": index}), **({} if identity is None else {"id": identity})}


CLOSE = delta("end_turn") + DONE


def test_a_reply_has_its_names() -> None:
    """Id, model and tier of the first chunk that has them; an empty one, as a filter sends it first, names none."""
    first = event({"id": "", "object": "", "model": "", "choices": [], "prompt_filter_results": []})
    found = heard(first, chunk({"role": "assistant"}, service_tier="flex"), txt("Hi"), CLOSE)

    assert (found.id, found.model, found.usage.service_tier, found.text) == ("chatcmpl-1", "m-1", "flex", "Hi")
    assert found.notes == ()


def test_each_event_has_its_kind() -> None:
    """Content is a delta that is not empty; a call's name opens it; everything else is something else."""
    expected = [
        Kind.START, Kind.EMPTY, Kind.THINKING, Kind.THINKING, Kind.TEXT, Kind.TEXT, Kind.BLOCK, Kind.TOOL, Kind.EMPTY,
        Kind.OTHER, Kind.OTHER, Kind.STOP,
    ]  # fmt: skip

    assert expected == kinds(
        start(), txt(""), think("hm"), chunk({"reasoning": "hm"}), txt("Yes"), txt(" "), blk("tool_use"), json_("{}"),
        json_(""), delta("end_turn"), DONE,
    )  # fmt: skip


def test_a_first_chunk_may_bring_text() -> None:
    """A server without an opening chunk of its own generated something there."""
    assert kinds(chunk({"role": "assistant", "content": "Hi"}), DONE) == [Kind.TEXT, Kind.STOP]


def test_a_role_in_every_chunk_changes_nothing() -> None:
    """Some servers say who speaks each time."""
    found = heard(*(chunk({"role": "assistant", "content": text}) for text in ("A", "B")), CLOSE)

    assert (found.text, found.complete) == ("AB", True)


def test_tool_arguments_are_joined_raw() -> None:
    """Pieces are joined as they came, byte for byte, and parsed by nobody on the way."""
    found = heard(start(), blk("tool_use"), json_('{"q":'), json_(' "x",'), json_('"n":1e0}'), delta("tool_use"), DONE)

    assert (ToolUse("toolu_1", "find", '{"q": "x","n":1e0}'),) == found.tool_uses
    assert (found.stop, outcome(found)) == ("tools", ("answered", None))


def test_parallel_calls_are_told_apart_by_their_index() -> None:
    """Two calls whose pieces come in turns."""
    found = heard(
        calls(piece(0, "a", "find", ""), piece(1, "b", "read", "")), calls(piece(1, None, None, '{"d":')),
        calls(piece(0, None, None, '{"q":"x"}')), calls(piece(1, None, None, '"y"}')), CLOSE,
    )  # fmt: skip

    assert found.tool_uses == (ToolUse("a", "find", '{"q":"x"}'), ToolUse("b", "read", '{"d":"y"}'))


@pytest.mark.parametrize("index", [0, None])
def test_whole_calls_under_one_index_are_several(index: int | None) -> None:
    """Calls that come whole, all as number 0 or without a number, are told apart by their ids."""
    found = heard(calls(piece(index, "a", "find", "{}")), calls(piece(index, "b", "find", '{"q":1}')), CLOSE)

    assert found.tool_uses == (ToolUse("a", "find", "{}"), ToolUse("b", "find", '{"q":1}'))


@pytest.mark.parametrize("identity", [None, "", "a"])
def test_a_whole_object_is_followed_by_another_call(identity: str | None) -> None:
    """Calls that come whole under one index and one id, or none: an object ends where the next one begins."""
    found = heard(calls(piece(0, identity, "find", '{"q":1}'), piece(0, identity, "read", '{"d":2}')), CLOSE)

    assert [(use.name, use.arguments) for use in found.tool_uses] == [("find", '{"q":1}'), ("read", '{"d":2}')]


def test_pieces_without_an_index_belong_together_by_their_id() -> None:
    """Name and id said in each of them: one call; another id: another."""
    pieces = piece(None, "a", "find", '{"q"'), piece(None, "a", "find", ":1}"), piece(None, "b", "find", "{}")
    found = heard(*map(calls, pieces), CLOSE)

    assert found.tool_uses == (ToolUse("a", "find", '{"q":1}'), ToolUse("b", "find", "{}"))
    nameless = heard(calls(piece(None, None, "find", "")), calls(piece(None, None, "read", "{}")), CLOSE)
    assert [use.name for use in nameless.tool_uses] == ["find", "read"]


def test_white_space_behind_an_object_begins_no_call() -> None:
    """The name said again in a last piece that brings a line feed and nothing more."""
    found = heard(calls(piece(0, "a", "find", '{"q":1}')), calls(piece(0, "a", "find", "\n")), CLOSE)

    assert [use.arguments for use in found.tool_uses] == ['{"q":1}\n']


def test_a_call_without_an_id_is_given_one() -> None:
    """Empty, missing and doubled ids: each call has its own, no given one is taken, and it is noted."""
    found = heard(
        calls(piece(0, "", "find", "{}"), piece(1, None, "find", "{}"), piece(2, "call_1", "find", "{}")),
        calls(piece(3, "call_1", "read", "{}")), CLOSE,
    )  # fmt: skip

    assert [use.id for use in found.tool_uses] == ["call_2", "call_3", "call_1", "call_4"]
    assert found.notes == (OWN_ID,)
    assert [call["id"] for call in json.loads(found.said.content)["tool_calls"]] == [
        "call_2",
        "call_3",
        "call_1",
        "call_4",
    ]


def test_a_name_said_in_every_piece_is_one_name() -> None:
    """Servers repeat it, or cut it."""
    found = heard(calls(piece(0, "a", "find", "{")), calls(piece(0, "a", "find", "}")), CLOSE)
    cut = heard(calls(piece(0, "a", "fi")), calls(piece(0, None, "nd", "{}")), CLOSE)

    assert found.tool_uses == cut.tool_uses == (ToolUse("a", "find", "{}"),)


@pytest.mark.parametrize(("arguments", "expected"), [(None, "{}"), ("", "{}"), ({"q": "x"}, '{"q":"x"}')])
def test_no_arguments_or_an_object(arguments: Any, expected: str) -> None:
    """L4: none are `{}`; an object in the place of its text is taken as one."""
    assert heard(calls(piece(0, "a", "find", arguments)), CLOSE).tool_uses[0].arguments == expected


def test_the_old_function_call_is_a_call() -> None:
    """Before there were tools there was one function; its reason is its own too."""
    found = heard(
        chunk({"function_call": {"name": "find", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"q":1}'}}), delta("function_call"), DONE,
    )  # fmt: skip

    assert (found.tool_uses, found.stop) == ((ToolUse("call_1", "find", '{"q":1}'),), "tools")


def test_the_answer_is_replayed_as_it_was() -> None:
    """Text and raw arguments survive into the next request; thoughts do not, which no server wants back."""
    found = heard(start(), think("hm"), txt("Hi"), blk("tool_use"), json_('{"q": "x"}'), delta("tool_use"), DONE)

    assert json.loads(found.said.content) == {
        "role": "assistant", "content": "Hi",
        "tool_calls": [{"id": "toolu_1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}],
    }  # fmt: skip


def test_broken_arguments_are_replayed_as_an_object() -> None:
    """Servers read them back as JSON; the raw text stays inside it, and with the call."""
    found = heard(blk("tool_use"), json_('{"q": "x'), CLOSE)

    (call,) = json.loads(found.said.content)["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"INVALID_JSON": '{"q": "x'}
    assert found.tool_uses[0].arguments == '{"q": "x'


REASONS = [
    ("stop", "Yes", "end", ("answered", None)),
    ("stop", "", "end", ("unanswered", "empty")),
    ("stop", " \n", "end", ("unanswered", "empty")),
    ("length", "Yes", "max_tokens", ("unanswered", "cut_off")),
    ("length", "", "max_tokens", ("unanswered", "starved")),
    ("content_filter", "", "refusal", ("unanswered", "refused")),
    ("content_filter", "I", "refusal", ("unanswered", "refused")),
    ("abort", "Yes", "other", ("unanswered", "other")),
]


@pytest.mark.parametrize(("raw", "text", "stop_", "became"), REASONS)
def test_stop_reasons(raw: str, text: str, stop_: str, became: tuple[str, str | None]) -> None:
    """Each finish reason is kept verbatim, mapped, and gives its outcome and reason."""
    found = heard(start(), txt(text), delta(raw), DONE)

    assert (raw, stop_, became) == (found.stop_reason, found.stop, outcome(found))


def test_stop_with_a_call_asks_for_tools() -> None:
    """Some servers say `stop` after a tool call, too."""
    assert heard(blk("tool_use"), json_("{}"), CLOSE).stop == "tools"


def test_a_refusal_in_words_is_a_refusal() -> None:
    """Its text is kept, its first token counts, and it is no answer however it ended."""
    events = start(), chunk({"refusal": "I can"}), chunk({"refusal": "not."}), CLOSE
    found = heard(*events)

    assert (found.text, found.stop, outcome(found)) == ("I cannot.", "refusal", ("unanswered", "refused"))
    assert kinds(*events)[1] == Kind.TEXT


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_shown_reasoning_is_neither_hidden_nor_answer(field: str) -> None:
    """Both names of it; nothing of it is in the answer."""
    found = heard(start(), chunk({field: "hm"}), txt("Ok"), delta("end_turn", {"output_tokens": 3}), DONE)

    assert (found.text, found.hidden_thinking) == ("Ok", False)


def test_reasoning_tokens_without_its_text_are_hidden_thinking() -> None:
    """A7: told by the usage alone; shown text or no tokens is not hidden."""
    counted = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    none = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 0}}
    streams = [(start(),), (start(), think("hm"))]
    found = [heard(*s, txt("Ok"), delta("end_turn", c), DONE).hidden_thinking for s in streams for c in (counted, none)]

    assert found == [True, False, False, False]


def test_only_a_finish_reason_completes_a_reply() -> None:
    """D2: `[DONE]` alone does not; a reason without `[DONE]` does."""
    assert heard(start(), txt("Hi"), DONE).complete is False
    assert heard(start(), txt("Hi"), delta("end_turn")).complete is True


@pytest.mark.parametrize("nothing", ["", "null"])
def test_a_finish_reason_that_says_nothing_is_none(nothing: str) -> None:
    """In every chunk, as some servers send it: the reply goes on, is incomplete if it breaks, and keeps its reason."""
    first, last = chunk({"content": "Hi"}, nothing), chunk({}, nothing)

    assert (heard(start(), first).complete, heard(start(), first, DONE).complete) == (False, False)
    assert heard(start(), first, CLOSE, last).stop_reason == "stop"


def test_thinking_among_the_parts_of_a_content_is_thinking() -> None:
    """Parts that have their text under `thinking`: the first token, and no answer."""
    thought = chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})

    assert kinds(start(), thought, txt("Ok")) == [Kind.START, Kind.THINKING, Kind.TEXT]
    assert heard(start(), thought, txt("Ok"), CLOSE).text == "Ok"


def test_the_first_choice_is_read_wherever_it_stands() -> None:
    """Two in one chunk, the second one first: by number, on either way of reading."""
    choices = [{"index": n, "delta": {"content": text}, "finish_reason": None} for n, text in ((1, "no"), (0, "Hi"))]
    for odd in ({}, {"id": 3}):
        found = heard(start(), event({**NAMED, **odd, "choices": choices}), event({"choices": choices[::-1]}), CLOSE)
        assert (found.text, found.notes) == ("HiHi", ("more than one choice: the first is read",))


@pytest.mark.parametrize(("told", "expected"), [
    ({"error": {"message": "busy", "type": "server_error", "code": None}}, ApiError("server_error", "busy")),
    ({"error": {"message": "now", "type": "", "code": 429}}, ApiError("", "now", code="429", rate_limited=True)),
    ({"error": "it broke"}, ApiError("", "it broke")),
    ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400},
     ApiError("BadRequestError", "no", code="400")),
    ({"error": {"message": "gone", "code": 502}, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
     ApiError("", "gone", code="502")),
    ({"detail": "not loaded"}, ApiError("", "not loaded")),
    ({"error": {"detail": "no room", "code": 529}}, ApiError("", "no room", code="529", overloaded=True)),
    ({"error": {"type": "t" * 200, "message": "m" * 600}}, ApiError("t" * 100, "m" * 500)),
    ({"error": {"type": "server_error", "message": "The model is overloaded"}},
     ApiError("server_error", "The model is overloaded", overloaded=True)),
])  # fmt: skip
def test_an_error_in_the_stream_ends_the_reply(told: Any, expected: ApiError) -> None:
    """D1: whatever shape it has; what came before is kept, nothing after it is read."""
    found = heard(start(), txt("Part"), event(told), txt("more"))

    assert (found.error, found.text[:4], found.complete) == (expected, "Part", False)


def test_a_message_that_is_no_error_does_not_end_a_reply() -> None:
    """A gateway that tells of its queue in the stream: noted, and the reply goes on."""
    found = heard(event({"type": "queued", "message": "place 3"}), start(), txt("Hi"), CLOSE)

    assert (found.text, found.error, found.complete) == ("Hi", None, True)
    assert found.notes == ("an event that is no chunk: no name",)


BODIES = [
    (b'{"error":{"message":"m","type":"t","param":null,"code":"c"}}', ApiError("t", "m", code="c")),
    (b'{"error":"plain"}', ApiError("", "plain")),
    (b'{"detail":[{"loc":["body","messages"],"msg":"Field required","type":"missing"}]}',
     ApiError("", "body.messages: Field required")),
    (b'[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]', ApiError("", "m", code="400")),
    (b'{"message":"m","code":401}', ApiError("", "m", code="401")),
    (b'{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}',
     ApiError("insufficient_quota", "m", code="insufficient_quota", spend_limit=True,
              hint="a spend limit; waiting does not lift it")),
    (b"<p>Bad gateway", ApiError("", "a page of HTML: Bad gateway")), (b"", ApiError("", "")),
    (b"[" * 5000, ApiError("", "[" * 300)),
    (b'{"error":{}}', ApiError("", '{"error":{}}')), (b'"words"', ApiError("", '"words"')),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BODIES, ids=range(len(BODIES)))
def test_an_error_body_of_any_maker_is_understood(body: bytes, expected: ApiError) -> None:
    """Type, message and code in every shape that is known; of any other, some text of it."""
    assert load("openai").error(body) == expected


def test_news_in_the_stream_is_passed_over_and_noted() -> None:
    """C9: an event that is no chunk, fields and delta keys nobody knows, a second choice: text and usage are right."""
    second = event({"id": "x", "model": "m-1", "choices": [{"index": 1, "delta": {"content": "no"}}]})
    found = heard(
        start(), event({"object": "news", "x": {}}), chunk({"content": "Hi", "odd": [1]}, odd={}), second, CLOSE
    )

    assert (found.text, found.complete, found.usage.output) == ("Hi", True, 5)
    assert found.notes == ("an event that is no chunk: news", "more than one choice: the first is read")


def test_wrong_types_inside_events_break_nothing() -> None:
    """Foreign JSON of any shape is data: content in parts is joined, the rest is passed over."""
    parts = [{"type": "text", "text": "Hi"}, {"type": "odd"}, 3]
    found = heard(
        event({"id": 3, "model": None, "choices": "x"}), event({"choices": [[], {}]}), event([]), event(7), event(None),
        chunk({"content": parts}), event({"choices": [{"index": "0", "delta": {"tool_calls": 4, "content": 5}}]}),
        event({"choices": [{"delta": {}, "finish_reason": {"x": 1}}], "usage": [3]}),
        b"data: " + b"[" * 100_000 + b"\n\n",
    )  # fmt: skip

    assert (found.text, found.tool_uses, found.stop_reason, found.stop) == ("Hi", (), '{"x":1}', "other")


@pytest.mark.parametrize("noise", [b"data: {oops\n\n", b"data: hello\n\n", b'data: {"choices":[\n\n'])
def test_what_is_not_json_ends_the_reply_as_malformed(noise: bytes) -> None:
    """An unreadable event is told, with its beginning; the text before it is kept."""
    found = heard(start(), txt("Part"), noise)

    assert found.malformed is not None
    assert found.malformed.endswith(noise[6:-2].decode())
    assert (found.text, found.complete) == ("Part", False)


@pytest.mark.parametrize(("raw", "text"), [(rb"a\ud83db", "a\ufffdb"), (b"a\xffb", "a\ufffdb")])
def test_broken_characters_are_replaced_not_fatal(raw: bytes, text: str) -> None:
    """A lone surrogate or invalid UTF-8 costs one character, not the reply, and is noted."""
    broken = b'data: {"choices":[{"index":0,"delta":{"content":"' + raw + b'"}}]}\n\n'
    found = heard(start(), broken, CLOSE)

    assert text == found.text
    assert found.notes == ("characters that are not valid text were replaced",)


def test_a_message_beside_a_delta_is_not_read_again() -> None:
    """Servers that repeat the whole reply so far in each chunk, also where a chunk is read as JSON of any shape."""
    both = {"index": None, "delta": {}, "message": {"content": "Hi"}, "finish_reason": "stop"}

    assert heard(start(), txt("Hi"), event({"choices": [both]}), DONE).text == "Hi"


def test_a_message_in_the_place_of_a_delta_is_read() -> None:
    """A server that streams a whole completion as one event."""
    whole = event({"id": "x", "model": "m-1", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})

    assert (heard(whole, DONE).text, heard(whole, DONE).complete) == ("Hi", True)


DELTAS = st.dictionaries(
    st.sampled_from(["role", "content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call"]),
    st.sampled_from([
        None, "", "a", 3, [], [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}],
        [{"index": 1, "function": {"arguments": "x"}}], {"name": "f", "arguments": "y"}, [{"text": "p"}],
    ]),
    max_size=3,
)  # fmt: skip
COUNTS = st.sampled_from([
    None, {"prompt_tokens": 9, "completion_tokens": 2}, {"prompt_tokens": -1}, {"completion_tokens": "x"}, [],
    {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens": 7},
    {"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 10},
])  # fmt: skip
EVENTS = st.lists(
    st.builds(
        lambda made, reason, counted, names: {
            **names, "choices": [{"index": 0, "delta": made, "finish_reason": reason}], "usage": counted,
        },
        DELTAS, st.sampled_from([None, "stop", "tool_calls", "novel", 3]), COUNTS,
        st.sampled_from([{}, {"id": "i", "model": "m"}, {"id": "j", "model": "n", "service_tier": "flex"}, {"id": 4}]),
    )
    | st.builds(lambda counted: {"choices": [], "usage": counted}, COUNTS)
    | st.sampled_from([{"choices": None}, {"error": None, "choices": []}, {"error": "x"}, {"choices": [{}]}, 5, {}]),
    max_size=8,
)  # fmt: skip


@given(EVENTS)
def test_the_short_way_hears_what_the_long_one_does(events: list[Any]) -> None:
    """Every chunk read by the typed decoder is read alike as JSON that may hold anything."""
    short, long = ChatReader(), ChatReader()
    payloads = [json.dumps(one).encode() for one in events]

    assert [short.feed(payload) for payload in payloads] == [long._foreign(payload) for payload in payloads]
    assert (short.heard(), short.ended) == (long.heard(), long.ended)


@given(st.lists(st.integers(0, 2000), max_size=8))
def test_any_cut_of_a_stream_gives_the_same_events(places: list[int]) -> None:
    """However a stream is cut into reads, kinds and reply are the same."""
    stream = (
        b"\xef\xbb\xbf" + start() + think("hm \u2013") + txt("na\u00efve \u5317") + b": hold\n\n" + blk("tool_use")
        + json_('{"q":"x"}') + delta("tool_use") + DONE
    )  # fmt: skip
    edges = [0, *sorted(min(place, len(stream)) for place in places), len(stream)]
    decoder, reader = Decoder(), ChatReader()
    pieces = [stream[begin:to] for begin, to in pairwise(edges)]
    found = [reader.feed(payload) for piece_ in pieces for payload in decoder.feed(piece_)]

    assert found == kinds(stream)
    assert reader.heard() == heard(stream)
    assert reader.ended


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
field = st.sampled_from([
    "choices", "index", "delta", "message", "content", "tool_calls", "function", "arguments", "usage", "error",
    "finish_reason", "id", "model", "detail", "prompt_tokens", "reasoning",
])  # fmt: skip


@given(
    st.lists(st.dictionaries(field, any_json | st.dictionaries(field, any_json, max_size=4), max_size=5), max_size=5)
)
def test_no_json_breaks_the_reader(events: list[Any]) -> None:
    """Whatever the fields hold, each event has a kind and the reply can be told."""
    reader = ChatReader()
    for one in events:
        assert isinstance(reader.feed(json.dumps(one).encode()), Kind)
    assert isinstance(reader.heard(), Heard)
