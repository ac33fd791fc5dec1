"""The shape of the house: who may import whom, what is public, and that mirrored rooms have the same names."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

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
    "faces": set(),
    "garbage": set(),
    "codes": {"diagnostics"},
    "catalog": {"faces"},
    "ir": {"catalog", "codes", "diagnostics", "faces"},
    "serialized_schema": {"catalog"},
    "targets": {"catalog", "codes", "diagnostics"},
    "arguments": {"catalog", "codes", "diagnostics", "faces", "files", "targets"},
    "frontends": {
        "arguments",
        "catalog",
        "codes",
        "diagnostics",
        "faces",
        "garbage",
        "ir",
        "rules",
        "serialized_schema",
    },
    "exporters": {
        "arguments",
        "catalog",
        "codes",
        "diagnostics",
        "files",
        "frontends",
        "ir",
        "programs",
        "serialized_schema",
    },
    "measuring": {"codes", "compiler", "diagnostics", "ir", "model", "providers", "runtime", "verification"},
    "reducing": {"catalog", "checks", "diagnostics", "ir"},
    "programs": {"builder", "catalog", "checks", "codes", "diagnostics", "frontends", "ir"},
    "rules": {"catalog", "codes", "diagnostics", "ir"},
    "named": {"codes", "diagnostics", "model", "sizes"},
    "sizes": {"catalog", "codes", "diagnostics", "ir", "rules"},
    "checks": {"arguments", "catalog", "codes", "diagnostics", "frontends", "garbage", "ir", "rules", "sizes"},
    "builder": {"arguments", "catalog", "checks", "codes", "diagnostics", "frontends", "ir", "rules"},
    "reference": {"catalog", "codes", "diagnostics", "ir"},
    "model": {"ir"},
    "emitter": {"codes", "diagnostics", "ir", "model", "targets"},
    "legalise": {"codes", "emitter", "model", "targets"},
    "lowering": {
        "catalog",
        "codes",
        "diagnostics",
        "emitter",
        "ir",
        "legalise",
        "model",
        "rules",
        "targets",
    },
    "passes": {"arguments", "codes", "diagnostics", "model", "targets"},
    "wire": {"model"},
    "writer": {"codes", "diagnostics", "files", "garbage", "ir", "model", "wire"},
    "providers": {"arguments", "codes", "diagnostics", "targets"},
    "runtime": {"arguments", "codes", "diagnostics", "faces", "ir", "model", "providers"},
    "fallbacks": {"codes", "diagnostics", "model", "targets"},
    "halving": {"catalog", "checks", "codes", "diagnostics", "ir", "model"},
    "compiler": {
        "arguments",
        "catalog",
        "checks",
        "codes",
        "diagnostics",
        "faces",
        "fallbacks",
        "frontends",
        "garbage",
        "halving",
        "ir",
        "lowering",
        "model",
        "named",
        "passes",
        "providers",
        "runtime",
        "targets",
        "writer",
    },
    "execution": {
        "arguments",
        "catalog",
        "codes",
        "compiler",
        "diagnostics",
        "files",
        "frontends",
        "ir",
        "model",
        "passes",
        "providers",
        "runtime",
        "targets",
    },
    "pydirectml": {"builder", "catalog", "checks", "codes", "compiler", "diagnostics", "ir", "providers", "runtime"},
    "directml": {"catalog", "ir"},
    "verification": {
        "arguments",
        "catalog",
        "checks",
        "codes",
        "compiler",
        "diagnostics",
        "faces",
        "directml",
        "execution",
        "exporters",
        "frontends",
        "halving",
        "ir",
        "model",
        "passes",
        "providers",
        "reference",
        "runtime",
        "sizes",
        "targets",
    },
    "recorder": set(),
    "batching": {
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
        "arguments",
        "catalog",
        "checks",
        "compiler",
        "diagnostics",
        "exporters",
        "frontends",
        "ir",
        "model",
        "providers",
        "rules",
        "runtime",
        "targets",
        "verification",
    },
}
"""What each room of the package may import; the command line and ``__init__`` may import everything."""

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
    "model",
    "passes",
    "reference",
    "rules",
    "wire",
]
"""Only the compiler's ``model_proto`` and the table of operators' versions in ``targets`` need ONNX's own package."""


