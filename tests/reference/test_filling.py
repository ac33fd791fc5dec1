from __future__ import annotations

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.filling import philox_4x32_10
from tests.reference.numbers import results_of


def sequence(data_type, start, delta, shape):
    fields = {"ValueDataType": data_type.name, "ValueStart": start, "ValueDelta": delta}
    return results_of("FILL_VALUE_SEQUENCE", OutputTensor=np.zeros(shape, data_type.dtype), **fields)["OutputTensor"]


@pytest.mark.parametrize("data_type", [DataType.FLOAT16, DataType.FLOAT32], ids=lambda t: t.name)
@pytest.mark.parametrize(("start", "delta"), [(0.0, 0.125), (-3.5, 0.1), (1000.0, -0.3), (0.0, 0.0)])
def test_float_sequences_multiply(data_type, start, delta):
    start, delta = (float(data_type.dtype.type(number)) for number in (start, delta))
    got = sequence(data_type, start, delta, (20, 50))
    want = np.array([start + k * delta for k in range(1000)])
    np.testing.assert_array_equal(got.values.reshape(-1), want.astype(data_type.dtype))
    in_float32 = np.float32(start) + np.arange(1000, dtype=np.float32) * np.float32(delta)
    assert (np.abs(in_float32 - want) <= got.error.reshape(-1)).all()


def random_words(state, shape):
    state = np.array(state, np.uint32).reshape(1, 1, 1, 6)
    outputs = {"OutputTensor": np.zeros(shape, np.uint32), "OutputStateTensor": state}
    found = results_of("RANDOM_GENERATOR", InputStateTensor=state, Type="PHILOX_4X32_10", **outputs)
    return found["OutputTensor"].values, found["OutputStateTensor"].values.reshape(-1).tolist()


# Known answers of Random123, the authors' library: counter, key, block
KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "want"), KNOWN_ANSWERS)
def test_philox_known_answers(counter, key, want):
    assert philox_4x32_10(np.array([counter], np.uint64), tuple(key)).tolist() == [want]
    words, state = random_words([*counter, *key], (1, 1, 1, 4))
    assert words.reshape(-1).tolist() == want
    after = (sum(word << 32 * i for i, word in enumerate(counter)) + 1) % 2**128
    assert state == [*(after >> 32 * i & 0xFFFFFFFF for i in range(4)), *key]


@pytest.mark.parametrize("counter", [0, 2**32 - 2, 2**64 - 3, 2**96 - 1, 2**128 - 2, 7 * 2**64 - 2])
def test_blocks_are_consecutive(counter):
    def words_of(number):
        return [number % 2**128 >> 32 * i & 0xFFFFFFFF for i in range(4)]

    key = [0x12345678, 0x9ABCDEF0]
    one_by_one = [random_words([*words_of(counter + b), *key], (4,))[0] for b in range(5)]
    words, state = random_words([*words_of(counter), *key], (2, 3, 3))
    np.testing.assert_array_equal(words.reshape(-1), np.concatenate(one_by_one)[:18])
    assert state == [*words_of(counter + 5), *key]


@pytest.mark.parametrize(("elements", "blocks"), [(1, 1), (4, 1), (5, 2), (8, 2)])
def test_a_partial_block_is_used_up(elements, blocks):
    assert random_words([0] * 6, (elements,))[1] == [blocks, 0, 0, 0, 0, 0]


def test_the_documented_step_of_the_counter():
    """The page swaps the two counters."""
    (example,) = catalog.operator("RANDOM_GENERATOR").examples()
    later, earlier = (int(example[key], 16) for key in ("counter_before", "counter_after"))
    counter = [earlier >> 32 * i & 0xFFFFFFFF for i in range(4)]
    _, state = random_words([*counter, 1, 2], example["output_sizes"])
    assert sum(word << 32 * i for i, word in enumerate(state[:4])) == later == earlier + example["increment"]
