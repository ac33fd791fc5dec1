"""Arguments of the public functions: converted to the declared types, or refused in a sentence (DML3017).

Callers pass numbers, lists, arrays of other libraries, and mistakes of all kinds. Every public function converts them
here; the modules behind it rely on their types.
"""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.catalog import (
    FeatureLevel,
    UnknownFeatureLevelError,
    directml_versions,
    feature_levels,
    level_of_directml,
    level_of_windows,
    windows_builds,
)
from dml2onnx.codes.compiling import ILLEGAL_IR_VERSION, UNKNOWN_OPSET, UNKNOWN_TARGET
from dml2onnx.codes.running import NO_ARGUMENT
from dml2onnx.diagnostics import DmlError, Remedy, quote, shortened
from dml2onnx.lazy import lazy_module
from dml2onnx.targets import NAMES, OPSETS, QOPERATOR, QUANT_FORMATS, ir_versions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dml2onnx.files import Destination

    Array = npt.NDArray[np.generic]
else:
    np = lazy_module("numpy")


def refusal(what: str, value: object, expected: str, remedies: tuple[Remedy, ...] = ()) -> DmlError:
    """An error that names the argument, the value found and the value expected."""
    return refusal_of(what, described(value), expected, remedies)


def refusal_of(what: str, found: str, expected: str, remedies: tuple[Remedy, ...] = ()) -> DmlError:
    """As :func:`refusal`, for a value that is already described."""
    message = f"{what} is {found}, not {expected}"
    return DmlError(NO_ARGUMENT.at(message, expected=expected, found=found, remedies=remedies))


def described(value: object) -> str:
    """A value in a few words: numbers and text as they are, anything else by its type."""
    if value is None or isinstance(value, (bool, int, float)):
        with_digits = value if not isinstance(value, int) or abs(value) < 1 << 64 else "a number of many digits"
        return str(with_digits)
    if isinstance(value, str):
        return f"the text {quote(value)}"
    if isinstance(value, np.ndarray):
        return "an array"
    if isinstance(value, (type, np.dtype)):
        return shortened(value.__name__ if isinstance(value, type) else str(value), 60)
    name = shortened(type(value).__name__, 60)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


MOST_SHOWN = 4
"""Input names shown in an example."""
LONGEST = 1 << 16
"""Most items read from a list: more than any field has. A range may have 10**12, and an iterator may never end."""


# --- Names and numbers ------------------------------------------------------------------------------------------------


def whole_number(value: object, what: str, least: int | None = 0) -> int:
    """A whole number, at least ``least``."""
    expected = "a whole number" + ("" if least is None else f" from {least} on")
    if _is_flag(value):
        raise refusal(what, value, expected)
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # raises for other types
    except Exception:
        raise refusal(what, value, expected) from None
    if least is not None and number < least:
        raise refusal(what, value, expected)
    return number


def positive(value: object, what: str) -> float:
    """A finite number above 0."""
    expected = "a number above 0"
    if _is_flag(value) or not isinstance(value, (int, float, np.number)):
        raise refusal(what, value, expected)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise refusal(what, value, expected) from None
    if not 0 < number < float("inf"):
        raise refusal(what, value, expected)
    return number


def function(value: object, what: str) -> Callable[..., object]:
    """A callable."""
    if not callable(value):
        raise refusal(what, value, "a function")
    return value


def flag(value: object, what: str) -> bool:
    """True or False."""
    if not _is_flag(value):
        raise refusal(what, value, "True or False")
    return bool(value)


def _is_flag(value: object) -> bool:
    """Whether it is a bool of Python or numpy. Python numbers are checked first, so that numpy is not imported."""
    return isinstance(value, bool) or (not isinstance(value, (int, float)) and isinstance(value, np.bool_))


def text(value: object, what: str, expected: str = "text") -> str:
    """Text."""
    if not isinstance(value, str):
        raise refusal(what, value, expected)
    return value