def imports(room: str) -> list[tuple[Path, str]]:
    """(file, module) of every import in a room, those inside functions and TYPE_CHECKING blocks too."""
    place = PACKAGE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found += [(file, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file} imports relatively"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [(file, name) for name in (names if node.module == "dml2onnx" else [node.module or ""])]
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_point_one_way(room: str) -> None:
    wrong = []
    for file, module in imports(room):
        if module.startswith("dml2onnx."):
            target = module.split(".")[1]
            if target not in {room, "__version__", *ALLOWED[room]}:
                wrong.append(f"{file.relative_to(PACKAGE)} imports {module}")
    assert not wrong


def test_lowering_is_known_by_its_face() -> None:
    """Nobody outside looks into it: the records of ``model`` are what it gives."""
    rooms = [
        item.stem for item in PACKAGE.iterdir() if item.name != "py.typed" and not item.name.startswith("__pycache")
    ]
    modules = {file.stem for file in (PACKAGE / "lowering").iterdir()}
    inside = [
        f"{file.relative_to(PACKAGE)} imports {module}"
        for room in rooms
        if room != "lowering"
        for file, module in imports(room)
        if module.startswith("dml2onnx.lowering.")
    ]
    inside += [
        f"{file.relative_to(PACKAGE)} imports {alias.name} of lowering"
        for file in PACKAGE.rglob("*.py")
        if not file.is_relative_to(PACKAGE / "lowering")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dml2onnx.lowering"
        for alias in node.names
        if alias.name in modules
    ]
    assert {"compiler", "writer", "runtime", "cli", "report"} < set(rooms)
    assert not inside


@pytest.mark.parametrize("room", WITHOUT_ONNX)
def test_the_way_in_knows_no_onnx(room: str) -> None:
    assert not [file for file, module in imports(room) if module.split(".")[0] in {"onnx", "onnxruntime"}]


def test_lowerings_know_no_target() -> None:
    """What is to be otherwise for one is a rule of ``legalise``; the driver alone takes the target, and hands it on."""
    for path in (PACKAGE / "lowering").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = [item for item in ast.walk(tree) if isinstance(item, ast.Attribute) and item.attr == "target"]
        imported = [name for file, name in imports("lowering") if file == path and name.startswith("dml2onnx.targets")]
        assert not asked, f"{path.name}:{asked[0].lineno}"
        assert not imported or path.name == "driver.py", path.name


def test_every_room_is_in_the_plan() -> None:
    rooms = {item.stem for item in PACKAGE.iterdir() if not item.name.startswith("_") and item.name != "py.typed"}
    assert rooms - {"schemas", "cli"} == set(ALLOWED)


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


OTHER_FORMATS = ("dml_graph", "dxdispatch", "dx_program", "serialized", "flatbuffer")
UNUSED = {
    ("ops",): (
        *("catalog.operators", "catalog.fields", "catalog.constraints", "report.operators", "report.machine"),
        *("targets", "providers.table", "files"),
    ),
    ("explain", "DML1602"): ("catalog.operators", "report.operators", "report.machine", "cli.operators"),
    ("check", str(SAMPLE)): (
        *(f"frontends.{name}" for name in OTHER_FORMATS),
        *("lowering", "compiler", "model", "ir.mapped", "frontends.array_files", "cli.formats", "providers.table"),
    ),
    ("compile", str(SAMPLE)): (
        *(f"frontends.{name}" for name in OTHER_FORMATS),
        *("reference", "runtime", "execution", "providers.installed", "lowering.recurrent", "lowering.attention"),
    ),
}
"""Modules of ours that these commands have no use for: each millisecond of the start is for something."""


@pytest.mark.parametrize("command", UNUSED, ids=lambda command: command[0])
def test_what_commands_leave_alone(command: tuple[str, ...], tmp_path: Path) -> None:
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
    for room, table in (("lowering", lowerings()), ("reference", references())):
        found = {name: function.__module__ for name, function in table.items()}
        assert found == {name: f"dml2onnx.{room}.{family}" for name, family in families.items()}


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
def test_rooms_mirror_each_other(family: str) -> None:
    """A family has one name in the lowerings, the reference and the builder; ``test_coverage`` says so of tests."""
    assert (PACKAGE / "lowering" / f"{family}.py").exists()
    assert (PACKAGE / "reference" / f"{family}.py").exists()
    assert (PACKAGE / "builder" / "operators" / f"{family}.py").exists()


def test_codes_are_explained() -> None:
    for code in all_codes().values():
        assert len(code.explanation) > 35, code.id
        assert code.title, code.id


def test_every_package_is_described() -> None:
    text = (PACKAGE.parent / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert len(packages) > 20
    assert [name for name in packages if f"`{name}/" not in text] == []
