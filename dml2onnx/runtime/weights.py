"""Gives ONNX Runtime the weights from their files or arrays, instead of in the message of the model.

What lies in a file is mapped by ONNX Runtime itself: the model names the file and the place in it, and nothing is read
before a node wants it. Other large arrays are handed over as they lie in memory; ONNX Runtime copies those.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.ir.mapped import file_of, file_place
from dml2onnx.onnx_model import INT4, UINT4, Array

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "session.model_external_initializers_file_folder_path"
"""https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h"""
HANDED_OVER = "handed-over"
"""Stands for a file in the model, where an array in memory takes its place before any file is looked for."""
LEAST = 1 << 16
"""Smaller arrays are part of the message: they are many, and some are looked at when the model is loaded."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Where the large weights of a model are; ``places`` are the entries of ``TensorProto.external_data``."""

    places: Mapping[str, Mapping[str, str]]
    folder: Path | None = None
    """The directory that the locations of files are relative to."""
    arrays: Mapping[str, Array] = field(default_factory=dict)
    """What is handed over, by name."""

    @property
    def nbytes(self) -> int:
        """Bytes of all of them, which the message does not have."""
        return sum(int(place["length"]) for place in self.places.values())

    @classmethod
    def of(cls, initializers: Mapping[str, Array]) -> Weights:
        """The weights of a model that are large enough; the rest is left to its message."""
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
        """Tells ``onnxruntime.SessionOptions`` where they are; the result is kept until the session is made.

        By then ONNX Runtime has copied what was handed over:
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
    """A directory that has all of the files below it."""
    try:
        return Path(os.path.commonpath([file.parent for file in files]))
    except ValueError:  # there are none, or they are on several drives
        return None
