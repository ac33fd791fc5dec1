"""The structure of the package: who may import whom, what is public, and names that parallel packages share."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.codes import all_codes
from dml2onnx.lowering.registry import FAMILIES, lowerings
from dml2onnx.reference.registry import references
from dml2onnx.rules import shapes
from dml2onnx.rules.shapes.rules import WordedRule

PACKAGE = Path(dml2onnx.__file__).parent

ALLOWED = {
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
    "arguments": {"catalog", "codes", "diagnostics", "lazy", "files", "targets"},
    "frontends": {
        "arguments",
        "catalog",
        "codes",
        "diagnostics",
        "lazy",
        "gc_pause",
        "ir",
        "rules",
        "serialized_schema",
    },
    "exporters": {
        "arguments",
        "catalog",
        "checks",
        "codes",
        "diagnostics",
        "files",
        "frontends",
        "ir",
        "source_code",
        "serialized_schema",
    },
    "measuring": {
        "options",
        "passes",
        "codes",
        "compiler",
        "diagnostics",
        "ir",
        "onnx_model",
        "providers",
        "runtime",
        "verification",
    },
    "reducing": {"catalog", "checks", "diagnostics", "ir"},
    "source_code": {"builder", "catalog", "checks", "codes", "diagnostics", "frontends", "ir"},
    "rules": {"catalog", "codes", "diagnostics", "ir"},
    "named_sizes": {"codes", "diagnostics", "onnx_model", "sizes"},
    "sizes": {"catalog", "codes", "diagnostics", "ir", "rules"},
    "checks": {"arguments", "catalog", "codes", "diagnostics", "frontends", "gc_pause", "ir", "rules", "sizes"},
    "builder": {"arguments", "catalog", "checks", "codes", "diagnostics", "frontends", "ir", "rules"},
    "reference": {"catalog", "codes", "diagnostics", "ir"},
    "onnx_model": {"ir"},
    "emitter": {"codes", "diagnostics", "ir", "onnx_model", "targets"},
    "legalise": {"codes", "emitter", "ir", "onnx_model", "passes", "targets"},
    "memory": {"catalog", "emitter", "ir", "legalise", "onnx_model"},
    "lowering": {
        "catalog",
        "codes",
        "diagnostics",
        "emitter",
        "ir",
        "legalise",
        "memory",
        "onnx_model",
        "rules",
        "targets",
    },
    "passes": {"arguments", "codes", "diagnostics", "onnx_model", "targets"},
    "optimizer_barriers": {"onnx_model", "passes"},
    "wire": {"onnx_model"},
    "writer": {"codes", "diagnostics", "files", "gc_pause", "ir", "onnx_model", "wire"},
    "providers": {"arguments", "codes", "diagnostics", "targets"},
    "runtime": {"arguments", "catalog", "codes", "diagnostics", "lazy", "ir", "onnx_model", "providers"},
    "fallbacks": {"codes", "diagnostics", "onnx_model", "targets"},
    "half_precision": {"catalog", "checks", "codes", "diagnostics", "ir", "onnx_model"},
    "compiler": {
        "options",
        "arguments",
        "optimizer_barriers",
        "catalog",
        "checks",
        "codes",
        "diagnostics",
        "lazy",
        "fallbacks",
        "frontends",
        "gc_pause",
        "half_precision",
        "ir",
        "legalise",
        "lowering",
        "onnx_model",
        "named_sizes",
        "passes",
        "providers",
        "runtime",
        "targets",
        "writer",
    },
    "execution": {
        "options",
        "arguments",
        "catalog",
        "codes",
        "compiler",
        "diagnostics",
        "files",
        "frontends",
        "ir",
        "onnx_model",
        "passes",
        "providers",
        "runtime",
        "targets",
    },
    "pydirectml": {"builder", "catalog", "checks", "codes", "compiler", "diagnostics", "ir", "providers", "runtime"},
    "directml": {"catalog", "ir"},
    "verification": {
        "options",
        "arguments",
        "checks",
        "codes",
        "compiler",
        "diagnostics",
        "directml",
        "frontends",
        "half_precision",
        "ir",
        "lazy",
        "onnx_model",
        "passes",
        "providers",
        "reference",
        "runtime",
        "sizes",
        "targets",
    },
    "testing": {
        "options",
        "catalog",
        "checks",
        "codes",
        "compiler",
        "diagnostics",
        "directml",
        "execution",
        "exporters",
        "frontends",
        "ir",
        "onnx_model",
        "named_sizes",
        "reference",
        "sizes",
        "targets",
        "verification",
    },
    "recorder": set(),
    "batching": {
        "options",
        "arguments",
        "catalog",
        "checks",
        "codes",
        "compiler",
        "diagnostics",
        "files",
        "frontends",
        "ir",
        "passes",
        "providers",
        "report",
        "targets",
        "verification",
        "writer",
    },
    "report": {
        "options",
        "arguments",
        "catalog",
        "checks",
        "codes",
        "compiler",
        "diagnostics",
        "exporters",
        "fallbacks",
        "frontends",
        "ir",
        "onnx_model",
        "providers",
        "rules",
        "runtime",
        "targets",
        "verification",
    },
}
"""What each package and module may import; the command line and ``__init__`` may import everything."""

WITHOUT_ONNX = [
    "builder",
    "catalog",
    "checks",
    "codes",
    "diagnostics",
    "emitter",
    "frontends",
    "ir",
    "legalise",
    "lowering",
    "memory",
    "onnx_model",
    "passes",
    "reference",
    "rules",
    "wire",
]
"""Only the compiler's ``model_proto`` and the table of operators' versions in ``targets`` need ONNX's own package."""


