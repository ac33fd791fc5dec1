"""What PyTorch's scaled_dot_product_attention makes of tests/reference/attention_cases.py, kept beside it.

    python scripts/make_attention_answers.py            # writes the answers
    python scripts/make_attention_answers.py --check    # computes them again and compares

Needs PyTorch, which the tests do without: the file of answers holds the SHA-256 of the cases and of this script.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "reference" / "attention_cases.py"
ANSWERS = ROOT / "tests" / "reference" / "attention_answers.npz"
DIGEST = "sha256"
TOLERANCE = 1e-5
"""Between versions of PyTorch and processors."""


def _cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attention_cases", CASES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def torch_answers() -> dict[str, npt.NDArray[Any]]:
    """What PyTorch computes in FLOAT64, { batch, queries, heads, size }, by the name of the case."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    cases = _cases()
    results = {}
    for name, case in cases.CASES.items():
        arrays = {key: torch.from_numpy(array) for key, array in cases.arrays(name).items()}
        wide = {key: x if x.dtype == torch.bool else x.double() for key, x in arrays.items()}
        q, k, v = (wide[key].transpose(1, 2) for key in ("query", "key", "value"))
        options = {"scale": case.scale, "enable_gqa": case.groups != case.heads}
        if case.mask == "cache":
            rows = []
            for item, past in enumerate(cases.PAST):  # each as if it were alone and had no more than it needs
                keys, values = (
                    torch.cat([wide[cache][item, :, :past], new[item]], 1)[None]
                    for cache, new in (("past_key", k), ("past_value", v))
                )
                mask = torch.ones(case.queries, past + case.keys, dtype=torch.bool).tril(past)
                rows.append(scaled_dot_product_attention(q[item : item + 1], keys, values, mask, **options))
            y = torch.cat(rows)
        else:
            causal = case.mask == "causal"
            y = scaled_dot_product_attention(q, k, v, wide.get("mask"), is_causal=causal, **options)
        results[name] = y.transpose(1, 2).numpy().astype(np.float32)
    return results


def digest() -> str:
    """The SHA-256 of the cases and of this script, whatever ends their lines."""
    texts = (path.read_bytes().replace(b"\r\n", b"\n") for path in (CASES, Path(__file__)))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def kept_answers() -> tuple[dict[str, npt.NDArray[Any]], str]:
    """The answers of the file, and the SHA-256 of what they were made for."""
    with np.load(ANSWERS) as file:
        return {key: file[key] for key in file.files if key != DIGEST}, str(file[DIGEST])


def main() -> int:
    parser = argparse.ArgumentParser(description="What PyTorch computes for the tests of attention.")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    answers = torch_answers()
    if parser.parse_args().check:
        kept, made_for = kept_answers()
        same = made_for == digest() and kept.keys() == answers.keys()
        if not same or not all(np.allclose(kept[key], answers[key], TOLERANCE, TOLERANCE) for key in answers):
            print("not what PyTorch computes; run python scripts/make_attention_answers.py")
            return 1
        return 0
    np.savez(ANSWERS, **answers, **{DIGEST: np.array(digest())})  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    sys.exit(main())
