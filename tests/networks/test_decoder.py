"""A small decoder that writes text one character at a time, with caches bound in place.

Its weights are random, so the text makes no sense, but it must be the same as that of a decoder without caches, which
reads the whole text for every character.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import onnxruntime as ort
import pytest

from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.ir.tensor import DataType
from tests.networks.drawing import Floats, Network, Tensor, causal_attention, normalized, perceptron

T = TypeVar("T")

ALPHABET = " abcdefghijklmnopqrstuvwxyz,.!?'"
LAYERS, BATCH, LENGTH = 2, 2, 40
HEADS, GROUPS, SIZE = 4, 2, 8
WIDTH = HEADS * SIZE
PROMPTS = ("the quick brown fox ", "hello, ")


def weights() -> dict[str, Floats]:
    random = np.random.default_rng(21)

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Floats:
        return random.standard_normal((rows, columns)) * scale / np.sqrt(rows)

    def vector(width: int, around: float = 0.0) -> Floats:
        return around + random.standard_normal(width) * 0.1

    arrays = {
        "letters": random.standard_normal((len(ALPHABET), WIDTH)),
        "places": random.standard_normal((LENGTH, WIDTH)) * 0.7,
        "last scale": vector(WIDTH, 1),
        "last bias": vector(WIDTH),
    }
    for layer in range(LAYERS):
        own = {
            "first scale": vector(WIDTH, 1),
            "first bias": vector(WIDTH),
            "second scale": vector(WIDTH, 1),
            "second bias": vector(WIDTH),
            "parts": matrix(WIDTH, WIDTH + 2 * GROUPS * SIZE, 2),
            "parts bias": vector(WIDTH + 2 * GROUPS * SIZE),
            "join": matrix(WIDTH, WIDTH, 2),
            "join bias": vector(WIDTH),
            "up": matrix(WIDTH, 4 * WIDTH),
            "up bias": vector(4 * WIDTH),
            "down": matrix(4 * WIDTH, WIDTH, 2),
            "down bias": vector(WIDTH),
        }
        arrays |= {f"{layer} {name}": array for name, array in own.items()}
    return {name: array.astype(np.float16).astype(np.float64) for name, array in arrays.items()}


def of_layer(w: Mapping[str, T], layer: int) -> dict[str, T]:
    return {name.removeprefix(f"{layer} "): item for name, item in w.items() if name.startswith(f"{layer} ")}


# --- without caches ---------------------------------------------------------------------------------------------------


def scores(text: str, w: Mapping[str, Floats]) -> Floats:
    """Returns the score of each character as the next one."""
    x = w["letters"][[ALPHABET.index(letter) for letter in text]] + w["places"][: len(text)]
    for layer in range(LAYERS):
        own = of_layer(w, layer)
        parts = normalized(x, own["first scale"], own["first bias"]) @ own["parts"] + own["parts bias"]
        q, k, v = np.split(parts, [WIDTH, WIDTH + GROUPS * SIZE], 1)
        y = []
        for head in range(HEADS):
            group = head * GROUPS // HEADS
            columns = [slice(i * SIZE, (i + 1) * SIZE) for i in (head, group, group)]
            y.append(causal_attention(*(part[:, chosen] for part, chosen in zip((q, k, v), columns, strict=True))))
        x = x + np.concatenate(y, 1) @ own["join"] + own["join bias"]
        x = x + perceptron(normalized(x, own["second scale"], own["second bias"]), own)
    return normalized(x[-1:], w["last scale"], w["last bias"])[0] @ w["letters"].T


def expected(prompt: str, length: int) -> tuple[str, Floats]:
    """Returns the text after a prompt, and the margin of each character over the second best."""
    w, text, margins = weights(), prompt, []
    while len(text) < length:
        found = scores(text, w)
        best = np.sort(found)
        margins.append(best[-1] - best[-2])
        text += ALPHABET[int(found.argmax())]
    return text, np.array(margins)


# --- with caches ------------------------------------------------------------------------------------------------------


def decoder(data_type: DataType) -> CompiledModel:
    """Compiles one step: takes a character and the past length of each text, and returns the next characters."""
    network = Network(data_type)
    w = {name: network.constant(name, x.reshape(1, 1, -1, x.shape[-1])) for name, x in weights().items()}
    letters = network.input("letters", (1, 1, 1, BATCH), DataType.UINT32)
    past = network.input("past", (BATCH,), DataType.INT32)

    def rows(name: str, table: Tensor, indices: Tensor) -> Tensor:
        inputs = {"InputTensor": table, "IndicesTensor": indices}
        shape = {"OutputTensor": (1, 1, BATCH, WIDTH)}
        return network.add(name, "GATHER", inputs, shape, Axis=2, IndexDimensions=1)[0]

    x = network.sum(
        "begin", rows("letter", w["letters"], letters), rows("place", w["places"], past.view((1, 1, 1, BATCH)))
    )
    caches: dict[str, Tensor] = {}
    for layer in range(LAYERS):
        own = of_layer(w, layer)
        first = network.normalized(f"{layer} first", x, own["first scale"], own["first bias"])
        parts = network.product(f"{layer} parts", first, own["parts"], own["parts bias"])
        width = parts.desc.sizes[3]
        own_caches = {
            name: network.input(f"{layer} {name}", (BATCH, GROUPS, LENGTH, SIZE)) for name in ("keys", "values")
        }
        y, keys, values = network.add(
            f"{layer} attention",
            "MULTIHEAD_ATTENTION1",
            {
                "QueryTensor": parts.view((BATCH, 1, WIDTH), (width, width, 1)),
                "KeyTensor": parts.view((BATCH, 1, GROUPS * SIZE), (width, width, 1), WIDTH),
                "ValueTensor": parts.view((BATCH, 1, GROUPS * SIZE), (width, width, 1), WIDTH + GROUPS * SIZE),
                "PastSequenceLengthsTensor": past,
            },
            {"OutputTensor": (BATCH, 1, WIDTH)},
            updated={"OutputPresentKeyTensor": own_caches["keys"], "OutputPresentValueTensor": own_caches["values"]},
            Scale=SIZE**-0.5,
            MaskFilterValue=-10000.0,
            QueryHeadCount=HEADS,
            KeyValueHeadCount=GROUPS,
            MaskType="NONE",
        )
        caches |= {f"{layer} keys": keys, f"{layer} values": values}
        joined = network.product(f"{layer} join", y.view((1, 1, BATCH, WIDTH)), own["join"], own["join bias"])
        x = network.sum(f"{layer} after attention", x, joined)
        second = network.normalized(f"{layer} second", x, own["second scale"], own["second bias"])
        x = network.sum(f"{layer} end", x, network.perceptron(f"{layer} perceptron", second, own))
    last = network.normalized("last", x, w["last scale"], w["last bias"])
    found = network.product("scores", last, w["letters"], transposed=True)
    fields: dict[str, Any] = {"Axes": (3,), "AxisDirection": "INCREASING"}
    shape = {"OutputTensor": (1, 1, BATCH, 1)}
    (best,) = network.add("best", "ARGMAX", {"InputTensor": found}, shape, data_type=DataType.UINT32, **fields)
    return compile(network.graph({"best": best, **caches}))


def written(step: Callable[[np.ndarray, np.ndarray], np.ndarray], prompts: tuple[str, ...], length: int) -> list[str]:
    """Generates texts by steps that return the next characters; the prompts are fed first."""
    texts = [""] * BATCH
    following = np.zeros(BATCH, np.uint32)
    while min(map(len, texts)) < length:
        for item, prompt in enumerate(prompts):
            place = len(texts[item])
            texts[item] += prompt[place] if place < len(prompt) else ALPHABET[following[item]]
        letters = np.array([ALPHABET.index(text[-1]) for text in texts], np.uint32)
        following = step(letters, np.array([len(text) - 1 for text in texts], np.int32))
    return [text[:length] for text in texts]


@pytest.fixture(scope="module", params=[DataType.FLOAT32, DataType.FLOAT16], ids=["FLOAT32", "FLOAT16"])
def model(request: pytest.FixtureRequest) -> CompiledModel:
    return decoder(request.param)


def test_text_equals_that_of_a_decoder_without_caches(model: CompiledModel) -> None:
    session = model.session()
    caches = {p.name: np.full(p.shape, 7, p.dtype) for p in model.inputs if p.name not in {"letters", "past"}}

    def step(letters: np.ndarray, past: np.ndarray) -> np.ndarray:
        results = session.run({"letters": letters.reshape(1, 1, 1, -1), "past": past, **caches})
        caches.update({name: results[name] for name in caches})
        return results["best"].reshape(-1)

    for text, prompt in zip(written(step, PROMPTS, LENGTH), PROMPTS, strict=True):
        want, margins = expected(prompt, LENGTH)
        assert margins.min() > 0.03, "too close to call in FLOAT16"
        assert text == want


def test_caches_bound_in_place(model: CompiledModel) -> None:
    """Each cache is input and output of every step in the same memory; texts may start at different times."""
    session = ort.InferenceSession(model.serialize(), providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    outputs = {port.name: port.onnx_name for port in model.outputs}
    memory = {}
    for port in model.inputs:
        if port.name in {"letters", "past"}:
            continue
        memory[port.name] = ort.OrtValue.ortvalue_from_numpy(np.zeros(port.shape, port.dtype))
        binding.bind_ortvalue_input(port.onnx_name, memory[port.name])
        binding.bind_ortvalue_output(outputs[port.name], memory[port.name])
    binding.bind_output(outputs["best"])
    begins = np.array([0, 11])  # the second text replaces another, whose keys and values are still in the cache

    def step(letters: np.ndarray, past: np.ndarray) -> np.ndarray:
        binding.bind_cpu_input("letters", letters.reshape(1, 1, 1, BATCH))
        binding.bind_cpu_input("past", np.where(past < begins, past, past - begins).astype(np.int32))
        session.run_with_iobinding(binding)
        return binding.copy_outputs_to_cpu()[-1].reshape(-1)  # the one bound last

    prompts = (PROMPTS[0], "forgotten !" + PROMPTS[1])
    texts = written(step, prompts, LENGTH)
    assert texts[0] == expected(PROMPTS[0], LENGTH)[0]
    assert texts[1][begins[1] :] == expected(PROMPTS[1], LENGTH - begins[1])[0]
    for name, value in memory.items():
        array = value.numpy()
        assert array[0].any(axis=(0, 2)).all(), name
        assert array[1].any(axis=(0, 2)).tolist() == [place < LENGTH - begins[1] for place in range(LENGTH)], name


def test_a_step_copies_only_the_new_keys(model: CompiledModel) -> None:
    found = [node.op_type for node in model.model_proto.graph.node]
    assert found.count("ScatterND") == 2 * LAYERS
    assert "Concat" not in found
