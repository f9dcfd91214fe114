"""The command line of what makes corpora: `loadrig corpus harden|rename|enlarge|slice|import|needles`."""
# ruff: noqa: PLC0415, PLR0913 - one parameter a flag; `--help` and errors need no heavy imports

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

corpus_app = typer.Typer(help="Look at a corpus and its questions, or make another.", no_args_is_help=True)

Source = Annotated[str, typer.Argument(help="Folder of a corpus with manifest and ledger")]
NewFolder = Annotated[Path, typer.Argument(help="The folder to write")]
KeyPath = Annotated[str, typer.Option("--questions", help="JSONL file of questions")]
NewKey = Annotated[Path, typer.Option("--questions-out", help="The question file to write")]
Documents = Annotated[int, typer.Option("--documents", min=1, help="Documents in all")]
Access = Annotated[bool, typer.Option("--access", help="Label papers by project, give questions callers")]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same bytes")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what an earlier call wrote")]


@corpus_app.command("harden")
def harden(
    path: Source, out: NewFolder, *, questions: KeyPath, questions_out: NewKey, seed: Seed = 7, force: Force = False
) -> None:
    """Makes the hardened variant: opaque names, citations by date, old wording requoted in later papers."""
    from loadrig.commands import corpus_build as command

    command.harden(command.Paths(path, out, questions, questions_out, force), seed)


@corpus_app.command("rename")
def rename(
    path: Source, out: NewFolder, *, questions: KeyPath, questions_out: NewKey, seed: Seed = 7, force: Force = False
) -> None:
    """Replaces every invented name by another, in papers, questions, keys and ledger."""
    from loadrig.commands import corpus_build as command

    command.rename(command.Paths(path, out, questions, questions_out, force), seed)


@corpus_app.command("enlarge")
def enlarge(
    path: Source,
    out: NewFolder,
    *,
    questions: KeyPath,
    questions_out: NewKey,
    documents: Documents = 500,
    access: Access = False,
    seed: Seed = 7,
    force: Force = False,
) -> None:
    """Sets the corpus among papers of sister projects, so that it no longer fits and words alone do not find it."""
    from loadrig.commands import corpus_build as command

    paths = command.Paths(path, out, questions, questions_out, force)
    command.enlarge(paths, seed, documents=documents, access=access)


@corpus_app.command("slice")
def slice_(
    path: Annotated[str, typer.Argument(help="Folder of texts")],
    name: Annotated[str, typer.Argument(help="Name of the slice")],
    *,
    tokens: Annotated[int, typer.Option(min=1, help="Most tokens in it")],
    questions: KeyPath,
    seed: Seed = 7,
) -> None:
    """Adds a part of a corpus to its slices.json: documents that questions need first, nested by size."""
    from loadrig.commands import corpus_build as command

    command.slice_of(path, name, questions, tokens=tokens, seed=seed)


@corpus_app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="A folder of texts, a BEIR folder, or a question set (CSV, JSONL)")],
    out: Annotated[Path, typer.Argument(help="The folder to write; of a question set alone, the file")],
    *,
    questions: Annotated[Path | None, typer.Option(help="A question set for the texts (CSV, JSONL)")] = None,
    questions_out: Annotated[Path | None, typer.Option(help="The question file to write")] = None,
    columns: Annotated[str | None, typer.Option("--map", help="question=Query,reference=Answer")] = None,
    force: Force = False,
) -> None:
    """Brings a folder, a question set or the BEIR layout into the layout of a corpus."""
    from loadrig.commands import corpus_import as command

    command.run(command.Import(source, out, questions, questions_out, columns, force))


@corpus_app.command("needles")
def needles(
    path: Annotated[str, typer.Argument(help="Folder of texts that make the haystack")],
    out: NewFolder,
    *,
    questions_out: NewKey,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of the haystack: as many as you deploy")] = 64_000,
    each: Annotated[int, typer.Option(min=1, help="Probes of each kind")] = 6,
    kind: Annotated[list[str] | None, typer.Option(help="One kind of probe; may be given again. Default: all")] = None,
    seed: Seed = 7,
    force: Force = False,
) -> None:
    """Plants probes of long contexts in a corpus: single and several needles, chains, counting, twins, other words."""
    from loadrig.commands import corpus_needles as command

    command.run(command.Call(path, out, questions_out, force), tokens=tokens, each=each, kinds=kind, seed=seed)
