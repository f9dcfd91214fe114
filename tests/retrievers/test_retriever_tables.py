"""`[[retriever]]` in a plan: a kind with options under a name of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from compared import answers, run_of

from loadrig.config import read_plan
from loadrig.execution.folder import plan_as_json
from loadrig.execution.resuming import changed_keys
from loadrig.retrievers import Material, Retriever, load
from loadrig.retrievers.bm25 import Bm25
from loadrig.retrievers.hybrid import Hybrid
from loadrig.words.errors import InputError

GOOD = """\
[corpus]
path = "c"
[questions]
path = "q"
[[model]]
id = "m"
[[retriever]]
name = "stemmed"
kind = "bm25"
stem = true
k1 = 0.9
[[retriever]]
name = "both"
kind = "hybrid"
of = ["stemmed", "bm25-okapi"]
[[arm]]
kind = "rag"
retriever = ["bm25", "both"]
[[arm]]
kind = "agentic"
search = "stemmed"
"""


@dataclass(frozen=True)
class OwnKind:
    """A retriever of the user's, with an option."""

    most: int = 5

    def build(self, material: Material) -> Retriever:
        return load("bm25")(material.corpus)


@dataclass(frozen=True)
class Wanting:
    """One with an option that has no default."""

    most: int

    def build(self, material: Material) -> Retriever:
        return load("bm25")(material.corpus)


def _read(folder: Path, text: str) -> object:
    path = folder / "x.toml"
    path.write_text(text)
    return read_plan(path)


def _retrievers(folder: Path, text: str) -> dict[str, object]:
    return {one.name: one.options for one in _read(folder, text).retriever}  # type: ignore[attr-defined]


def test_a_table_is_a_retriever_that_arms_name(tmp_path: Path) -> None:
    """Options not given are the kind's; the arms' names tell them apart."""
    assert _retrievers(tmp_path, GOOD) == {
        "stemmed": Bm25(k1=0.9, stem=True), "both": Hybrid(of=("stemmed", "bm25-okapi")),
    }  # fmt: skip
    names = [arm.name for arm in _read(tmp_path, GOOD).arms]  # type: ignore[attr-defined]
    assert names == ["rag-bm25-k5", "rag-both-k5", "agentic-stemmed-h5-t12"]


def test_a_plan_without_tables_is_read_without_the_libraries_of_retrievers(tmp_path: Path) -> None:
    """That `bm25` is there is known without loading bm25s and, with it, scipy."""
    path = tmp_path / "x.toml"
    path.write_text(GOOD[: GOOD.index("[[retriever]]")] + '[[arm]]\nkind = "rag"\nretriever = ["bm25", "bm25-okapi"]\n')
    code = "import pathlib, sys; from loadrig.config import read_plan; read_plan(pathlib.Path(sys.argv[1])); "
    command = [sys.executable, "-c", code + "print({'bm25s', 'scipy'} & sys.modules.keys())", str(path)]
    assert subprocess.check_output(command, text=True) == "set()\n"


def test_options_stand_in_the_manifest(tmp_path: Path) -> None:
    """With every one, so that a comparison sees what differs."""
    table = plan_as_json(_read(tmp_path, GOOD))["retriever"]  # type: ignore[arg-type]
    options = {"k1": 0.9, "b": 0.75, "stem": True, "stop_words": False, "language": "english"}
    assert table[0] == {"name": "stemmed", "kind": "bm25", "options": options}


def test_a_run_begun_before_there_were_tables_can_be_resumed(tmp_path: Path) -> None:
    """A plan without a table is the plan of before; one with other options is not the same."""
    with_tables = plan_as_json(_read(tmp_path, GOOD))  # type: ignore[arg-type]
    other = plan_as_json(_read(tmp_path, GOOD.replace("k1 = 0.9", "k1 = 1.2")))  # type: ignore[arg-type]
    without, before = (
        {**with_tables, "retriever": []},
        {key: with_tables[key] for key in with_tables if key != "retriever"},
    )
    assert changed_keys(run_of("a", answers(1, 2), {"plan": before}), without) == []
    assert changed_keys(run_of("a", answers(1, 2), {"plan": with_tables}), other) == ["retriever.0.options.k1"]


