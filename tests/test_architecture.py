"""The structure of the package: allowed imports, public names, and names that parallel packages share."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.lowering.registry import FAMILIES, lowerings
from dml2onnx.reference.registry import references
from dml2onnx.rules import shapes
from dml2onnx.rules.shapes.rules import WordedRule

PACKAGE = Path(dml2onnx.__file__).parent

ALLOWED: dict[str, set[str]] = {
    "diagnostics": set(),
    "files": {"codes", "diagnostics"},
    "lazy": {"gc_pause"},
    "gc_pause": set(),
    "codes": {"diagnostics"},
    "catalog": {"lazy"},
    "ir": {"catalog", "codes", "diagnostics", "lazy"},
    "serialized_schema": {"catalog"},
    "targets": {"catalog", "codes", "diagnostics"},
    "options": {"arguments", "catalog", "passes", "targets"},
    "arguments": {"catalog", "codes", "diagnostics", "files", "lazy", "targets"},
    "frontends": {
        "arguments", "catalog", "codes", "diagnostics", "gc_pause", "ir", "lazy", "rules", "serialized_schema",
    },
    "exporters": {
        "arguments", "catalog", "checks", "codes", "diagnostics", "files", "frontends", "ir", "serialized_schema",
        "source_code",
    },
    "measuring": {
        "codes", "compiler", "diagnostics", "ir", "onnx_model", "options", "passes", "providers", "runtime",
        "verification",
    },
    "reducing": {"catalog", "checks", "ir"},
    "source_code": {"builder", "catalog", "checks", "codes", "diagnostics", "frontends", "ir"},
    "rules": {"catalog", "codes", "diagnostics", "ir"},
    "named_sizes": {"diagnostics", "onnx_model", "sizes"},
    "sizes": {"catalog", "codes", "diagnostics", "ir", "rules"},
    "checks": {"arguments", "catalog", "codes", "diagnostics", "frontends", "gc_pause", "ir", "rules", "sizes"},
    "builder": {"arguments", "catalog", "checks", "codes", "diagnostics", "frontends", "ir", "rules"},
    "reference": {"catalog", "codes", "diagnostics", "ir"},
    "onnx_model": {"ir", "sizes"},
    "emitter": {"codes", "diagnostics", "ir", "onnx_model", "targets"},
    "legalise": {"codes", "emitter", "ir", "onnx_model", "passes", "targets"},
    "buffer_views": {"catalog", "emitter", "ir", "legalise", "onnx_model"},
    "lowering": {
        "catalog", "codes", "diagnostics", "emitter", "ir", "legalise", "buffer_views", "onnx_model", "targets",
    },
    "passes": {"arguments", "onnx_model", "targets"},
    "optimizer_barriers": {"onnx_model", "passes"},
    "wire": {"onnx_model"},
    "writer": {"codes", "diagnostics", "files", "gc_pause", "ir", "onnx_model", "wire"},
    "providers": {"arguments", "codes", "diagnostics", "targets"},
    "runtime": {"arguments", "catalog", "codes", "diagnostics", "ir", "lazy", "onnx_model", "providers"},
    "missing_kernels": {"codes", "diagnostics", "onnx_model", "targets"},
    "half_precision": {"catalog", "checks", "codes", "diagnostics", "ir", "onnx_model"},
    "compiler": {
        "arguments", "catalog", "checks", "codes", "diagnostics", "missing_kernels", "frontends", "gc_pause",
        "half_precision", "ir", "lazy", "legalise", "lowering", "named_sizes", "onnx_model", "optimizer_barriers",
        "options", "passes", "providers", "runtime", "targets", "writer",
    },
    "execution": {
        "arguments", "codes", "compiler", "diagnostics", "files", "frontends", "ir", "onnx_model",
        "options", "providers", "runtime",
    },
    "pydirectml": {"builder", "catalog", "compiler", "ir", "providers", "runtime"},
    "directml": {"catalog", "ir"},
    "verification": {
        "arguments", "checks", "codes", "compiler", "diagnostics", "directml", "frontends", "half_precision", "ir",
        "lazy", "onnx_model", "options", "passes", "providers", "reference", "runtime", "sizes", "targets",
    },
    "test_cases": {
        "catalog", "checks", "codes", "compiler", "diagnostics", "directml", "execution", "exporters", "frontends",
        "ir", "named_sizes", "onnx_model", "reference", "sizes", "targets", "verification",
    },
    "recorder": set(),
    "batching": {
        "arguments", "checks", "codes", "compiler", "diagnostics", "files", "frontends", "ir", "options",
        "passes", "providers", "report", "targets", "verification", "writer",
    },
    "report": {
        "arguments", "catalog", "checks", "codes", "compiler", "diagnostics", "exporters", "frontends",
        "missing_kernels", "ir", "onnx_model", "options", "providers", "runtime", "targets", "verification",
    },
}  # fmt: skip
"""The imports of each package and module; the command line and ``__init__`` may import everything."""

IMPORT_ONNX = {
    *(("compiler", "onnx"), ("targets", "onnx")),  # for ``model_proto``, and for the versions of operators
    *((package, "onnxruntime") for package in ("cli", "providers", "runtime", "test_cases")),
}
"""The packages that import ONNX's own package or ONNX Runtime."""


