"""Holds the code to its shape: layers, library homes, cycles, sizes, names, and what no file may mention."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "loadrig"

CORE = (
    "pacing", "sse", "marks", "sketch", "tokens", "cost", "stats", "plan", "suggest", "bound", "stamps",
    "steady", "knee", "objectives", "search", "limiter", "markers", "context", "headers",
)  # fmt: skip
LAYERS = (
    ("words",),
    CORE,
    ("corpus", "measures", "questions", "arms", "retrievers", "providers", "log", "stored", "config", "outside"),
    ("worker", "wire"),
    ("fleet", "live"),
    ("execution", "selftest", "doctor"),
    ("advice",),
    ("statistics",),
    ("graders", "analysis", "reports"),
    ("cli", "commands", "__main__"),
)
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
READ_SIDE = ("graders", "analysis", "reports")
ENTRY = ("cli", "commands", "__main__")

HOMES = {
    "altair": ("reports",),
    "annotated_types": ("words", "config"),
    "anthropic": ("wire",),
    "bm25s": ("retrievers",),
    "bpe_openai": ("tokens",),
    "grafana_foundation_sdk": ("live",),
    "hdrh": ("sketch",),
    "httptools": ("wire",),
    "httpx": ("outside",),
    "httpx2": ("wire",),
    "jinja2": ("reports",),
    "krippendorff": ("statistics",),
    "openpyxl": ("graders",),
    "pandas": READ_SIDE,
    "prometheus_client": ("live",),
    "pydantic": ("config",),
    "rank_bm25": ("retrievers",),
    "markupsafe": ("reports",),
    "onnxruntime": ("retrievers",),
    "ray": ("fleet",),
    "rich": ("live", "reports", *ENTRY),
    "scipy": ("stats", "statistics"),
    "snowballstemmer": ("retrievers",),
    "statsmodels": ("statistics",),
    "tabulate": ("reports",),
    "tiktoken": ("tokens",),
    "tokenizers": ("retrievers",),
    "typer": ENTRY,
    "vl_convert": ("reports",),
    "uvicorn": ("simulator",),
    "uvloop": ("execution", "fleet", "simulator", *ENTRY),
}
ANYWHERE = {"msgspec", "numpy"}

CEILING, MEDIAN, FUNCTION, PARAMETERS = 400, 120, 80, 6
VAGUE = re.compile(r"^(utils?|common|helpers?|manager|base_.*)$")

# Written so that no pattern matches its own line. Registry hosts, this or that machine's paths, and documents or
# habits of the place where the code was written: none of them means anything to whoever reads the repository.
UNWANTED = {
    "a package registry's host": r"https?://[^/\s\"']*(py[p]i|pythonhoste[d]|registry\.np[m]|debia[n]\.org|jfro[g])",
    "an option that names a registry": r"--?(extra-)?index-ur[l]|find-link[s]",
    "a path of one machine": r"(?<![\w.])/(wor[k]|roo[t]|hom[e]|opt/py[p]i)/\w",
    "a document that is not in the repository": r"(?<!docs/)\b(desig[n]|styl[e]|fault[s]|part[s]|messages-api-fact[s]"
    r"|engine-finding[s]|corpus-finding[s]|wishe[s])\.md\b",
    "the place where it was written": r"(?i)\bthe ce[o]\b|\bworkplac[e]\b|\b(this|next|later) issu[e]\b"
    r"|\bissue #?\d|\bsub-?agen[t]|\bcoding (clien[t]|agen[t])|\.\./share[d]",
}
PLACES = ("loadrig", "tests", "docs", "dashboards", "corpora", "questions", "plans", "benchmarks", ".ci")
OF_DOCS = "mkdocs.yml"  # names pages of docs/ without the folder
BINARY = {".png", ".gz", ".zip", ".npz", ".pyc", ".ico"}

FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(), str(path)) for path in FILES}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def part_of(module: str) -> str:
    """`loadrig.arms.rag` belongs to the part `arms`; the package's own `__init__` to the part `loadrig`."""
    names = module.split(".")
    return names[1] if len(names) > 1 else names[0]


def imports(tree: ast.AST, *, typing_too: bool = True) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, those in functions too; `from package import module` names the module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import; write the full name"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in MODULES else str(node.module)
        elif typing_too or not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            yield from imports(node, typing_too=typing_too)


def edges(*, typing_too: bool = True) -> Iterator[tuple[Path, int, str]]:
    for path, tree in TREES.items():
        yield from ((path, line, target) for line, target in imports(tree, typing_too=typing_too))


def fail_on(problems: Iterable[str]) -> None:
    found = sorted(set(problems))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def place(path: Path, line: int | None = None) -> str:
    return f"{path.relative_to(ROOT)}" + ("" if line is None else f":{line}")


def test_every_part_has_a_layer() -> None:
    """A new module or folder directly below loadrig/ is first given its layer here."""
    known = {*RANK, "loadrig", "simulator"}
    fail_on(
        f"{place(path)}: name the layer of {part_of(module)!r} in tests/test_shape.py"
        for module, path in MODULES.items()
        if part_of(module) not in known
    )