@functools.cache
def parsed(file: Path) -> ast.Module:
    """What a file says, read once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """All that a file is made of: to walk through it takes longer than what a test looks for."""
    return tuple(ast.walk(parsed(file)))


@functools.cache
def imports(package: str) -> list[tuple[Path, str]]:
    """(file, module) of every import in a package, those inside functions and TYPE_CHECKING blocks too."""
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
def test_imports_point_one_way(package: str) -> None:
    wrong = []
    for file, module in imports(package):
        if module.startswith("dml2onnx."):
            target = module.split(".")[1]
            if target not in {package, "__version__", *ALLOWED[package]}:
                wrong.append(f"{file.relative_to(PACKAGE)} imports {module}")
    assert not wrong


def test_nobody_imports_modules_of_lowering() -> None:
    """Other packages use its ``__init__``; what it returns are the records of ``model``."""
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


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports inside functions count; those for type checkers alone do not."""
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


LONGEST_FUNCTION = 60
"""Lines of a function without its docstring; generated methods of the builder apart."""


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
"""Of a function, besides ``self``; what belongs together is a value, such as ``CompileOptions``."""
MANY_PARAMETERS = {
    "verification/public.py:verify",  # keywords of users
    *("builder/directmlx.py", "pydirectml/functions.py"),  # as DirectMLX and PyDirectML have them
    *("diagnostics.py:at", "diagnostics.py:of"),  # all that is known, by name
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
    *("onnx_model/records.py:Node", "onnx_model/records.py:Value"),  # made by the million
    *("pydirectml/functions.py:GRUOutputs", "pydirectml/functions.py:MaxPoolingOutputs"),  # as PyDirectML has them
}
"""Values whose fields nobody sets, and that are not frozen all the same."""
CONTAINERS = ("defaultdict", "dict", "list", "set")


def stored(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Attributes that are set, and of what."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, ast.unparse(node.value)


def test_values_are_frozen() -> None:
    """Only what is a container, or has a field that its package sets, may change."""
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
    *(
        "afresh",
        "agreement",
        "avert",
        "faces",
        "fence",
        "fences",
        "growing",
        "held",
        "kin",
        "limited",
        "lone",
        "mended",
    ),
    *("room", "rooms", "sight", "told", "watched"),
}
"""Words that had no meaning outside this project; the glossary has those that stay."""
NAMED = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.FunctionDef: "name", ast.ClassDef: "name"}
"""Where a name stands in a part of a program."""


