"""The agent's tools: what they answer to calls of every kind, and that they reach nothing but the corpus."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from scripted_client import ScriptedClient
from texts import loaded, rows

from loadrig.arms.tools import Toolbox
from loadrig.words.arm import ToolOutput
from loadrig.words.prompt import ToolUse


def _use(name: str, arguments: str, client: ScriptedClient | None = None) -> ToolOutput:
    toolbox = Toolbox(client or ScriptedClient([]), "bm25", 3)
    return asyncio.run(toolbox(ToolUse("t1", name, arguments)))


def test_a_listing_names_every_document_and_credits_none() -> None:
    """Five documents, five lines, no text of any and no document credited."""
    output = _use("list_documents", "{}")
    assert len(output.text.splitlines()) == 5
    assert "trees/apples.md" in output.text
    assert output.docs == ()


def test_a_search_shows_passages_and_credits_their_documents() -> None:
    """The documents whose text is shown are the ones credited, each once."""
    output = _use("search", '{"query":"apples pruned"}')
    assert "third of the new wood" in output.text
    assert output.docs[0] == "trees/apples.md"
    assert len(set(output.docs)) == len(output.docs)
    assert output.hits == len(output.docs)  # every document of this corpus is one chunk


def test_a_search_without_a_hit_says_so_and_credits_none() -> None:
    """Unknown words are no error: the model is told to try others."""
    assert _use("search", '{"query":"zyzzyva"}') == ToolOutput(
        "No document contains any of these words. Try other words.", ok=True, docs=(), hits=0
    )


def test_an_unknown_tool_is_answered_with_the_real_names() -> None:
    """The loop goes on with an error result that lists the tools."""
    output = _use("grep", "{}")
    assert not output.ok
    assert output.text.endswith("The tools are: list_documents, search, read.")


@pytest.mark.parametrize("arguments", ['{"qu', "[]", "{}", '{"query":1}', '{"query":"a","x":1}', "", "null"])
def test_bad_arguments_are_an_error_result(arguments: str) -> None:
    """Broken JSON, a missing, wrong or extra field: an error for the model, no crash."""
    assert not _use("search", arguments).ok


def test_a_pattern_is_words_like_any_other(tmp_path: Path) -> None:
    """L8: what makes a matcher run away finds the word in it, at once; there is nothing to match with."""
    client = ScriptedClient([], loaded(tmp_path, {"a.md": "a" * 40 + "!", "b.md": "a b", "c.md": "c"}))
    assert _use("search", '{"query":"(a+)+$"}', client).docs == ("b.md",)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "trees", "trees/../about.md", "link.md", "secret.md"])
def test_nothing_outside_the_corpus_can_be_read(name: str, tmp_path: Path) -> None:
    """Paths upward, absolute, of a folder, of a link that leads out or of a file not listed: as a missing document."""
    folder = tmp_path / "c"
    manifest = rows({"id": "about.md", "file": "about.md"})
    corpus = loaded(folder, {"about.md": "open", "secret.md": "hidden", "manifest.jsonl": manifest})
    output = _use("read", f'{{"document":"{name}"}}', ScriptedClient([], corpus))
    assert output == ToolOutput(f"There is no document {name!r}. list_documents shows the ids.", ok=False)


def test_what_the_caller_may_not_see_is_answered_as_what_does_not_exist(tmp_path: Path) -> None:
    """A caller with another label can neither list, search nor read the document."""
    listed = [{"id": "a", "file": "a.md", "access": ["red"]}, {"id": "b", "file": "b.md", "access": ["blue"]}]
    files = {"a.md": "the red valve", "b.md": "the blue valve", "manifest.jsonl": rows(*listed)}
    client = ScriptedClient([], loaded(tmp_path, files), caller=("blue",))
    assert _use("list_documents", "{}", client).text.splitlines() == ["b | undated |  | 3 tokens"]
    assert _use("search", '{"query":"valve"}', client).docs == ("b",)
    assert "no document 'a'" in _use("read", '{"document":"a"}', client).text