def items(value: object, what: str, expected: str = "a list of numbers") -> tuple[object, ...]:
    """The items of a list, tuple, array or other iterable, but not of text or a dictionary."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise refusal(what, value, expected)
    try:
        found = tuple(islice(value, LONGEST + 1))
    except Exception:
        raise refusal(what, value, expected) from None
    if len(found) > LONGEST:
        raise refusal(what, value, f"{expected}, of which there are at most {LONGEST}")
    return found


def names(value: object, what: str) -> tuple[str, ...]:
    """A list of names; a single string is refused."""
    return tuple([text(item, f"a name in {what}") for item in items(value, what, "a list of names")])


def by_name(value: object, what: str) -> Mapping[str, object]:
    """A dictionary whose keys are texts."""
    if not isinstance(value, Mapping):
        raise refusal(what, value, "a dictionary by name")
    return {text(name, f"a name in {what}"): item for name, item in value.items()}


def opset(value: object) -> int:
    """A supported opset."""
    expected = f"{OPSETS[0]} to {OPSETS[-1]}"
    number = whole_number(value, "opset", least=None)
    if number not in OPSETS:
        message = f"opset {described(number)} is not supported; {expected} are"
        raise DmlError(UNKNOWN_OPSET.at(message, expected=expected, found=described(number)))
    return number


def ir_version(value: object, opset: int) -> int:
    """An IR version that is legal for this opset; the opset's own by default."""
    legal = ir_versions(opset)
    if value is None:
        return legal[0]
    expected = f"{legal[0]} to {legal[-1]}"
    number = whole_number(value, "ir_version", least=None)
    if number not in legal:
        message = f"a model of opset {opset} cannot have IR version {described(number)}"
        raise DmlError(ILLEGAL_IR_VERSION.at(message, expected=expected, found=described(number)))
    return number


def target(value: object) -> str:
    """The name of a target."""
    expected = ", ".join(NAMES)
    name = text(value, "target", f"one of {expected}")
    if name not in NAMES:
        message = f"there is no target {quote(name)}; the targets are {expected}"
        raise DmlError(UNKNOWN_TARGET.at(message, expected=expected, found=quote(name)))
    return name


def quant_format(value: object, *, exact: bool) -> str | None:
    """The form of quantized operators, ``None`` for the target's default. Exact models use integer operators."""
    if value is None:
        return None
    expected = " or ".join(QUANT_FORMATS)
    name = text(value, "quant_format", expected)
    if name not in QUANT_FORMATS:
        raise refusal("quant_format", value, expected)
    if exact and name != QOPERATOR:
        raise refusal("quant_format", value, f"{QOPERATOR}, since integers alone are exact, or a model that is not")
    return name


def feature_level(value: object) -> FeatureLevel | None:
    """A feature level, by name or as a :class:`FeatureLevel`."""
    if value is None or isinstance(value, FeatureLevel):
        return value
    expected = 'a feature level such as "4_0"'
    try:
        return FeatureLevel.parse(text(value, "feature_level", expected))
    except UnknownFeatureLevelError:
        levels = ", ".join(level.name for level in feature_levels())
        message = f"{quote(str(value))} is not a feature level of DirectML; the levels are {levels}"
        with suppress(DmlError):
            version = directml_level(str(value))
            message += f". DirectML {value} has {version.name}; --directml {value} asks check for it"
        raise DmlError(NO_ARGUMENT.at(message, expected=expected, found=quote(str(value)))) from None


def directml_level(value: str) -> FeatureLevel:
    """The feature level of a version of DirectML, such as ``1.8``; :class:`DmlError` if there is no such version."""
    parts = value.lower().removeprefix("microsoft.ai.directml.").removesuffix(".nupkg").split(".")
    if not 2 <= len(parts) <= 3 or not all(part.isdecimal() and len(part) < 6 for part in parts):
        expected, message = "a version of DirectML such as 1.8", f"{quote(value)} is no version of DirectML"
        raise DmlError(NO_ARGUMENT.at(message, expected=expected, found=quote(value)))
    found = level_of_directml(int(parts[0]), int(parts[1]))
    if found is None:
        first = feature_levels()[0].info.directml_version
        raise DmlError(NO_ARGUMENT.at(f"the first version of DirectML is {first}", expected=first, found=quote(value)))
    if (int(parts[0]), int(parts[1])) not in directml_versions():
        known = ", ".join(f"{major}.{minor}" for major, minor in directml_versions())
        message = f"{quote(value)} is not a known version of DirectML; the versions are: {known}"
        raise DmlError(NO_ARGUMENT.at(message, expected=known, found=quote(value)))
    return found


