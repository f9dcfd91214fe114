"""Plan files: what they become, and what a mistake in one says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from loadrig.config import read_plan
from loadrig.words.errors import InputError

GOOD = """\
name = "n"
[corpus]
path = "c"
[questions]
path = "q"
[[model]]
id = "m"
[[arm]]
kind = "rag"
k = [3, 5]
[[arm]]
kind = "control"
[load]
concurrency = [1, 4]
"""


@dataclass(frozen=True)
class OwnArm:
    """An arm of the user's, with a list for an option."""

    words: tuple[str, ...] = ()
    depth: int = 1

    @property
    def name(self) -> str:
        return f"own-{self.depth}-{len(self.words)}"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: object) -> int:
        return 1

    async def answer(self, question: object, client: object) -> None:
        raise NotImplementedError


def _read(folder: Path, text: str) -> object:
    path = folder / "x.toml"
    path.write_text(text)
    return read_plan(path)


def _problem(folder: Path, old: str, new: str) -> str:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        _read(folder, GOOD.replace(old, new))
    return str(caught.value).removeprefix(f"{folder}/")


def test_a_list_in_an_option_makes_one_arm_of_each_value_and_control_comes_first(tmp_path: Path) -> None:
    """k = [3, 5] is two arms; control is put in front wherever it stands."""
    plan = _read(tmp_path, GOOD)
    assert [arm.name for arm in plan.arms] == ["control", "rag-bm25-k3", "rag-bm25-k5"]  # type: ignore[attr-defined]


def test_two_lists_make_every_combination(tmp_path: Path) -> None:
    """Two values of k and two orders are four arms."""
    plan = _read(tmp_path, GOOD.replace("k = [3, 5]", 'k = [3, 5]\norder = ["rank", "document"]'))
    assert len(plan.arms) == 5  # type: ignore[attr-defined]


def test_an_arm_can_be_any_importable_dataclass(tmp_path: Path) -> None:
    """`module:attr` is an arm of the user's own; a list stays a list where the option is one."""
    plan = _read(
        tmp_path, GOOD.replace('kind = "control"', 'kind = "test_config:OwnArm"\nwords = ["a", "b"]\ndepth = [1, 2]')
    )
    assert [arm.name for arm in plan.arms[2:]] == ["own-1-2", "own-2-2"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "n"', 'nmae = "n"', "x.toml:1: unknown key 'nmae'\n  remedy: did you mean 'name'?"),
        ("concurrency =", "concurency =", "x.toml:14: unknown key 'load.concurency'\n  remedy: did you mean 'conc"),
        ("k = [3, 5]", "kk = 3", "x.toml:10: unknown key 'arm.0.kk'\n  remedy: did you mean 'k'?"),
        ("k = [3, 5]", "k = [3, 0]", "x.toml:10: 'arm.0.k': input should be greater than or equal to 1, got 0"),
        ("k = [3, 5]", 'k = "many"', "x.toml:10: 'arm.0.k': input should be a valid integer"),
        ('kind = "rag"', 'kind = "rga"', "x.toml:9: unknown arm 'rga'\n  remedy: did you mean 'rag'?"),
        ('kind = "rag"', 'kind = "nowhere:Arm"', "x.toml:9: arm 'nowhere:Arm' cannot be imported"),
        ('kind = "rag"', "", "x.toml:8: [[arm]] number 1 has no kind"),
        ("k = [3, 5]", "k = [3, 3]", "x.toml:8: two arms are named 'rag-bm25-k3'"),
        ('path = "c"', "", "x.toml:2: 'corpus.path' is missing"),
        ("[1, 4]", "[1, 4", "x.toml:14: not valid TOML"),
        ("[1, 4]", "[4]\nrate = [2.0]", "x.toml:14: concurrency and rate are both given\n  remedy: keep concurrency ("),
        ("[1, 4]", "[4]\nramp_s = 2", "x.toml:15: ramp_s without rate\n  remedy: give rate = [...] instead of"),
        ("concurrency = [1, 4]", "rate = [0]", "x.toml:14: 'load.rate.0': input should be greater than 0, got 0"),
        ("concurrency = [1, 4]", 'rate = [2]\narrivals = "even"', "x.toml:15: 'load.arrivals': input should be 'poi"),
        (
            "concurrency = [1, 4]",
            "rate = [2]\nthink_s = 1",
            "x.toml:15: think_s in open loop\n  remedy: remove think_s",
        ),
        ('name = "n"', 'timezone = "Mars/Olympus"', "x.toml:1: unknown time zone 'Mars/Olympus'"),
    ],
)
def test_a_mistake_is_named_with_line_and_remedy(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Each kind of mistake names the file, the line where it stands and what to do."""
    assert _problem(tmp_path, old, new).startswith(said)


def test_answers_have_room_unless_the_plan_says_otherwise(tmp_path: Path) -> None:
    """A-41: 2,000 output tokens, so that thinking does not starve the answer."""
    assert _read(tmp_path, GOOD).model[0].max_tokens == 2000  # type: ignore[attr-defined]


def test_a_plan_without_arms_is_refused(tmp_path: Path) -> None:
    """No [[arm]] at all is an error, not an empty run."""
    with pytest.raises(InputError, match=r"no \[\[arm\]\]"):
        _read(tmp_path, GOOD[: GOOD.index("[[arm]]")])


def test_a_missing_plan_names_a_near_one(tmp_path: Path) -> None:
    """A typing error in the file's name is answered with the file that is there."""
    (tmp_path / "quickstart.toml").write_text(GOOD)
    with pytest.raises(InputError, match=r"did you mean .*quickstart\.toml"):
        read_plan(tmp_path / "quikstart.toml")
