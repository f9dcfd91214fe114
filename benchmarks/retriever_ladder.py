"""What each rung of the retriever ladder finds, by category, and what it takes: no model is asked.

    python benchmarks/retriever_ladder.py CORPUS QUESTIONS [--slice S] [--plan PLAN] [--retriever NAME] [--markdown]
    python benchmarks/retriever_ladder.py CORPUS QUESTIONS --search-process --retriever dense
    python benchmarks/retriever_ladder.py CORPUS QUESTIONS --chunks 500000 --retriever bm25

Rungs are the retrievers that the plan's arms search with (plans/ladder.toml), or those named. For each: the time to
build it by itself, what its index takes as it is sent to a search process (with all that it searches through), the time
of a query, and the recall of the gold documents among the documents of the best k chunks, as the mean over the
questions that have gold documents; below, the amending documents alone, and the share of evidence quotes that stand
whole in one of the k chunks. Vectors are taken from disk where they are: `--fresh` makes them anew, elsewhere, so that
a build takes what it takes.

With `--search-process` also a worker's search process at its full rate, ten seconds, with the lag of the loop beside
it, and that of five seconds without a search before.

With `--chunks` the corpus is made larger first: chunks of halves of its own chunks, spliced by a seed, twenty a
document. Then resident memory before and after, its peak while building, and the search process. Recall among spliced
chunks means nothing and is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pickle
import random
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import uvloop

from loadrig import corpus, questions
from loadrig.config import read_plan
from loadrig.measures.recall import evidence_share, recall
from loadrig.retrievers import Retriever
from loadrig.retrievers.vectors import VARIABLE
from loadrig.words.corpus import Chunk, Corpus, Document, Hit, Question
from loadrig.words.settings import CorpusSettings, NamedRetriever, QuestionSettings
from loadrig.worker.library import Building, Texts, build_indexes, save
from loadrig.worker.probe import Probe
from loadrig.worker.searching import Searching

ROOT = Path(__file__).resolve().parents[1]
KS = (3, 5, 10, 20)
IN_A_DOCUMENT = 20
QUERY_LIMIT_S, IDLE_S = 10.0, 5.0


def main() -> None:
    """Reads the command line and prints what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("questions")
    parser.add_argument("--slice")
    parser.add_argument("--plan", type=Path, default=ROOT / "plans" / "ladder.toml")
    parser.add_argument("--retriever", action="append", help="default: all of the plan")
    parser.add_argument("--markdown", action="store_true", help="tables as Markdown")
    parser.add_argument("--fresh", action="store_true", help="with a cache of vectors of its own, empty")
    parser.add_argument("--search-process", action="store_true", help="and the rate of a worker's search process")
    parser.add_argument("--chunks", type=int, help="splice the corpus into so many chunks")
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
    plan = read_plan(args.plan)
    names = args.retriever or list(dict.fromkeys(name for arm in plan.arms for name in arm.retrievers))
    with tempfile.TemporaryDirectory() as folder:
        if args.fresh:
            os.environ[VARIABLE] = folder
        if args.chunks:
            _large(texts, selection.questions, names, plan.retriever, args.chunks)
        else:
            built = _ladder(texts, selection.questions, names, plan.retriever, markdown=args.markdown)
            for name in names if args.search_process else ():
                print(f"\n{name}")
                _beside_a_loop({name: built[name]}, name, selection.questions)


def _ladder(
    texts: Corpus, asked: Sequence[Question], names: Sequence[str], given: Sequence[NamedRetriever], *, markdown: bool
) -> Mapping[str, Retriever]:
    """One table a rung. All are built at once, so that what several search through is built once."""
    built, took_ns = build_indexes(names, texts, given=given, building=Building(_say))
    for name in names:
        times_ms, found = _search(built[name], asked)
        size = _index_bytes(built[name]) / 1e6
        print(f"\n{name}: built in {took_ns[name] / 1e9:.2f} s, index {size:.1f} MB, {_spread(times_ms)}")
        _print_table(_rows(texts, asked, found), markdown=markdown)
    return built


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _search(retriever: Retriever, asked: Sequence[Question]) -> tuple[list[float], list[tuple[Hit, ...]]]:
    """The first question once more beforehand: what a retriever loads at its first query is not a query's time."""
    times_ms, found = [], []
    retriever.search(asked[0].question, max(KS), asked[0].caller, unit="chunk")
    for question in asked:
        begin = time.perf_counter()
        found.append(retriever.search(question.question, max(KS), question.caller, unit="chunk"))
        times_ms.append((time.perf_counter() - begin) * 1e3)
    return times_ms, found