def windows_level(value: str) -> FeatureLevel:
    """The feature level that ships with a release of Windows, such as ``10-22H2`` or ``11-24H2``."""
    builds = {name.upper(): build for name, build in windows_builds().items()}
    build = builds.get(value.upper())
    if build is None:
        names = ", ".join(builds)
        message = f"{quote(value)} is not a known release of Windows; the releases are: {names}"
        raise DmlError(NO_ARGUMENT.at(message, expected=names, found=quote(value)))
    found = level_of_windows(build)
    assert found is not None  # no release is older than the first one with DirectML
    return found


# --- Files ------------------------------------------------------------------------------------------------------------


def path_of(value: object, what: str) -> Path:
    """A path: text or an ``os.PathLike``; :class:`DmlError` for anything else."""
    try:
        text = os.fspath(value)  # type: ignore[call-overload]  # raises for other types
    except Exception:
        text = None
    if not isinstance(text, str):
        raise refusal(what, value, "a path, as text or a pathlib.Path")
    return Path(text)


def target_of(value: object) -> Destination:
    """A path, or an open binary file unchanged."""
    if callable(getattr(value, "write", None)) and not isinstance(value, (str, os.PathLike)):
        return value  # type: ignore[return-value]  # a missing method is reported on writing
    return path_of(value, "the file to write")


# --- Arrays -----------------------------------------------------------------------------------------------------------


def array(value: object, what: str) -> Array:
    """An array of real numbers: integers, floats or bools."""
    expected = "an array of numbers"
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise refusal(what, value, "an array without a mask, such as its method filled gives")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = np.asarray(value)
    except Exception:
        raise refusal(what, value, expected, as_array(value)) from None
    if found.dtype.kind not in "biuf":
        kinds = {"c": "complex numbers", "O": "objects, or of rows of different lengths", "U": "text", "S": "bytes"}
        kind = kinds.get(found.dtype.kind, f"elements of type {shortened(str(found.dtype), 60)}")
        message = f"{what} is an array of {kind}, not of real numbers"
        raise DmlError(NO_ARGUMENT.at(message, expected=expected, found=kind))
    return found


def as_array(value: object) -> tuple[Remedy, ...]:
    """How to convert a tensor of another library to a numpy array."""
    call = call_for_array(value)
    return (Remedy(f"an array of numpy, which its {call} gives"),) if call else ()


def call_for_array(value: object) -> str:
    """The method call that converts a tensor of another library to a numpy array; empty if there is none."""
    kind = type(value)
    ways = {"detach": ".detach().cpu().numpy()", "numpy": ".numpy()", "get": ".get()"}
    is_tensor = hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")
    return next((call for method, call in ways.items() if is_tensor and callable(getattr(kind, method, None))), "")


def arrays(value: object, what: str = "inputs", names: Sequence[str] = ()) -> dict[str, Array]:
    """Arrays by name; ``None`` means none. ``names`` are the legal ones, for the example in an error."""
    expected = "arrays by name, as a dictionary"
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        by_name = ", ".join(f"{quote(name)}: ..." for name in names[:MOST_SHOWN])
        raise refusal(what, value, expected, (Remedy(f"{{{by_name}}}"),) if by_name else ())
    try:
        items = list(value.items())
    except Exception:
        raise refusal(what, value, expected) from None
    return {text(name, f"a name in {what}"): array(item, f"input {quote(name)}") for name, item in items}
