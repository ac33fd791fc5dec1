"""ONNX Runtime sessions of compiled models."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import arguments
from dml2onnx.codes.running import PROVIDER_PASSED_OVER, PROVIDER_UNUSABLE, RUNTIME_FAILURE
from dml2onnx.diagnostics import Diagnostic, DmlError, quote
from dml2onnx.ir.mapped import MappedFiles
from dml2onnx.lazy import lazy_method
from dml2onnx.onnx_model import Array, OnnxPort
from dml2onnx.providers.choice import ProviderLike, Providers
from dml2onnx.providers.distributions import clash, distributions
from dml2onnx.providers.installed import plugin_devices, require_providers
from dml2onnx.providers.table import AUTO, BY_NAME, DEFAULT_POLICY, POLICY, SHORT_NAMES
from dml2onnx.providers.threads import session_threads
from dml2onnx.runtime.feeds import at_sizes, check_inputs, named_values
from dml2onnx.runtime.profiles import NodeTime, node_times
from dml2onnx.runtime.weights import Weights

if TYPE_CHECKING:
    import numpy.typing as npt

RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
"""https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h"""
LONGEST_REASON = 300
SMALLEST_MODEL = bytes.fromhex(
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08080112040a020801620f0a0179120a0a08080112"
    "040a02080142040a001011"
)
"""A model with one Relu of one number, opset 17, which every provider can run or leave to the CPU."""


class Session:
    """An ONNX Runtime session of a compiled model.

    With ``profile`` it records the time and provider of every node. ``warnings`` has findings about the creation of the
    session. DirectML requires sequential execution and no memory pattern:
    https://onnxruntime.ai/docs/execution-providers/DirectML-ExecutionProvider.html#configuration-options
    """

    def __init__(
        self, model: bytes | Path, inputs: Sequence[OnnxPort], outputs: Sequence[OnnxPort],
        provider: ProviderLike = "cpu", *, weights: Weights | None = None, profile: bool = False,
        mapped_files: MappedFiles | None = None,
    ) -> None:  # fmt: skip
        self._mapped_files = MappedFiles(()) if mapped_files is None else mapped_files
        self._profile_directory = tempfile.TemporaryDirectory() if profile else None
        self._inputs = inputs
        self._outputs = outputs
        directory = None if self._profile_directory is None else Path(self._profile_directory.name)
        self._session, self.warnings = _opened(model, provider, directory, profile, weights)

    def __repr__(self) -> str:
        names = [", ".join(quote(port.name) for port in ports) for ports in (self._inputs, self._outputs)]
        return f"<Session on {', '.join(self.providers)}: {names[0] or 'nothing'} to {names[1] or 'nothing'}>"

    _repr_html_ = lazy_method("dml2onnx.report.notebooks", "session_html")

    @property
    def inputs(self) -> tuple[OnnxPort, ...]:
        """The inputs in order."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[OnnxPort, ...]:
        """The outputs in order."""
        return tuple(self._outputs)

    @property
    def providers(self) -> tuple[str, ...]:
        """ONNX Runtime's names of the session's providers in order, including the CPU."""
        return tuple(self._session.get_providers())

    def run(self, inputs: Mapping[str, npt.ArrayLike], wanted: Sequence[str] | None = None) -> dict[str, Array]:
        """Runs the model; returns all outputs, or those ``wanted``, by public name and in memory order."""
        if isinstance(wanted, Mapping):
            raise arguments.refusal("wanted", wanted, "names of outputs; inputs come first: run({...}, [...])")
        feeds = check_inputs(self._inputs, inputs)
        outputs = [port for port in self._outputs if wanted is None or port.name in wanted]
        if not outputs:
            return {}
        self._mapped_files.require()
        try:
            results: list[Any] = self._session.run([port.onnx_name for port in outputs], feeds)
        except Exception as error:
            raise DmlError(_failure(error)) from error
        return {port.name: np.asarray(array) for port, array in zip(outputs, results, strict=True)}

    def bind(self, inputs: Mapping[str, npt.ArrayLike] | None = None) -> BoundBuffers:
        """Returns preallocated inputs and outputs of this session, for repeated runs without copies.

        ``inputs`` are as for :meth:`run`; contiguous arrays are used without a copy, and missing ones are zeros.
        They determine named sizes, and so the shapes of the outputs; other sizes need another :class:`BoundBuffers`.
        Changes of :attr:`BoundBuffers.inputs` take effect in the next run.
        """
        supplied = arguments.arrays(inputs, names=[port.name for port in self._inputs])
        ports = at_sizes(self._inputs, named_values(self._inputs, supplied))
        zeros = {port.name: np.zeros(port.shape, port.dtype) for port in ports if port.name not in supplied}
        feeds = check_inputs(self._inputs, {**supplied, **zeros})
        values = named_values(self._inputs, {port.name: feeds[port.onnx_name] for port in self._inputs})
        return BoundBuffers(self._session, self._inputs, at_sizes(self._outputs, values), feeds, self._mapped_files)

    def end_profile(self, runs: int = 1) -> list[NodeTime]:
        """The median time of every node over the ``runs`` so far; requires ``profile``."""
        assert self._profile_directory is not None
        text = Path(self._session.end_profiling()).read_text(encoding="utf-8", errors="replace")
        self._profile_directory.cleanup()
        return node_times(text, runs)

    def assigned(self) -> dict[str, str]:
        """ONNX Runtime's name of the provider of each node, by the node's name; requires ``profile``.

        Some providers do not report their nodes here, only in the profile. Nodes that were folded or merged before
        assignment are in neither.
        """
        return {
            node.name: part.ep_name
            for part in self._session.get_provider_graph_assignment_info()
            for node in part.get_nodes()
        }


