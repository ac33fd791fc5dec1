"""The examples in docs/api.md, a complete program for each public name."""

from __future__ import annotations

PREAMBLE = """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder("tiny", feature_level="5_0")
x = g.input("x", np.float32, [1, 3, 8, 8])
y = g.convolution(x, np.ones((4, 3, 3, 3)), np.zeros(4), fused_activation="RELU")
dml2onnx.convert(g.build({"y": y}), "model.json")
"""

EXAMPLES = {
    "Activation": """\
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", "FLOAT32", [1, 4])
g.add(x, x, fused_activation=dml2onnx.Activation("LEAKY_RELU", alpha=0.1))
""",
    "CompiledModel": """\
import numpy as np
import dml2onnx

model: dml2onnx.CompiledModel = dml2onnx.compile("model.json")
print(model.inputs[0].name, model.outputs[0].shape, model.node_count)
model.save("model.onnx")
session = model.session()  # for many runs
assert session.run({"x": np.ones((1, 3, 8, 8), np.float32)})["y"].shape == (1, 4, 6, 6)
""",
    "Diagnostic": """\
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", "FLOAT32", [4])
(finding,) = dml2onnx.check(g.build({"y": g.clip(x, 6.0, 0.0)}))
assert isinstance(finding, dml2onnx.Diagnostic)
print(finding.code, finding.severity.value, finding.node, finding.field, finding.message)
""",
    "DmlError": """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", "FLOAT32", [1, 3, 8, 8])
try:
    g.convolution(x, np.ones((5, 5, 3, 4)))  # a filter as TensorFlow has it
except dml2onnx.DmlError as error:
    print(error)
    assert "looks like HWIO" in error.diagnostics[0].remedies[0].words
""",
    "FeatureLevel": """\
import dml2onnx

level = dml2onnx.FeatureLevel("5_0")
assert level < dml2onnx.FeatureLevel("6_4")
print(level.info.directml_version, level.info.ships_with)
""",
    "Graph": """\
import dml2onnx

graph: dml2onnx.Graph = dml2onnx.load("model.json")
print(graph)  # a notebook draws it
print([node.operator.type for node in graph.sorted_nodes()])
""",
    "GraphBuilder": """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder("classifier", feature_level="5_0")
picture = g.input("picture", np.float32, [1, 3, 32, 32])
with g.scope("features"):
    features = g.activation_relu(g.convolution(picture, np.ones((8, 3, 3, 3)), np.zeros(8)))
larger = g.resample(g.mean_variance_normalization(features), scales=[1, 1, 2, 2])
print(g.build({"larger": larger, "mean": g.reduce(features, "AVERAGE", [2, 3])}))
""",
    "LoadOptions": """\
import numpy as np
import dml2onnx

weights = dml2onnx.LoadOptions(constants={"x": np.ones((1, 3, 8, 8), np.float32)})  # x is no longer an input
assert not dml2onnx.load("model.json", weights).inputs
""",
    "Providers": """\
import dml2onnx

session = dml2onnx.compile("model.json").session(dml2onnx.Providers("cpu"))
assert session.providers == ("CPUExecutionProvider",)
""",
    "UnreadableError": """\
import dml2onnx

try:
    dml2onnx.load("nowhere.json")
except dml2onnx.UnreadableError as error:
    print(error)
""",
    "batch": """\
import dml2onnx

if __name__ == "__main__":  # worker processes are started
    print(dml2onnx.batch(["model.json"], "compile", "out", jobs=1))
""",
    "check": """\
import dml2onnx

assert dml2onnx.check("model.json") == []
assert dml2onnx.check("model.json", feature_level="1_0") == []
""",
    "compile": """\
import dml2onnx

print(dml2onnx.compile("model.json", opset=21, target="onnx"))
""",
    "convert": """\
import dml2onnx

dml2onnx.convert("model.json", "model.bin")  # as a serialized graph
""",
    "load": """\
import dml2onnx

graph = dml2onnx.load("model.json")
assert len(graph.nodes) == 1
""",
    "minimum_feature_level": """\
import dml2onnx

print(dml2onnx.minimum_feature_level("model.json").info.ships_with)
""",
    "resize": """\
import dml2onnx

larger = dml2onnx.resize("model.json", {"x": [2, 3, 16, 16]})
assert larger.outputs[0].desc.sizes == (2, 4, 14, 14)
""",
    "run": """\
import numpy as np
import dml2onnx

outputs = dml2onnx.run("model.json", {"x": np.ones((1, 3, 8, 8), np.float32)})
assert outputs["y"].shape == (1, 4, 6, 6)
""",
    "verify": """\
import numpy as np
import dml2onnx

data = np.ones((1, 3, 8, 8), np.float32)
checked = dml2onnx.verify("model.json", cases=[{"x": data}, {"x": -data}])
assert checked.passed, checked.first_wrong_node
""",
}
