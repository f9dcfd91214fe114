"""Document recall of the lexical retrievers, by category: `python benchmarks/recall.py CORPUS QUESTIONS`.

Prints, for each retriever of the table, the time to build its index, the time of a query and the recall of the gold
documents among the documents of the best k chunks, as the mean over questions that have gold documents. Below that the
recall of the amending documents alone, and the share of evidence quotes inside one of the k chunks. With `--markdown`
tables come as Markdown, for a report.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from loadrig import corpus, questions, retrievers
from loadrig.measures.recall import evidence_share, recall
from loadrig.words.corpus import Corpus, Hit, Question
from loadrig.words.settings import CorpusSettings, QuestionSettings

KS = (3, 5, 10, 20)


def main() -> None:
    """Reads the command line and prints one table a retriever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("questions")
    parser.add_argument("--slice")
    parser.add_argument("--retriever", action="append", help="default: all")
    parser.add_argument("--markdown", action="store_true", help="tables as Markdown")
    args = parser.parse_args()
    print(f"load average before the start: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    begin = time.perf_counter()
    texts = corpus.load(CorpusSettings(path=args.corpus, slice=args.slice))
    selection = questions.select(QuestionSettings(path=args.questions), texts)
    print(
        f"{texts.name}: {len(texts.documents)} documents, {texts.tokens:,} tokens ({texts.estimator}), "
        f"{len(texts.chunks):,} chunks, read in {time.perf_counter() - begin:.1f} s; "
        f"{len(selection.questions)} questions, {len(selection.left_out)} left out"
    )
    for name in args.retriever or retrievers.RETRIEVERS:
        begin = time.perf_counter()
        retriever = retrievers.load(name)(texts)
        index_s = time.perf_counter() - begin
        times_ms, found = _search(retriever, selection.questions)
        print(f"\n{name}: index {index_s:.2f} s, {_spread(times_ms)}")
        _print_table(_rows(texts, selection.questions, found), markdown=args.markdown)


def _search(retriever: retrievers.Retriever, asked: Sequence[Question]) -> tuple[list[float], list[tuple[Hit, ...]]]:
    times_ms, found = [], []
    for question in asked:
        begin = time.perf_counter()
        found.append(retriever.search(question.question, max(KS), question.caller, unit="chunk"))
        times_ms.append((time.perf_counter() - begin) * 1e3)
    return times_ms, found


def _spread(times_ms: Sequence[float]) -> str:
    p95 = statistics.quantiles(times_ms, n=20, method="inclusive")[-1]
    mean, p50 = statistics.fmean(times_ms), statistics.median(times_ms)
    return f"query mean {mean:.2f} ms, p50 {p50:.2f}, p95 {p95:.2f} (n {len(times_ms)})"


def _rows(texts: Corpus, asked: Sequence[Question], found: Sequence[tuple[Hit, ...]]) -> dict[str, list[list[float]]]:
    """For each line of the table one list of shares, at the values of k, for each question that has any."""
    chunk_texts = {chunk.id: chunk.text for chunk in texts.chunks}
    rows: defaultdict[str, list[list[float]]] = defaultdict(list)
    for question, hits in zip(asked, found, strict=True):
        docs = [[hit.doc for hit in hits[:k]] for k in KS]
        shown = [[chunk_texts[hit.chunk or ""] for hit in hits[:k]] for k in KS]
        gold = [recall(found_docs, question.gold) for found_docs in docs]
        shares = {
            question.category: gold,
            "all": gold,
            "amending only": [recall(found_docs, question.amending) for found_docs in docs],
            "evidence quotes": [evidence_share(passages, question.evidence) for passages in shown],
        }
        for row, values in shares.items():
            known = [value for value in values if value is not None]
            if known:
                rows[row].append(known)
    return rows


def _print_table(rows: Mapping[str, Sequence[Sequence[float]]], *, markdown: bool) -> None:
    heads = ["category", "n", *(f"k={k}" for k in KS)]
    if markdown:
        print("\n" + _line(heads, markdown=True) + "\n|" + "---|" * len(heads))
    else:
        print(_line(heads, markdown=False))
    last = ("all", "amending only", "evidence quotes")
    for row in [*sorted(rows.keys() - set(last)), *(row for row in last if row in rows)]:
        means = [statistics.fmean(column) for column in zip(*rows[row], strict=True)]
        print(_line([row, str(len(rows[row])), *(f"{mean:.3f}" for mean in means)], markdown=markdown))


def _line(cells: Sequence[str], *, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(cells)} |"
    first, count, *figures = cells
    return f"{first:16} {count:>3} " + " ".join(f"{figure:>7}" for figure in figures)


if __name__ == "__main__":
    main()