class BoundBuffers:
    """Preallocated inputs and outputs by public name, in memory order."""

    def __init__(
        self, session: Any, inputs: Sequence[OnnxPort], outputs: Sequence[OnnxPort], feeds: Mapping[str, Array],
        mapped_files: MappedFiles,
    ) -> None:  # fmt: skip
        from onnxruntime import OrtValue

        self._mapped_files = mapped_files
        self.inputs: Mapping[str, Array] = {port.name: feeds[port.onnx_name] for port in inputs}
        """The arrays that the model reads; write new contents into them."""
        self.outputs: Mapping[str, Array] = {port.name: np.zeros(port.shape, port.dtype) for port in outputs}
        """The arrays that each run overwrites."""
        self._session = session
        self._binding = session.io_binding()
        for port in inputs:
            value = OrtValue.ortvalue_from_numpy(feeds[port.onnx_name])
            self._binding.bind_ortvalue_input(port.onnx_name, value)
        for port in outputs:
            value = OrtValue.ortvalue_from_numpy(self.outputs[port.name])
            self._binding.bind_ortvalue_output(port.onnx_name, value)

    def run(self) -> Mapping[str, Array]:
        """Runs the model once and returns :attr:`outputs`."""
        self._mapped_files.require()
        try:
            self._session.run_with_iobinding(self._binding)
        except Exception as error:
            raise DmlError(_failure(error)) from error
        return self.outputs


PRECISION_FAILS = ("QLinearConv", "replace the existing tensor")
"""Parts of ONNX Runtime's message if ``session.x64quantprecision`` makes it convert weights to UINT8 where the input is
INT8, for which it has no kernel. Products of INT8 with INT8 are exact without that option."""


def open_session(model: bytes | Path, provider: ProviderLike = "cpu") -> Any:
    """An ``onnxruntime.InferenceSession`` of any ONNX model.

    Raises :class:`DmlError` if ONNX Runtime refuses the model (DML3011), or cannot start or omits a requested provider
    (DML3021). If ``auto`` chooses a provider that cannot start, the CPU is used.
    """
    return _opened(model, provider, None, False, None)[0]


def _opened(
    model: bytes | Path, provider: ProviderLike, profile: Path | None, records: bool, weights: Weights | None
) -> tuple[Any, tuple[Diagnostic, ...]]:
    """A session and warnings for the user.

    ``profile`` is the directory for a profile, ``records`` makes the session record the provider of each node, and
    ``weights`` are those stored outside the model.
    """
    providers = require_providers(provider)
    try:
        try:
            session = _session(model, providers, profile, records, weights)
        except Exception as error:
            if not any(text in str(error) for text in PRECISION_FAILS):
                raise
            session = _session(model, providers, profile, records, weights, precise=False)
    except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
        if providers.names != ("cpu",):
            refusal = _unstartable(providers)
            if refusal is not None and providers.first != AUTO:
                raise DmlError(refusal) from error
            if refusal is not None:
                message = f"{refusal.message}; the CPU is used instead"
                session, _ = _opened(model, "cpu", profile, records, weights)
                return session, (PROVIDER_PASSED_OVER.at(message),)
        raise DmlError(_failure(error, _clash_remark())) from error
    _require_loaded(providers, session.get_providers())
    return session, ()


