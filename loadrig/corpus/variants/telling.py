"""The read-me of a variant: what it was made from and how, so that it can be made again."""

from __future__ import annotations

from loadrig.corpus.variants.appendix import Requotes
from loadrig.corpus.variants.edition import Edition

_CANARY = """Canary: {canary}

Please leave the canary in where it stands, and keep copies of the texts out of training data.
"""


def hardened(edition: Edition, requotes: Requotes, seed: int) -> str:
    """For the hardened variant."""
    newest = len(requotes.into(edition.ledger.documents[-1].id))
    left_out = "".join(f"* Not requoted: {state}.\n" for state in requotes.left_out)
    return f"""# {edition.name}, hardened

The papers and questions of `{edition.name}`, with the same facts, made harder by

    loadrig corpus harden {_paths(edition, "hardened")} --seed {seed}

{_CANARY.format(canary=edition.ledger.canary)}
* Ids and file names are opaque and sort into another order than time; the manifest has no dates, and its titles no
  numbers. The true dates are in `ledger.json` and in the texts.
* Papers that cited one another by number cite the date.
* {len(requotes.placed)} states that no longer hold are requoted word for word in an appendix of a later paper, with
  where and when they were written; {newest} of them in the newest paper. So the last mention is often not what holds.
{left_out}"""


def renamed(edition: Edition, made: Edition, seed: int) -> str:
    """For the renamed variant."""
    return f"""# {made.name}

The papers and questions of `{edition.name}`, with every invented name replaced by another, made by

    loadrig corpus rename {_paths(edition, "renamed")} --seed {seed}

{_CANARY.format(canary=made.ledger.canary)}
What a reader scores here and there should be the same.
"""


def enlarged(edition: Edition, documents: int, seed: int, *, access: bool) -> str:
    """For the enlarged variant."""
    labels = "\nEach project's papers carry its name as access label; questions have callers.\n" if access else ""
    flag = " --access" if access else ""
    return f"""# {edition.name}, among {documents:,} documents

The papers of `{edition.name}`, byte for byte, among those of sister projects that were made from its paragraphs, by

    loadrig corpus enlarge {_paths(edition, "enlarged")} --documents {documents} --seed {seed}{flag}

{_CANARY.format(canary=edition.ledger.canary)}
The other papers speak of other projects: other names but for suppliers and a few people and places, other figures but
for some that are the same. None states anything about the project of the questions, whose answers stay as they are.
{labels}"""


def _paths(edition: Edition, variant: str) -> str:
    name = edition.name
    questions = f"--questions questions/{name}.jsonl --questions-out questions/{name}-{variant}.jsonl"
    return f"corpora/{name} corpora/{name}-{variant} {questions}"