def test_names_are_made_of_the_usual_words() -> None:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        named = {getattr(node, name) for node in nodes_of(file) if (name := NAMED.get(type(node)))}
        for name in named:
            words = {word.lower() for word in re.findall(r"[a-z]+|[A-Z][a-z]*", name)}
            found |= {f"{file.relative_to(PACKAGE)}: {name}" for _ in words & HOUSE_WORDS}
        words = set(file.stem.split("_"))
        found |= {str(file.relative_to(PACKAGE)) for _ in words & HOUSE_WORDS}
    assert sorted(found) == []


def test_ignored_types_have_reasons() -> None:
    bare = re.compile(r"# type: ignore(\[[a-z, -]+\])?\s*$")
    assert [
        f"{file.relative_to(PACKAGE)}:{number}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ] == []


@pytest.mark.parametrize("package", WITHOUT_ONNX)
def test_only_the_writer_and_targets_import_onnx(package: str) -> None:
    assert not [file for file, module in imports(package) if module.split(".")[0] in {"onnx", "onnxruntime"}]


OF_TARGETS = {"target", "exact", "casts_saturate", "has_kernel", "legal", "runs_like", "supports", "takes_instead"}
"""What the emitter tells rules, and no lowering."""


def test_lowerings_know_no_target() -> None:
    """What is to be otherwise for one is a rule of ``legalise``; the driver alone takes the target, and hands it on."""
    for path in (PACKAGE / "lowering").glob("*.py"):
        asked = [item for item in nodes_of(path) if isinstance(item, ast.Attribute) and item.attr in OF_TARGETS]
        imported = [name for file, name in imports("lowering") if file == path and name.startswith("dml2onnx.targets")]
        assert not asked, f"{path.name}:{asked[0].lineno}"
        assert not imported or path.name == "driver.py", path.name


def test_every_package_is_in_the_table() -> None:
    modules = {item.stem for item in PACKAGE.glob("*.py") if not item.name.startswith("_")}
    packages = modules | {item.parent.name for item in PACKAGE.glob("*/__init__.py")}
    assert packages - {"schemas", "cli"} == set(ALLOWED)


def test_public_names() -> None:
    expected = [
        "Activation",
        "CompiledModel",
        "Diagnostic",
        "DmlError",
        "FeatureLevel",
        "Graph",
        "GraphBuilder",
        "LoadOptions",
        "Providers",
        "UnreadableError",
        "batch",
        "check",
        "compile",
        "convert",
        "load",
        "minimum_feature_level",
        "resize",
        "run",
        "verify",
    ]
    assert dml2onnx.__all__ == expected
    assert all(getattr(dml2onnx, name) is not None for name in expected)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dml2onnx.nonsense


HEAVY = ("numpy", "networkx", "rich", "onnx", "onnxruntime")
"""What costs a tenth of a second or more to import."""
SAMPLE = Path(__file__).parent.parent / "samples" / "digits" / "model.json"


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
def test_what_work_imports(work: str, allowed: set[str], tmp_path: Path) -> None:
    """Nothing but what it needs: checking needs no arrays, compiling neither ONNX's package nor ONNX Runtime."""
    names = f"path, out = {str(SAMPLE)!r}, {str(tmp_path / 'model.onnx')!r}"
    script = f"import sys, dml2onnx\n{names}\n{work}\nprint([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(result.stdout)) <= allowed


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        pytest.param("'ops'", set(), id="ops"),
        pytest.param("'explain', 'DML1602'", set(), id="explain-code"),
        pytest.param("'check', path", set(), id="check"),
        pytest.param("'compile', path, '-o', out", {"numpy"}, id="compile"),
    ],
)
def test_what_commands_import(command: str, allowed: set[str], tmp_path: Path) -> None:
    names = f"path, out = {str(SAMPLE)!r}, {str(tmp_path / 'model.onnx')!r}"
    show = f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    script = f"import sys\nfrom dml2onnx.cli import main\n{names}\nassert main([{command}]) == 0\n{show}"
    assert set(ast.literal_eval(_complaints(script))) <= allowed


