"""Imports point downward only, lazy ones included; read from the syntax tree of every file."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE, UI = ROOT / "sbd_core", ROOT / "ui"

# A module may import those on floors below its own, and its own package's.
FLOORS = [
    ("errors", "version"),
    ("settings",),
    ("solvers",),
    ("config", "files", "json_node", "shared_work", "text_table"),
    ("events", "environment", "data_files"),
    ("cost",),
    ("trace",),
    ("masks", "sampling", "roofline", "tasks"),
    ("models", "run_lines"),
    ("chats", "replay"),
    ("decoding",),
    ("hf",),
    ("training", "vllm", "evaluation", "benchmark", "plots"),
    ("cli",),
    ("__main__",),
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
PACKAGES: dict[str, set[str]] = {
    **{name: set() for name in ("errors", "settings", "config", "cost", "files", "tasks")},
    **{name: {"msgspec"} for name in ("json_node", "events", "trace")},
    **{name: set() for name in ("run_lines", "replay")},
    "solvers": {"torch"},
}
"""All that a module or package imports beside sbd_core and the standard library."""
FOREIGN_TO_CORE = {"gradio", "ui", "app", "scripts", "tests"}
ONLY_IN = {"plotly": "plots", "accelerate": "training", "vllm": "vllm"}
"""A package of an optional part, and the one room that may import it."""
RUNS = {"config", "cost", "errors", "events", "files", "trace", "run_lines"}
OURS = {"run_lines": RUNS, "replay": RUNS, "tasks": {"tasks", "errors", "config"}}
"""Parts of sbd_core beyond which a module or package sees none, whatever lies below it."""
FOREIGN_TO_PAGE = {"app", "scripts", "tests", "torch", "numpy", "transformers"}


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def module_of(file: Path) -> str:
    """sbd_core/models/protocol.py -> sbd_core.models.protocol; a package is named by its folder."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


ALL_MODULES = {module_of(file) for file in (*files_of(CORE), *files_of(UI))}


def parsed(source: str) -> ast.Module:
    """The tree of a file; CPython 3.11.7 now and then fails at the first try."""
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def imports_of(file: Path) -> list[tuple[str, bool]]:
    """(imported module, whether at the top of the file) for every import anywhere in it."""
    tree = parsed(file.read_text("utf-8"))
    at_top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        is_top = id(node) in at_top
        if isinstance(node, ast.Import):
            found += [(alias.name, is_top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(name if name in ALL_MODULES else node.module, is_top) for name in whole]
    return found


def part_of(module: str) -> str:
    """sbd_core.models.protocol -> models, sbd_core -> ""."""
    return ([*module.split("."), ""])[1]


def broken_rule(importer: str, imported: str) -> str | None:
    """The fault of one sbd_core module importing another; None without one."""
    here, there = part_of(importer), part_of(imported)
    if there == "":
        return "imports the package's front door"
    if here == there or FLOOR[there] < FLOOR[here]:
        return None
    return f"{here} is not above {there}"


def test_every_module_of_sbd_core_has_a_floor() -> None:
    parts = {part_of(module_of(file)) for file in files_of(CORE)} - {""}
    assert parts == set(FLOOR), "draw the new module into FLOORS, or take the gone one out"


def test_imports_in_sbd_core_point_downward() -> None:
    wrong = []
    for file in files_of(CORE):
        importer = module_of(file)
        if importer == "sbd_core":
            continue  # the front door hands out names of every floor, lazily: tested below
        for imported, _ in imports_of(file):
            if imported.split(".")[0] == "sbd_core":
                rule = broken_rule(importer, imported)
                wrong += [f"{importer} imports {imported}: {rule}"] if rule else []
    assert wrong == []


def test_the_rule_itself_can_say_no() -> None:
    assert broken_rule("sbd_core.masks", "sbd_core.decoding.api")
    assert broken_rule("sbd_core.masks", "sbd_core.sampling")
    assert broken_rule("sbd_core.config", "sbd_core")
    assert broken_rule("sbd_core.trace", "sbd_core.replay")
    assert broken_rule("sbd_core.evaluation.api", "sbd_core.training.step")
    assert broken_rule("sbd_core.decoding.api", "sbd_core.decoding.ntp") is None


def test_the_front_door_imports_nothing_but_the_version() -> None:
    """Its other imports stand under TYPE_CHECKING and never run."""
    at_run_time = [name for name, is_top in imports_of(CORE / "__init__.py") if is_top]
    ours = [name for name in at_run_time if name.startswith("sbd_core")]
    assert ours == ["sbd_core.version"]


def test_sbd_core_knows_nothing_of_the_page() -> None:
    for file in files_of(CORE):
        used = {name.split(".")[0] for name, _ in imports_of(file)}
        assert not used & FOREIGN_TO_CORE, file
        for package, room in ONLY_IN.items():
            assert package not in used or part_of(module_of(file)) == room, file


def used_by(part: str) -> set[str]:
    """What a module of sbd_core, or all modules of a package, import."""
    files = files_of(CORE / part) or [CORE / f"{part}.py"]
    return {name for file in files for name, _ in imports_of(file)}


@pytest.mark.parametrize("part", PACKAGES)
def test_the_lower_floors_and_what_reads_traces_need_few_packages(part) -> None:
    used = {name.split(".")[0] for name in used_by(part)}
    assert used - set(sys.stdlib_module_names) - {"sbd_core"} == PACKAGES[part]


@pytest.mark.parametrize("part", OURS)
def test_tasks_and_replays_see_few_parts_of_ours(part) -> None:
    assert {part_of(name) for name in used_by(part) if name.startswith("sbd_core")} <= OURS[part]


def test_the_solvers_load_torch_only_where_they_read_tensors() -> None:
    assert "torch" not in {name for name, is_top in imports_of(CORE / "solvers.py") if is_top}


def test_the_page_imports_no_script_and_no_test_and_holds_no_tensors() -> None:
    for file in (*files_of(UI), ROOT / "app.py"):
        assert not {name.split(".")[0] for name, _ in imports_of(file)} & FOREIGN_TO_PAGE, file


def test_importing_does_nothing_at_module_level() -> None:
    """No call stands alone at the top of a file: no load, seed, print or log set-up."""
    for file in (*files_of(CORE), *files_of(UI)):
        for node in parsed(file.read_text("utf-8")).body:
            is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            assert not is_call, f"{file}:{node.lineno}"
