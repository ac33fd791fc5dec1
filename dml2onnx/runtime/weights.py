"""Passes weights to ONNX Runtime as files or arrays, instead of in the serialized model.

ONNX Runtime maps weights in files itself: the model contains the file name and offset, and nothing is read until it is
needed. Other large arrays are passed from memory; ONNX Runtime copies them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dml2onnx.ir.mapped import file_of, file_place
from dml2onnx.onnx_model import INT4, UINT4, Array

FOLDER = "session.model_external_initializers_file_folder_path"
"""https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h"""
HANDED_OVER = "handed-over"
"""The file name in the model for an array in memory, which replaces it before any file is opened."""
LEAST = 1 << 16
"""Smaller arrays stay in the model: there are many, and some are read when it is loaded."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The locations of a model's large weights; ``places`` are the entries of ``TensorProto.external_data``."""

    places: Mapping[str, Mapping[str, str]]
    folder: Path | None = None
    """The directory that the locations of files are relative to."""
    arrays: Mapping[str, Array] = field(default_factory=dict)
    """Arrays in memory by name."""

    @property
    def nbytes(self) -> int:
        """Bytes of all these weights."""
        return sum(int(place["length"]) for place in self.places.values())

    @classmethod
    def of(cls, initializers: Mapping[str, Array]) -> Weights:
        """The large weights of a model; others stay in the model."""
        large = {
            name: item for name, item in initializers.items() if item.nbytes >= LEAST and item.dtype not in _NIBBLES
        }
        files = {name: found for name, item in large.items() if (found := file_of(item)) is not None}
        folder = _common(list(files.values()))
        places: dict[str, Mapping[str, str]] = {}
        arrays: dict[str, Array] = {}
        for name, array in large.items():
            if name in files and folder is not None:
                location = files[name].relative_to(folder).as_posix()
                start = file_place(array)
            else:
                arrays[name], location, start = array, HANDED_OVER, 0
            places[name] = {"location": location, "offset": str(start), "length": str(array.nbytes)}
        return cls(places, folder, arrays)

    def offer(self, options: Any) -> list[Any]:
        """Adds the weights to ``onnxruntime.SessionOptions``; keep the result until the session exists.

        By then ONNX Runtime has copied the arrays:
        https://onnxruntime.ai/docs/api/c/struct_ort_api.html, AddExternalInitializers.
        """
        from onnxruntime import OrtValue

        if self.folder is not None:
            options.add_session_config_entry(FOLDER, str(self.folder))
        arrays = [np.require(item, requirements=["C", "A"]) for item in self.arrays.values()]
        values = [OrtValue.ortvalue_from_numpy(item) for item in arrays]
        if values:
            options.add_external_initializers(list(self.arrays), values)
        return values


_NIBBLES = (INT4, UINT4)


def _common(files: list[Path]) -> Path | None:
    """The common ancestor directory of all files."""
    try:
        return Path(os.path.commonpath([file.parent for file in files]))
    except ValueError:  # no files, or several drives
        return None