def _index_bytes(retriever: Retriever) -> int:
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(retriever, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    return len(pickled) + sum(array.raw().nbytes for array in arrays)


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


def _large(
    texts: Corpus, asked: Sequence[Question], names: Sequence[str], given: Sequence[NamedRetriever], chunks: int
) -> None:
    """Memory and time over a spliced corpus, each retriever by itself."""
    texts = _spliced(texts, chunks)
    print(f"spliced: {len(texts.documents):,} documents, {len(texts.chunks):,} chunks, {texts.tokens:,} tokens")
    for name in names:
        before_mb = _resident_mb("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
        cpu_s = time.process_time()
        built, took_ns = build_indexes([name], texts, given=given, building=Building(_say))
        print(
            f"\n{name}: built in {sum(took_ns.values()) / 1e9:.1f} s ({time.process_time() - cpu_s:.1f} s of CPU), "
            f"index {_index_bytes(built[name]) / 1e6:,.0f} MB; resident {before_mb:,.0f} MB with the texts alone, "
            f"{_resident_mb('VmHWM'):,.0f} MB at the peak, {_resident_mb('VmRSS'):,.0f} MB after"
        )
        times_ms, _ = _search(built[name], asked)
        print(f"here: {_spread(times_ms)}")
        _beside_a_loop(built, name, asked)
        del built


def _beside_a_loop(built: Mapping[str, Retriever], name: str, asked: Sequence[Question]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder), Texts(Corpus("none", (), (), (), "", "none"), {}), built)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_searching(Path(folder), name, asked))


async def _searching(folder: Path, name: str, asked: Sequence[Question]) -> None:
    """A worker's search process, four queries waiting at any time, for ten seconds; and the loop's own lag."""
    probe, done, computed_ms, asked = Probe(), 0, list[float](), tuple(asked)
    async with Searching(folder) as searching:

        async def ask(slot: int) -> None:
            nonlocal done
            until = time.perf_counter() + QUERY_LIMIT_S
            for question in chain.from_iterable(asked[slot:] + asked[:slot] for _ in range(10_000)):
                found = await searching.search(name, question.question, max(KS), question.caller, "chunk")
                computed_ms.append(found.compute_ns / 1e6)
                done += 1
                if time.perf_counter() >= until:
                    return

        watching = asyncio.create_task(probe.run())
        await asyncio.sleep(IDLE_S)
        idle = _lag(probe.take().lags_ns)
        begin = time.perf_counter()
        await asyncio.gather(*map(ask, range(4)))
        took_s = time.perf_counter() - begin
        busy = _lag(probe.take().lags_ns)
        watching.cancel()
    print(f"in a search process: {done / took_s:.0f} searches a second, {_spread(computed_ms)}")
    print(f"loop lag without a search: {idle}; at the full rate: {busy}")


def _lag(lags_ns: Sequence[int]) -> str:
    lags_ms = [lag / 1e6 for lag in lags_ns]
    p99 = statistics.quantiles(lags_ms, n=100, method="inclusive")[-1]
    return f"p50 {statistics.median(lags_ms):.2f} ms, p99 {p99:.2f} ms, max {max(lags_ms):.2f} ms (n {len(lags_ms)})"


def _spliced(texts: Corpus, count: int) -> Corpus:
    """`count` chunks, each the first half of one chunk and the second half of another."""
    rng = random.Random(7)
    halves = [(chunk.text[: len(chunk.text) // 2], chunk.text[len(chunk.text) // 2 :]) for chunk in texts.chunks]
    tokens = texts.tokens // len(texts.chunks)
    chunks: list[Chunk] = []
    documents: list[Document] = []
    for number in range(-(-count // IN_A_DOCUMENT)):
        doc = f"d{number:06}"
        some = [rng.choice(halves)[0] + rng.choice(halves)[1] for _ in range(min(IN_A_DOCUMENT, count - len(chunks)))]
        chunks.extend(Chunk(f"{doc}#{at}", doc, at, text, tokens) for at, text in enumerate(some))
        documents.append(Document(doc, "".join(some), tokens * len(some)))
    return replace(texts, documents=tuple(documents), chunks=tuple(chunks))


def _resident_mb(field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None, "Linux tells it"
    return int(found[1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
