"""Invalid descriptors are recorded as far as they can be read, with the reason."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.recorder import compilers
from tests.recorder.compilers import Compiler


class Case(NamedTuple):
    """Statements that make ``op`` invalid, a pointer into its JSON with the value there, and the problems."""

    name: str
    statements: str
    pointer: str
    found: object
    problems: tuple[str, ...]


SETUP = """\
  const UINT sizes[9] = {1, 3, 8, 8, 1, 1, 1, 1, 1};
  DML_BUFFER_TENSOR_DESC buffer{
      DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 768, 0};
  const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
  DML_TENSOR_DESC other = tensor;
  DML_ACTIVATION_RELU_OPERATOR_DESC relu{};
  DML_OPERATOR_DESC activation{DML_OPERATOR_ACTIVATION_RELU, &relu};
  const UINT two[2] = {1, 1};
  DML_CONVOLUTION_OPERATOR_DESC conv{};
  conv.InputTensor = conv.FilterTensor = conv.OutputTensor = &tensor;
  conv.Mode = DML_CONVOLUTION_MODE_CROSS_CORRELATION;
  conv.Direction = DML_CONVOLUTION_DIRECTION_FORWARD;
  conv.DimensionCount = 2;
  conv.Strides = conv.Dilations = conv.StartPadding = conv.EndPadding = conv.OutputPadding = two;
  conv.GroupCount = 1;
  conv.FusedActivation = &activation;
  DML_JOIN_OPERATOR_DESC join{};
  join.OutputTensor = &tensor;
  DML_FILL_VALUE_CONSTANT_OPERATOR_DESC fill{};
  fill.OutputTensor = &tensor;
  DML_OPERATOR_DESC op{DML_OPERATOR_CONVOLUTION, &conv};
  (void)other, (void)join, (void)fill;
