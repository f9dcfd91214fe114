"""The cases of a judge: the rows of a sheet, and each answer with the documents that were put before its model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from loadrig.analysis.retrieval import last_prompt, texts_of
from loadrig.analysis.selection import grouped
from loadrig.graders.blind import choose, chosen, code_of, with_answer
from loadrig.graders.judge import FOLDER, Case, faithfulness_case, grade_case
from loadrig.log import MANIFEST, RECORDS, RunFolder, read_prompts, read_run
from loadrig.words.record import Record

_DOCUMENT = re.compile(r"<document\b[^>]*>.*?</document>", re.DOTALL)


def grading(run: RunFolder, *, seed: int, all_repetitions: bool) -> list[Case]:
    """A case for each row that a sheet of this seed would have, under the same codes."""
    rows = choose(run, seed=seed, all_repetitions=all_repetitions).rows
    return [Case(row.code, "grade", grade_case(row.question, row.answer), row.trials) for row in rows]


def faithfulness(run: RunFolder, *, seed: int, all_repetitions: bool) -> list[Case]:
    """A case for each distinct answer with its documents; an answer without any, such as the control's, has none."""
    prompts = read_prompts(run.path)
    answered = with_answer(run, chosen(run, all_repetitions=all_repetitions))
    texts = grouped(
        (faithfulness_case(run.questions[record.question], record.answer, found), (record.trial, record.try_no))
        for record in answered
        if (found := list(documents(record, prompts)))
    )
    return [
        Case(f"{code_of(f'{seed}/{text}')}-F", "faithfulness", text, tuple(trials)) for text, trials in texts.items()
    ]


def documents(record: Record, prompts: Mapping[str, bytes]) -> Iterator[str]:
    """Documents and passages in the last prompt of a trial, in their tags, each once."""
    found = (block for text in texts_of(last_prompt(record), prompts) for block in _DOCUMENT.findall(text))
    yield from dict.fromkeys(found)


def judge_runs(folder: Path) -> list[RunFolder]:
    """Every run of a judge over the run in this folder, the earliest first."""
    found = sorted((folder / FOLDER).glob("*"))
    return [read_run(path) for path in found if (path / MANIFEST).is_file() and (path / RECORDS).is_file()]
