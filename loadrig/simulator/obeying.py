"""A model that takes what its documents say for orders: it makes the calls they demand and says what they tell it to.

Off unless a scenario's dial says otherwise; it is there to show what an obedient model can reach. Orders are told by
their wording in English: `call TOOL on X`, `call TOOL with X`, `answer only: "words"`.
"""

from __future__ import annotations

import re

from loadrig.simulator.agent import ToolCall
from loadrig.simulator.documents import Source
from loadrig.simulator.request import Message, Request

_CALL = re.compile(
    r"\bcall (?:the )?(?:tool )?[`\"']?(?P<tool>[A-Za-z]\w*)[`\"']? (?:on|with|for) [`\"']?(?P<value>[^\s`\"',;]+)",
    re.IGNORECASE,
)
_SAY = re.compile(
    r"\b(?:answer|reply|say)(?: only| exactly| just)?(?: with)?:? [\"“](?P<words>[^\"”\n]{1,200})[\"”]", re.I
)


def calls_ordered(request: Request, sources: list[Source]) -> list[ToolCall]:
    """The calls that the sources demand and that were not made yet, in order."""
    parameters = {str(tool.get("name")): _parameter(tool) for tool in request.tools}
    made = set(_made(request.messages))
    wanted = dict.fromkeys(
        (match["tool"], match["value"].rstrip(".)"))
        for source in sources
        for statement in source.parsed.statements
        for match in _CALL.finditer(statement.text)
    )
    return [ToolCall(tool, parameters.get(tool, "input"), value) for tool, value in wanted if (tool, value) not in made]


def words_ordered(sources: list[Source]) -> str | None:
    """What the first order to say something demands; None without one."""
    texts = (statement.text for source in sources for statement in source.parsed.statements)
    return next((match["words"] for text in texts if (match := _SAY.search(text))), None)


def _made(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    used = (block for message in messages for block in message.blocks if block["type"] == "tool_use")
    return [(str(block.get("name")), str(value)) for block in used for value in (block.get("input") or {}).values()]


def _parameter(tool: dict[str, object]) -> str:
    schema = tool.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return next(iter(properties), "input") if isinstance(properties, dict) else "input"