def _session(
    model: bytes | Path, providers: Providers, profile: Path | None, records: bool, weights: Weights | None = None,
    *, precise: bool = True,
) -> Any:  # fmt: skip
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised as exceptions too
    if (threads := session_threads()) is not None:
        options.intra_op_num_threads = threads
    # without VNNI, products of UINT8 and INT8 are accumulated in 16 bits unless this option is set
    options.add_session_config_entry("session.x64quantprecision", "1" if precise else "0")
    if not {"dml", AUTO}.isdisjoint(providers.names):
        options.enable_mem_pattern = False
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile / "profile")
    if records:
        options.add_session_config_entry(RECORD_ASSIGNMENT, "1")
    listed = _offer(providers, options)
    source = str(model) if isinstance(model, Path) else model
    kept = [] if weights is None else weights.offer(options)
    try:
        # the fallback would print a line and run on the CPU when a provider fails
        return onnxruntime.InferenceSession(source, options, enable_fallback=False, **listed)
    finally:
        del kept


def _unstartable(providers: Providers) -> Diagnostic | None:
    """The reason why providers cannot run any model, or ``None`` if they can."""
    try:
        _session(SMALLEST_MODEL, providers, None, False)
    except Exception as error:
        message = f"ONNX Runtime cannot start {providers}: {_reason(error)}{_clash_remark()}"
        page = BY_NAME[providers.first].page if providers.first in BY_NAME else ""
        return PROVIDER_UNUSABLE.at(message, expected=str(providers), documentation=page)
    return None


def _require_loaded(providers: Providers, loaded: Sequence[str]) -> None:
    """Refuses a session that ONNX Runtime created without a requested provider."""
    for name in providers.names:
        if name in BY_NAME and BY_NAME[name].full_name not in loaded:
            full_name, page = BY_NAME[name].full_name, BY_NAME[name].page
            rest = ", ".join(SHORT_NAMES.get(item, item) for item in loaded)
            message = (
                f"ONNX Runtime could not start {full_name}, for reasons that it prints to standard error, usually a"
                f" missing device or library; it would have run on {rest}"
            )
            raise DmlError(PROVIDER_UNUSABLE.at(message, expected=full_name, found=rest, documentation=page))


def _offer(providers: Providers, options: Any) -> dict[str, Any]:
    """Adds the providers to ``options``, or returns them for the session."""
    import onnxruntime

    if providers.first == AUTO:
        policy = providers.options_of(AUTO).get(POLICY, DEFAULT_POLICY).upper()
        options.set_provider_selection_policy(getattr(onnxruntime.OrtExecutionProviderDevicePolicy, policy))
        return {}
    full_names = {name: BY_NAME[name].full_name for name in providers.names}
    plugins = {name: found for name, full in full_names.items() if (found := plugin_devices(full))}
    if not plugins:
        names = [full_names[name] for name in providers.names]
        supplied = [providers.options_of(name) for name in providers.names]
        if "cpu" not in providers.names:
            names.append(BY_NAME["cpu"].full_name)
            supplied.append({})
        return {"providers": names, "provider_options": supplied}
    for name, full_name in full_names.items():
        if name in plugins:
            devices = plugins[name]
            number = providers.device if name == providers.first else None
            # some providers accept only one device
            options.add_provider_for_devices([devices[number or 0]], dict(providers.options.get(name, {})))
        elif name != "cpu":  # always present
            options.add_provider(full_name, providers.options_of(name))
    return {}


def _reason(error: Exception) -> str:
    """The end of ONNX Runtime's message, which starts with a source location."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST_REASON else f"... {text[-LONGEST_REASON:]}"


def _failure(error: Exception, remark: str = "") -> Diagnostic:
    return RUNTIME_FAILURE.at(f"ONNX Runtime: {' '.join(str(error).split())}{remark}")


def _clash_remark() -> str:
    """What to add to an error message if several distributions of ONNX Runtime are installed."""
    wrong = clash(distributions())
    return f"; note that {wrong}; dml2onnx doctor says how to fix it" if wrong else ""