@functools.cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Returns all nodes of a file; cached, because walking takes longer than the tests do."""
    return tuple(ast.walk(parsed(file)))


@functools.cache
def imports(package: str) -> list[tuple[Path, str]]:
    """Returns (file, module) of every import in a package, including those in functions and TYPE_CHECKING blocks."""
    place = PACKAGE / package
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    found = []
    for file in files:
        for node in nodes_of(file):
            if isinstance(node, ast.Import):
                found += [(file, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file} imports relatively"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [(file, name) for name in (names if node.module == "dml2onnx" else [node.module or ""])]
    return found


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_are_those_of_the_table(package: str) -> None:
    found = {module.split(".")[1]: file for file, module in imports(package) if module.startswith("dml2onnx.")}
    assert {name: file for name, file in found.items() if name not in {package, "__version__", *ALLOWED[package]}} == {}
    assert ALLOWED[package] - found.keys() == set()


def test_imports_of_packages_have_no_cycles() -> None:
    """Those for type checkers count, too."""
    graph = nx.DiGraph((package, name) for package, names in ALLOWED.items() for name in names)
    assert nx.is_directed_acyclic_graph(graph)


def test_nobody_imports_modules_of_lowering() -> None:
    """Other packages use its ``__init__``."""
    packages = [
        item.stem for item in PACKAGE.iterdir() if item.name != "py.typed" and not item.name.startswith("__pycache")
    ]
    modules = {file.stem for file in (PACKAGE / "lowering").iterdir()}
    inside = [
        f"{file.relative_to(PACKAGE)} imports {module}"
        for package in packages
        if package != "lowering"
        for file, module in imports(package)
        if module.startswith("dml2onnx.lowering.")
    ]
    inside += [
        f"{file.relative_to(PACKAGE)} imports {alias.name} of lowering"
        for file in PACKAGE.rglob("*.py")
        if not file.is_relative_to(PACKAGE / "lowering")
        for node in nodes_of(file)
        if isinstance(node, ast.ImportFrom) and node.module == "dml2onnx.lowering"
        for alias in node.names
        if alias.name in modules
    ]
    assert {"compiler", "writer", "runtime", "cli", "report"} < set(packages)
    assert not inside


def test_imports_have_no_cycles() -> None:
    """Imports in functions count; those for type checkers do not."""
    modules = {}
    for file in PACKAGE.rglob("*.py"):
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = file
    graph = nx.DiGraph(
        (name, found) for name, file in modules.items() for found in _imported(file, modules) if found != name
    )
    assert len(graph) > 400
    assert [sorted(item) for item in nx.strongly_connected_components(graph) if len(item) > 1] == []


def _imported(file: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    waiting: list[ast.AST] = [parsed(file)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for item in node.names:
                of_package = f"{node.module}.{item.name}"
                found = of_package if of_package in modules else node.module
                if found is not None and found in modules:
                    yield found


LONGEST_MODULE, LONGEST_FUNCTION = 600, 60
"""Lines of a module, and of a function without its docstring; generated methods of the builder are exempt."""


def test_modules_are_short() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if file.parent.parts[-2:] != ("builder", "operators")]
    assert [file for file in files if len(file.read_text(encoding="utf-8").splitlines()) > LONGEST_MODULE] == []


AS_IN_PYDIRECTML = {"Expression", "GRUOutputs", "GraphBuilder", "MaxPoolingOutputs", "Size2D", "TensorDesc"}
"""Classes that ``pydirectml`` defines again, because PyDirectML has them under the names that DirectMLX has, too."""


def test_class_names_have_one_meaning() -> None:
    files = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].add(file.relative_to(PACKAGE).as_posix())
    assert {name: found for name, found in files.items() if len(found) > 1 and name not in AS_IN_PYDIRECTML} == {}
    for name in AS_IN_PYDIRECTML:
        assert sorted(file.startswith("pydirectml/") for file in files[name]) == [False, True], name


def test_functions_fit_on_a_screen() -> None:
    long = []
    for file in PACKAGE.rglob("*.py"):
        for node in nodes_of(file):
            if isinstance(node, ast.FunctionDef) and file.parent.parts[-2:] != ("builder", "operators"):
                assert node.end_lineno is not None
                doc = node.body[0] if ast.get_docstring(node) is not None else None
                of_doc = 0 if doc is None or doc.end_lineno is None else doc.end_lineno - doc.lineno + 1
                lines = node.end_lineno - node.lineno + 1 - of_doc
                if lines > LONGEST_FUNCTION:
                    long.append(f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name}: {lines} lines")
    assert long == []


MOST_PARAMETERS = 9
"""Parameters of a function besides ``self``; group related ones in a value such as ``CompileOptions``."""
MANY_PARAMETERS = {
    "verification/public.py:verify",  # keywords of users
    *("builder/directmlx.py", "pydirectml/functions.py"),  # as DirectMLX and PyDirectML have them
    *("diagnostics.py:at", "diagnostics.py:of"),  # optional keywords
}


def test_functions_have_few_parameters() -> None:
    many = set()
    for file in PACKAGE.rglob("*.py"):
        name = file.relative_to(PACKAGE).as_posix()
        for node in nodes_of(file):
            if isinstance(node, ast.FunctionDef) and file.parent.parts[-2:] != ("builder", "operators"):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if len([item for item in arguments if item.arg not in ("self", "cls")]) > MOST_PARAMETERS:
                    many |= {name} & MANY_PARAMETERS or {f"{name}:{node.name}"}
    assert many == MANY_PARAMETERS


CHANGEABLE = {
    *("onnx_model/records.py:OnnxNode", "onnx_model/records.py:OnnxValue"),  # created by the million
    *("pydirectml/functions.py:GRUOutputs", "pydirectml/functions.py:MaxPoolingOutputs"),  # as PyDirectML has them
}
"""Dataclasses that are not frozen although no code sets their fields."""
CONTAINERS = ("defaultdict", "dict", "list", "set")


def stored(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yields the names of assigned attributes, each with its object."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, ast.unparse(node.value)


def test_values_are_frozen() -> None:
    """Except containers, and those with a field that their package sets."""
    found = set()
    for package in {file.parent for file in PACKAGE.rglob("*.py")}:
        files = list(package.glob("*.py"))
        by_others = {name for file in files for name, owner in stored(nodes_of(file)) if owner != "self"}
        classes = [(file, node) for file in files for node in nodes_of(file) if isinstance(node, ast.ClassDef)]
        for file, node in classes:
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if not any(mark.startswith("dataclass") and "frozen=True" not in mark for mark in marks):
                continue
            members = [item for item in node.body if isinstance(item, ast.AnnAssign)]
            fields = {ast.unparse(item.target): ast.unparse(item.annotation) for item in members}
            changed = by_others | {name for name, _ in stored(ast.walk(node))}
            if changed.isdisjoint(fields) and not any(kind.startswith(CONTAINERS) for kind in fields.values()):
                found.add(f"{file.relative_to(PACKAGE).as_posix()}:{node.name}")
    assert found == CHANGEABLE


HOUSE_WORDS = {
    "afresh", "agreement", "anew", "avert", "faces", "fence", "fences", "growing", "held", "kin", "lone", "mended",
    "rooms", "sight", "told", "watched",
}  # fmt: skip
"""Words that mean nothing outside this project; the glossary has those that stay."""
IN_NAMES = HOUSE_WORDS | {"limited", "room"}
"""In sentences these two are usual."""
NAMED = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.FunctionDef: "name", ast.ClassDef: "name"}
"""The attribute of a syntax node that has its name."""


def test_names_and_sentences_use_the_usual_words() -> None:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        named = {getattr(node, name) for node in nodes_of(file) if (name := NAMED.get(type(node)))}
        for name in named:
            words = {word.lower() for word in re.findall(r"[a-z]+|[A-Z][a-z]*", name)}
            found |= {f"{file.relative_to(PACKAGE)}: {name}" for _ in words & IN_NAMES}
        words = set(file.stem.split("_"))
        sentences = set(re.findall(r"[a-z]+", file.read_text(encoding="utf-8")))
        found |= {f"{file.relative_to(PACKAGE)}: {word}" for word in sentences & HOUSE_WORDS}
        found |= {str(file.relative_to(PACKAGE)) for _ in words & IN_NAMES}
    assert sorted(found) == []


def test_ignored_types_have_reasons() -> None:
    bare = re.compile(r"# type: ignore(\[[a-z, -]+\])?\s*$")
    assert [
        f"{file.relative_to(PACKAGE)}:{number}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ] == []


def test_few_packages_import_onnx() -> None:
    importing = {
        (package, name)
        for package in [*ALLOWED, "cli"]
        for _, module in imports(package)
        if (name := module.split(".")[0]) in ("onnx", "onnxruntime")
    }
    assert importing == IMPORT_ONNX


OF_TARGETS = {"target", "exact", "casts_saturate", "has_kernel", "legal", "runs_like", "supports", "takes_instead"}
"""Members of the emitter for rules only, not for lowerings."""


def test_lowerings_are_independent_of_the_target() -> None:
    """Differences between targets are rules of ``legalise``; only the driver takes the target, and passes it on."""
    for path in (PACKAGE / "lowering").glob("*.py"):
        used = [item for item in nodes_of(path) if isinstance(item, ast.Attribute) and item.attr in OF_TARGETS]
        imported = [name for file, name in imports("lowering") if file == path and name.startswith("dml2onnx.targets")]
        assert not used, f"{path.name}:{used[0].lineno}"
        assert not imported or path.name == "driver.py", path.name


def test_every_package_is_in_the_table() -> None:
    modules = {item.stem for item in PACKAGE.glob("*.py") if not item.name.startswith("_")}
    packages = modules | {item.parent.name for item in PACKAGE.glob("*/__init__.py")}
    assert packages - {"schemas", "cli"} == set(ALLOWED)


def test_public_names() -> None:
    expected = [
        "Activation", "CompiledModel", "Diagnostic", "DmlError", "FeatureLevel", "Graph", "GraphBuilder",
        "LoadOptions", "Providers", "UnreadableError", "batch", "check", "compile", "convert", "load",
        "minimum_feature_level", "resize", "run", "verify",
    ]  # fmt: skip
    assert dml2onnx.__all__ == expected
    assert all(getattr(dml2onnx, name) is not None for name in expected)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dml2onnx.nonsense


HEAVY = ("numpy", "networkx", "rich", "onnx", "onnxruntime")
"""Packages that take a tenth of a second or more to import."""
SAMPLE = Path(__file__).parent.parent / "samples" / "digits" / "model.json"


def loaded(names: Iterable[str], script: str) -> set[str]:
    """Returns those of the modules that a program has imported, with output to pipes without a width."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    show = f"print([name for name in {list(names)} if name in sys.modules], file=sys.stderr)"
    command = [sys.executable, "-c", f"import sys\n{script}\n{show}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return set(ast.literal_eval(done.stderr))


@pytest.mark.parametrize(
    ("work", "allowed"),
    [
        pytest.param("", set(), id="import"),
        pytest.param("dml2onnx.check(dml2onnx.load(path))", set(), id="check"),
        pytest.param("dml2onnx.minimum_feature_level(dml2onnx.load(path))", set(), id="minimum_feature_level"),
        pytest.param("dml2onnx.compile(dml2onnx.load(path)).save(out)", {"numpy"}, id="compile"),
        pytest.param("dml2onnx.compile(dml2onnx.load(path)).model_proto", {"numpy", "onnx"}, id="model_proto"),
    ],
)
def test_imports_of_the_api(work: str, allowed: set[str], tmp_path: Path) -> None:
    """Checking needs no arrays; compiling needs neither the package ``onnx`` nor ONNX Runtime."""
    names = f"path, out = {str(SAMPLE)!r}, {str(tmp_path / 'model.onnx')!r}"
    assert loaded(HEAVY, f"import dml2onnx\n{names}\n{work}") <= allowed


def test_arguments_of_commands_import_little() -> None:
    """``--help`` and wrong arguments need neither the compiler nor numpy."""
    packages = ("compiler", "checks", "frontends", "exporters", "onnx_model", "passes", "ir")
    unwanted = [*HEAVY, *(f"dml2onnx.{name}" for name in packages)]
    assert loaded(unwanted, "from dml2onnx.cli.parser import make_parser\nmake_parser()") == set()


OTHER_FORMATS = ("dml_graph", "dxdispatch", "dx_program", "serialized", "flatbuffer")
UNUSED = {
    ("ops",): (
        *("catalog.operators", "catalog.fields", "catalog.constraints", "report.operators", "report.machine"),
        *("targets", "providers.table", "files"),
    ),
    ("explain", "DML1602"): ("catalog.operators", "report.operators", "report.machine", "cli.operators"),
    ("check", str(SAMPLE)): (
        *(f"frontends.{name}" for name in OTHER_FORMATS),
        *("lowering", "compiler", "onnx_model", "ir.mapped", "frontends.array_files", "cli.formats", "providers.table"),
    ),
    ("compile", str(SAMPLE)): (
        *(f"frontends.{name}" for name in OTHER_FORMATS),
        *("reference", "runtime", "execution", "providers.installed", "lowering.recurrent", "lowering.attention"),
    ),
}
"""Modules of ours that these commands must not import, to start quickly."""


@pytest.mark.parametrize("command", UNUSED, ids=lambda command: command[0])
def test_imports_of_commands(command: tuple[str, ...], tmp_path: Path) -> None:
    """They import neither heavy packages, nor readers of other formats, nor modules of other commands."""
    paths = [PACKAGE / name.replace(".", "/") for name in UNUSED[command]]
    assert all(path.exists() or path.with_name(f"{path.name}.py").exists() for path in paths)
    is_compile = command[0] == "compile"
    line = [*command, *["-o", str(tmp_path / "model.onnx")] * is_compile]
    unwanted = {*HEAVY, *(f"dml2onnx.{name}" for name in UNUSED[command])} - ({"numpy"} if is_compile else set())
    assert loaded(unwanted, f"from dml2onnx.cli import main\nassert main({line}) == 0") == set()


def test_operators_are_in_modules_of_families() -> None:
    families = {schema.short_name: schema.family for schema in map(catalog.operator, catalog.operator_names())}
    assert set(FAMILIES) == set(families.values())
    for package, table in (("lowering", lowerings()), ("reference", references())):
        found = {name: function.__module__ for name, function in table.items()}
        assert found == {name: f"dml2onnx.{package}.{family}" for name, family in families.items()}
    assert all((PACKAGE / "builder" / "operators" / f"{family}.py").exists() for family in FAMILIES)


def test_worded_checks_are_in_modules_of_families() -> None:
    """A family with few rules may share a module with another."""
    families: dict[str, set[str]] = {}
    for schema in map(catalog.operator, catalog.operator_names()):
        for constraint in schema.constraints:
            families.setdefault(constraint.id, set()).add(schema.family)
    for module in shapes.FAMILIES:
        rules = [item for item in vars(module).values() if isinstance(item, WordedRule)]
        found = {family for item in rules for name in item.constraints for family in families[name]}
        assert module.__name__.rpartition(".")[2] in found


def test_every_package_is_described() -> None:
    text = (PACKAGE.parent / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert len(packages) > 20
    assert [name for name in packages if f"`{name}/" not in text] == []
