"""The rooms stay as they were built: small modules, documented, one reader of the environment, light to import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.unit.house.source import modules

MAX_LINES = 400
# Files above the cap, with the length they may have. Entries may only shrink or go; new files have none.
DEBT: dict[str, int] = {}

# Who touches the environment besides `rag_core/settings.py`, and why it is no second source of settings.
ENVIRONMENT = {
    "plugins/nightshift_airflow/defaults.py": "parsing a DAG file must not build the settings",
    "plugins/nightshift_airflow/server.py": "hands its own environment on to Airflow",
    "rag_core/cli/config.py": "shows where a setting came from",
    "rag_core/cli/main.py": "switches telemetry of libraries off, before they are imported",
    "rag_core/connectors/embedder.py": "tells a library to stay offline while a packaged model loads",
    "rag_core/quality/validate.py": "switches telemetry of a library off, before it is imported",
}

HEAVY = (
    "torch", "transformers", "sentence_transformers", "docling", "docling_parse", "great_expectations", "pandas",
    "langgraph", "langchain_core", "langchain_openai", "altair", "vl_convert", "openai", "xllamacpp",
    "snowflake", "redshift_connector", "google", "duckdb",
)  # fmt: skip

# A name says what a thing is, not that somebody needed it.
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?)($|_)")

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def test_no_module_is_longer_than_the_cap() -> None:
    long = {module.name: module.lines for module in modules() if module.lines > DEBT.get(module.name, MAX_LINES)}
    assert long == {}, "split it: one noun a module"


def test_the_debt_only_shrinks() -> None:
    lengths = {module.name: module.lines for module in modules()}
    assert {name: limit for name, limit in DEBT.items() if lengths.get(name, 0) <= MAX_LINES} == {}, "take it out"
    assert {name: lengths[name] for name, limit in DEBT.items() if lengths[name] < limit} == {}, "lower the entry"


def _public(tree: ast.Module) -> Iterator[tuple[str, Documented]]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        yield node.name, node
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.name.startswith("_"):
                    decorators = {ast.unparse(each).rpartition(".")[2] for each in inner.decorator_list}
                    if not decorators & {"overload", "override", "setter"}:
                        yield f"{node.name}.{inner.name}", inner


def test_every_module_and_everything_public_is_documented() -> None:
    bare = [module.name for module in modules() if not ast.get_docstring(module.tree)]
    bare += [
        f"{module.name}: {name}"
        for module in modules()
        for name, node in _public(module.tree)
        if not ast.get_docstring(node)
    ]
    assert bare == []


def test_only_settings_reads_the_environment() -> None:
    found = {
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "putenv"}
    }
    assert found == set(ENVIRONMENT), "read it in rag_core/settings.py, or say here why not"


def test_only_settings_and_its_readers_name_a_setting_s_default() -> None:
    """`load_settings` is called by commands, wiring and the programs of the outermost layer, by nothing in between."""
    allowed = ("rag_core/cli/", "rag_core/wiring.py", "rag_core/settings.py", "ingestion/cli.py", "plugins/")
    callers = {
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name) and node.id == "load_settings"
    }
    assert {name for name in callers if not name.startswith(allowed)} == set()


def _top_level_imports(tree: ast.Module) -> Iterator[str]:
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            pending.extend(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            pending.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    found = {
        module.name: heavy
        for module in modules()
        if (heavy := sorted({name for name in _top_level_imports(module.tree) if name.split(".")[0] in HEAVY}))
    }
    assert found == {}


def test_names_say_what_a_thing_is() -> None:
    parts = {part for module in modules() for part in module.name.removesuffix(".py").split("/")}
    assert sorted(part for part in parts if EMPTY_NAMES.search(part)) == []


def _swallows(handler: ast.ExceptHandler) -> bool:
    wide = handler.type is None or ast.unparse(handler.type) in {"Exception", "BaseException"}
    return wide and all(isinstance(node, ast.Pass | ast.Continue) for node in handler.body)


def test_no_exception_is_swallowed() -> None:
    found = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _swallows(node)
    ]
    assert found == []


def test_nothing_is_left_for_later() -> None:
    mark = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")
    everything = modules("rag_core", "ingestion", "plugins", "dags", "sample", "docker")
    found = [module.name for module in everything if mark.search(module.text)]
    found += [
        f"{module.name}: NotImplementedError"
        for module in everything
        if re.search(r"raise NotImplementedError", module.text)
    ]
    assert found == []


def test_no_machine_s_path_and_no_registry_s_host_stands_in_the_code() -> None:
    # Put together here, so that this file does not hold them itself.
    forbidden = re.compile(
        "|".join(("/" + "root/", "/" + "work/", "download[.]" + "pytorch", "files[.]" + "pythonhosted"))
    )
    everything = modules("rag_core", "ingestion", "plugins", "dags", "sample", "docker", "tests", "bench")
    assert [module.name for module in everything if forbidden.search(module.text)] == []