"""
JOIN = "op = {DML_OPERATOR_JOIN, &join};"
FILL = "op = {DML_OPERATOR_FILL_VALUE_CONSTANT, &fill};"
INPUT = "/Desc/InputTensor"
BUFFER = f"{INPUT}/Desc"
OTHER = "conv.InputTensor = &other;"
ABSENT = "not written at all"

CASES = [
    Case("nothing wrong", "", "/Type", "DML_OPERATOR_CONVOLUTION", ()),
    Case("no fields", "op.Desc = nullptr;", "/Desc", None, ("Desc is null",)),
    Case("no operator", "Put(op.Type, 5000);", "/Type", 5000, ("Type is 5000, no operator of this DirectML.h",)),
    Case("invalid", "op.Type = DML_OPERATOR_INVALID;", "/Type", 0, ("Type is 0, no operator of this DirectML.h",)),
    Case("no input", "conv.InputTensor = nullptr;", INPUT, None, ("InputTensor is null",)),
    Case("no bias", "conv.BiasTensor = nullptr;", "/Desc/BiasTensor", ABSENT, ()),
    Case("no buffer", f"{OTHER} other.Desc = nullptr;", BUFFER, None, ("InputTensor.Desc is null",)),
    Case(
        "no kind of tensor",
        f"{OTHER} other.Type = DML_TENSOR_TYPE_INVALID;",
        f"{INPUT}/Type",
        "DML_TENSOR_TYPE_INVALID",
        ("InputTensor.Type is not DML_TENSOR_TYPE_BUFFER",),
    ),
    Case(
        "no sizes",
        f"{OTHER} auto bare = buffer; bare.Sizes = nullptr; other.Desc = &bare;",
        f"{BUFFER}/Sizes",
        None,
        ("InputTensor.Sizes is null",),
    ),
    Case(
        "no dimensions",
        f"{OTHER} auto bare = buffer; bare.DimensionCount = 0; bare.Sizes = nullptr; other.Desc = &bare;",
        f"{BUFFER}/DimensionCount",
        0,
        (),
    ),
    Case(
        "a count that was never set",
        f"{OTHER} auto wild = buffer; wild.DimensionCount = 0xCCCCCCCC; other.Desc = &wild;",
        f"{BUFFER}/Sizes",
        [1, 3, 8, 8, 1, 1, 1, 1, 1],
        ("InputTensor.Sizes has 3435973836 elements, of which 9 are recorded",),
    ),
    Case(
        "an unknown data type",
        f"{OTHER} auto odd = buffer; Put(odd.DataType, 99); other.Desc = &odd;",
        f"{BUFFER}/DataType",
        99,
        ("InputTensor.DataType is 99, which has no name",),
    ),
    Case(
        "an unknown flag",
        f"{OTHER} auto odd = buffer; Put(odd.Flags, 2); other.Desc = &odd;",
        f"{BUFFER}/Flags",
        2,
        ("InputTensor.Flags is 2, which has no name",),
    ),
    Case("an absent array", "conv.Strides = nullptr;", "/Desc/Strides", None, ("Strides is null",)),
    Case("an empty array", "conv.DimensionCount = 0; conv.Strides = nullptr;", "/Desc/Strides", [], ()),
    Case("an unknown mode", "Put(conv.Mode, 7);", "/Desc/Mode", 7, ("Mode is 7, which has no name",)),
    Case(
        "an activation without fields",
        "activation.Desc = nullptr;",
        "/Desc/FusedActivation/Desc",
        None,
        ("FusedActivation.Desc is null",),
    ),
    Case(
        "an activation that contains itself",
        "activation = op;",
        "/Desc/FusedActivation/Desc/FusedActivation/Desc/FusedActivation/Desc/FusedActivation/Desc",
        None,
        (
            "FusedActivation.FusedActivation.FusedActivation.FusedActivation"
            " is an activation of an activation of an activation",
        ),
    ),
    Case("missing inputs", f"{JOIN} join.InputCount = 3;", "/Desc/InputTensors", None, ("InputTensors is null",)),
    Case(
        "one of several",
        f"{JOIN} DML_TENSOR_DESC both[2] = {{tensor, other}}; both[1].Desc = nullptr;"
        " join.InputCount = 2; join.InputTensors = both;",
        "/Desc/InputTensors/1/Desc",
        None,
        ("InputTensors[1].Desc is null",),
    ),
    Case(
        "a scalar of no type",
        f"{FILL} for (int i = 0; i < 8; ++i) fill.Value.Bytes[i] = static_cast<BYTE>(i + 1);",
        "/Desc/Value",
        {"Bytes": [1, 2, 3, 4, 5, 6, 7, 8]},
        (),
    ),
]

MAIN = """\
#include "dml2onnx_recorder.h"
#include <cstdio>
#include <cstring>
namespace {{
// An invalid enumerator, as in uninitialized memory.
template <typename Enum>
void Put(Enum& target, std::int32_t value) {{
  std::memcpy(&target, &value, sizeof target);
}}
void Show(const DML_OPERATOR_DESC* desc) {{
  const auto description = dml2onnx::detail::Describe(desc);
  std::puts(description.json.c_str());
  std::puts(description.Acceptable() ? "yes" : "no");
  for (const auto& problem : description.problems) std::puts(problem.c_str());
  std::puts("--");
}}
{functions}
}}  // namespace

int main() {{
  Show(nullptr);
{calls}}}
"""


@pytest.fixture(scope="module")
def shown(compiler: Compiler, directml: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The output of each case, after that of a null descriptor."""
    directory = tmp_path_factory.mktemp("wrong")
    functions = [
        f"void Case{index}() {{\n{SETUP}  {case.statements}\n  Show(&op);\n}}\n" for index, case in enumerate(CASES)
    ]
    calls = [f"  Case{index}();\n" for index in range(len(CASES))]
    source = directory / "main.cpp"
    source.write_text(MAIN.format(functions="\n".join(functions), calls="".join(calls)))
    program = directory / "wrong"
    compiler.program(source, directml, program, *compilers.sanitizers(compiler, directory))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [text.splitlines() for text in done.stdout.split("--\n")[:-1]]


def test_no_descriptor(shown: list[list[str]]) -> None:
    assert shown[0] == ["null", "no", "the descriptor is null"]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_recorded_values_and_problems(shown: list[list[str]], case: Case) -> None:
    text, acceptable, *problems = shown[1 + CASES.index(case)]
    found: Any = json.loads(text)
    for key in case.pointer.split("/")[1:]:
        found = found[int(key)] if isinstance(found, list) else found.get(key, ABSENT)
    assert found == case.found
    assert tuple(problems) == case.problems
    assert acceptable == ("no" if case.problems else "yes")