def test_arguments_of_commands_import_little() -> None:
    """A line that asks for help, or is wrong, needs neither the compiler nor numpy, whichever command it is."""
    ours = [
        f"dml2onnx.{name}" for name in ("compiler", "checks", "frontends", "exporters", "onnx_model", "passes", "ir")
    ]
    show = f"print([name for name in {[*HEAVY, *ours]} if name in sys.modules], file=sys.stderr)"
    assert (
        ast.literal_eval(_complaints(f"import sys\nfrom dml2onnx.cli.parser import make_parser\nmake_parser()\n{show}"))
        == []
    )


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
"""Modules of ours that these commands have no use for: each millisecond of the start is for something."""


@pytest.mark.parametrize("command", UNUSED, ids=lambda command: command[0])
def test_what_commands_do_not_import(command: tuple[str, ...], tmp_path: Path) -> None:
    """Nothing of formats that the model does not have, nor of what another command says."""
    assert all((PACKAGE / name.replace(".", "/")).exists() or _module(name).exists() for name in UNUSED[command])
    extra = ["-o", str(tmp_path / "model.onnx")] if command[0] == "compile" else []
    others = [f"dml2onnx.{name}" for name in UNUSED[command]]
    show = f"print([name for name in {others} if name in sys.modules], file=sys.stderr)"
    script = f"import sys\nfrom dml2onnx.cli import main\nassert main({[*command, *extra]}) == 0\n{show}"
    assert ast.literal_eval(_complaints(script)) == []


def _complaints(script: str) -> str:
    """What a program writes to standard error, to pipes of no particular width."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr


def _module(name: str) -> Path:
    return PACKAGE / f"{name.replace('.', '/')}.py"


def test_lowering_and_reference_stand_in_the_modules_of_the_operators_family() -> None:
    families = {schema.short_name: schema.family for schema in map(catalog.operator, catalog.operator_names())}
    assert set(FAMILIES) == set(families.values())
    for package, table in (("lowering", lowerings()), ("reference", references())):
        found = {name: function.__module__ for name, function in table.items()}
        assert found == {name: f"dml2onnx.{package}.{family}" for name, family in families.items()}


def test_worded_checks_stand_in_modules_of_families() -> None:
    """Families that have few rules may stand with another that has the same ones."""
    families: dict[str, set[str]] = {}
    for schema in map(catalog.operator, catalog.operator_names()):
        for constraint in schema.constraints:
            families.setdefault(constraint.id, set()).add(schema.family)
    for module in shapes.FAMILIES:
        rules = [item for item in vars(module).values() if isinstance(item, WordedRule)]
        found = {family for item in rules for name in item.constraints for family in families[name]}
        assert module.__name__.rpartition(".")[2] in found


@pytest.mark.parametrize("family", FAMILIES)
def test_families_have_modules_of_one_name(family: str) -> None:
    """A family has one name in the lowerings, the reference and the builder; ``test_coverage`` says so of tests."""
    assert (PACKAGE / "lowering" / f"{family}.py").exists()
    assert (PACKAGE / "reference" / f"{family}.py").exists()
    assert (PACKAGE / "builder" / "operators" / f"{family}.py").exists()


def test_codes_are_explained() -> None:
    for code in all_codes().values():
        assert len(code.explanation) > 35, code.id
        assert code.summary, code.id


def test_every_package_is_described() -> None:
    text = (PACKAGE.parent / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert len(packages) > 20
    assert [name for name in packages if f"`{name}/" not in text] == []