def test_a_kind_of_the_users_own_has_options_too(tmp_path: Path) -> None:
    """A dataclass with `build`, by its module and name."""
    text = GOOD.replace('kind = "bm25"\nstem = true\nk1 = 0.9', 'kind = "test_retriever_tables:OwnKind"\nmost = 7')
    assert _retrievers(tmp_path, text)["stemmed"].most == 7  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("stem = true", "stemm = true", "x.toml:10: unknown key 'retriever.0.stemm'\n  remedy: did you mean 'stem'?"),
        ("k1 = 0.9", "k1 = -1", "x.toml:11: 'retriever.0.k1': input should be greater than or equal to 0, got -1"),
        ("k1 = 0.9", 'language = "klingon"', "x.toml:11: 'retriever.0.language': input should be 'danish'"),
        ('kind = "bm25"', 'kind = "bm52"', "x.toml:9: no retriever 'bm52'\n  remedy: did you mean 'bm25'?"),
        ('kind = "bm25"\n', "", "x.toml:7: [[retriever]] number 1 has no kind\n  remedy: one of: bm25, bm25-okapi"),
        ('name = "both"', "", "x.toml:12: [[retriever]] number 2 has no name"),
        ('name = "both"', 'name = "stemmed"', "x.toml:13: the name 'stemmed' is given twice"),
        ('name = "both"', 'name = "dense"', "x.toml:13: the name 'dense' is a kind's"),
        ('name = "both"', 'name = "a b"', "x.toml:13: 'a b' cannot be a retriever's name"),
        ('["stemmed", "bm', '["stemed", "bm', "x.toml:15: no retriever 'stemed'\n  remedy: did you mean 'stemmed'?"),
        ('["stemmed", "bm', '["both", "bm', "x.toml:15: a retriever searches through itself: both -> both"),
        ('"both"]', '"bothh"]', "x.toml:18: no retriever 'bothh'\n  remedy: did you mean 'both'?"),
        (
            '"both"]',
            '"test_retriever_tables:Wanting"]',
            "x.toml:18: retriever 'test_retriever_tables:Wanting' is none without options: ",
        ),
        ('"both"]', '":Wanting"]', "x.toml:18: retriever ':Wanting' cannot be loaded: ValueError: Empty module name"),
        ('search = "stemmed"', 'search = "stammed"', "x.toml:21: no retriever 'stammed'\n  remedy: did you mean 'ste"),
        ('kind = "hybrid"\nof =', 'kind = "math:sqrt"\nof =', "x.toml:14: 'math:sqrt' has no options"),
        (
            'kind = "hybrid"\nof = ["stemmed", "bm25-okapi"]',
            'kind = "dense"\nmodel = "other"',
            "x.toml:12: 'retriever.1': without url the model is all-MiniLM-L6-v2",
        ),
        (
            'kind = "hybrid"\nof = ["stemmed", "bm25-okapi"]',
            'kind = "dense"\nkey = "KEY"',
            "x.toml:12: 'retriever.1': key is an endpoint's: give its url",
        ),
        (
            'kind = "hybrid"\nof = ["stemmed", "bm25-okapi"]',
            'kind = "rerank"\nmodel = "other"',
            "x.toml:12: 'retriever.1': model and key are an endpoint's: give its url",
        ),
        (
            'kind = "hybrid"\nof = ["stemmed", "bm25-okapi"]',
            'kind = "bm25"\nlanguage = "german"',
            "x.toml:12: 'retriever.1': language is that of stems and stop words",
        ),
    ],
)
def test_a_mistake_in_a_table_is_named_with_line_and_remedy(old: str, new: str, said: str, tmp_path: Path) -> None:
    """An unknown key, a value that cannot be, a kind, a name and a part that is not there, one that needs itself."""
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        _read(tmp_path, GOOD.replace(old, new))
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)