def test_imports_point_down_only() -> None:
    """A part imports its own layer or one below, so that the lower half never depends on the upper."""

    def problems() -> Iterator[str]:
        for path, line, target in edges():
            source, goal = part_of(module_of(path)), part_of(target)
            if source in RANK and goal in RANK and RANK[goal] > RANK[source] and target.startswith("loadrig."):
                yield f"{place(path, line)}: {source} (layer {RANK[source]}) imports {target} (layer {RANK[goal]})"

    fail_on(problems())


def test_the_read_side_needs_no_load() -> None:
    """Reports are rebuilt from the log alone: graders, analysis and reports import no part that sends or shows load."""
    fail_on(
        f"{place(path, line)}: the read side imports {target}"
        for path, line, target in edges()
        if part_of(module_of(path)) in READ_SIDE
        and target.startswith("loadrig.")
        and part_of(target) in ("fleet", "live", "worker", "wire")
    )


def test_the_simulator_stands_alone() -> None:
    """The simulator is an independent witness: of loadrig it imports its own modules and words, nothing else."""
    fail_on(
        f"{place(path, line)}: the simulator imports {target}"
        for path, line, target in edges()
        if part_of(module_of(path)) == "simulator"
        and target.startswith("loadrig")
        and part_of(target) not in ("simulator", "words")
    )


def test_only_entry_points_start_the_simulator() -> None:
    """Nothing that measures imports the simulator: it is reached over a socket, and started as a process of its own."""
    fail_on(
        f"{place(path, line)}: imports {target}"
        for path, line, target in edges()
        if part_of(target) == "simulator" and part_of(module_of(path)) not in ("simulator", *ENTRY)
    )


def test_each_outside_library_has_one_home() -> None:
    """An outside library is imported in its home only, so that replacing it is a change in one place."""

    def problems() -> Iterator[str]:
        for path, line, target in edges():
            library = target.split(".")[0]
            if library in sys.stdlib_module_names or library in ANYWHERE or library == "loadrig":
                continue
            if library not in HOMES:
                yield f"{place(path, line)}: {library!r} has no home; name one in tests/test_shape.py"
            elif part_of(module_of(path)) not in HOMES[library]:
                yield f"{place(path, line)}: {library} lives in {', '.join(HOMES[library])}"

    fail_on(problems())


def test_there_is_no_import_cycle() -> None:
    """Following imports (type-only ones aside) never leads back to where one started."""
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for path, _, target in edges(typing_too=False):
        if target in MODULES and target != module_of(path):
            graph[module_of(path)].add(target)
    while leaves := [module for module, targets in graph.items() if not targets & graph.keys()]:
        for leaf in leaves:
            del graph[leaf]
    fail_on(
        f"{module} is on a cycle, or imports one: {', '.join(sorted(graph[module] & graph.keys()))}" for module in graph
    )


def test_files_stay_small() -> None:
    """No module passes 400 lines and the median is at most 120; one that must grow is split by idea."""
    sizes = {path: len(path.read_text().splitlines()) for path in FILES}
    fail_on(f"{place(path)}: {size} lines, ceiling {CEILING}" for path, size in sizes.items() if size > CEILING)
    written = [size for size in sizes.values() if size > 5]
    assert statistics.median(written) <= MEDIAN, f"median module {statistics.median(written)} lines, at most {MEDIAN}"


def test_functions_stay_small() -> None:
    """No function passes 80 lines or six parameters; a command's options, which are its user's, are not counted."""

    def problems() -> Iterator[str]:
        for path, tree in TREES.items():
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                count = len([name for name in names if name not in ("self", "cls")])
                if lines > FUNCTION:
                    yield f"{place(path, node.lineno)}: {node.name} has {lines} lines, at most {FUNCTION}"
                if count > PARAMETERS and part_of(module_of(path)) not in ENTRY:
                    yield f"{place(path, node.lineno)}: {node.name} has {count} parameters, at most {PARAMETERS}"

    fail_on(problems())


def test_names_say_what_is_inside() -> None:
    """No module or folder has a name under which anything could be put."""
    fail_on(
        f"{place(path)}: a name that says nothing"
        for path in FILES
        if any(VAGUE.match(name) for name in path.relative_to(ROOT).with_suffix("").parts)
    )


def test_every_module_opens_with_what_it_is() -> None:
    """Each module has a docstring whose first line is a sentence."""
    fail_on(
        f"{place(path)}: the module docstring's first paragraph is not a sentence"
        for path, tree in TREES.items()
        if not (ast.get_docstring(tree) or "").split("\n\n")[0].endswith((".", ":"))
    )


def test_every_test_file_has_a_name_of_its_own() -> None:
    """Test folders are no packages, so two files of one name would be taken for one another."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    fail_on(f"{name}: {count} files of that name below tests/" for name, count in names.items() if count > 1)


def texts() -> Iterator[Path]:
    """Files that go into the repository: the known folders and the files at the top, less what is generated."""
    for top in (ROOT, *(ROOT / name for name in PLACES)):
        found = top.glob("*") if top == ROOT else top.rglob("*")
        yield from (path for path in found if path.is_file() and path.suffix not in BINARY)


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_mentions(what: str) -> None:
    """No file of the repository names a registry host, one machine's path, or something its reader cannot have."""
    pattern = re.compile(UNWANTED[what])
    fail_on(
        f"{place(path, number)}: {what}: {line.strip()[:120]}"
        for path in texts()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if pattern.search(line if path.name != OF_DOCS else line.replace(": ", ": docs/"))
    )
