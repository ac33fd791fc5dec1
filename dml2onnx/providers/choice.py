"""Converts the provider arguments of callers and command lines to one value, or refuses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dml2onnx import arguments
from dml2onnx.codes.running import PROVIDER_OPTION, UNKNOWN_PROVIDER
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.providers.table import AUTO, BY_NAME, CPU, DEFAULT_POLICY, NAMES, POLICIES, POLICY, SHORT_NAMES
from dml2onnx.targets import DEFAULT_TARGET, EXACT_TARGET
from dml2onnx.targets import NAMES as TARGETS

PORTABLE = "portable"
"""The target of providers without their own."""


@dataclass(frozen=True, slots=True, init=False)
class Providers:
    """Execution providers of ONNX Runtime, in order of preference.

    The CPU runs the remaining nodes, named or not. ``options`` are those of the first provider, or dictionaries of
    options by provider name. ``device`` is the device number of the first. ``auto``, alone, uses ONNX Runtime's device
    policy, whose one option is ``policy``. Raises :class:`DmlError` for unknown names and options.
    """

    names: tuple[str, ...]
    options: Mapping[str, Mapping[str, str]] = field(hash=False)
    """Options by provider name."""
    device: int | None

    def __init__(
        self,
        *names: str,
        options: Mapping[str, object] | None = None,
        device: int | None = None,
    ) -> None:
        listed = tuple(part.strip() for name in names for part in _name(name).split(",")) or ("cpu",)
        for name in listed:
            if name not in NAMES:
                full = SHORT_NAMES.get(name)
                near = f"; did you mean {full}?" if full else f"; the providers are {', '.join(NAMES)}"
                message = f"there is no provider {quote(name)}{near}"
                raise DmlError(UNKNOWN_PROVIDER.at(message, expected=", ".join(NAMES), found=name))
        listed = tuple(dict.fromkeys(listed))
        if AUTO in listed and len(listed) > 1:
            raise _refused(f"{AUTO} chooses by itself and takes no other provider", f"{AUTO} alone", ", ".join(listed))
        object.__setattr__(self, "names", listed)
        object.__setattr__(self, "options", _options(listed, options))
        object.__setattr__(self, "device", _device(listed, device))

    @classmethod
    def of_texts(cls, names: Sequence[str], options: Sequence[str] = (), device: int | None = None) -> Providers:
        """Providers of a command line: option ``KEY=VALUE`` is for the first, ``NAME:KEY=VALUE`` for another."""
        listed = cls(*arguments.names(names, "provider")).names
        found: dict[str, dict[str, str]] = {}
        for text in arguments.names(options, "options"):
            key, equals, value = text.partition("=")
            owner, colon, rest = key.partition(":")
            if colon and owner in NAMES:
                key = rest
            elif len([name for name in listed if name != "cpu"]) > 1:
                example = f"{listed[0]}:{key or 'KEY'}=VALUE"
                message = f"the option {quote(text)} does not name its provider, one of {', '.join(listed)}: {example}"
                raise _refused(message, example, text)
            else:
                owner = listed[0]
            if not equals or not key:
                raise _refused(f"{quote(text)} is not a provider option of the form KEY=VALUE", "KEY=VALUE", text)
            found.setdefault(owner, {})[key] = value
        return cls(*listed, options=found, device=device)

    def __str__(self) -> str:
        return ",".join(self.names)

    @property
    def first(self) -> str:
        """The first provider, which determines the target and the accuracy."""
        return self.names[0]

    @property
    def target(self) -> str:
        """The default target: that of the same name, or else the general one."""
        if self.first == EXACT_TARGET:
            return DEFAULT_TARGET
        if self.first in TARGETS:
            return self.first
        return PORTABLE if PORTABLE in TARGETS else DEFAULT_TARGET

    def options_of(self, name: str) -> dict[str, str]:
        """The options that are passed to ONNX Runtime for one provider, with the device number."""
        options = dict(self.options.get(name, {}))
        numbered = BY_NAME[name].device_option if name in BY_NAME else None
        if self.device is not None and name == self.first and numbered is not None:
            key, form = numbered
            options.setdefault(key, form.format(self.device))
        return options


ProviderLike: TypeAlias = str | Sequence[str] | Providers
"""A name, comma-separated names, a list of names, or :class:`Providers`."""


def chosen(argument: object) -> Providers:
    """The providers of a caller's argument; :class:`DmlError` if it is invalid."""
    if isinstance(argument, Providers):
        return argument
    if isinstance(argument, str):
        return Providers(argument)
    listed = arguments.items(argument, "provider", f"one of {', '.join(NAMES)}, a list of them, or Providers")
    return Providers(*[_name(item) for item in listed])


def _name(argument: object) -> str:
    return arguments.text(argument, "provider", f"one of {', '.join(NAMES)}")


def _options(names: tuple[str, ...], argument: Mapping[str, object] | None) -> dict[str, dict[str, str]]:
    if argument is not None and not isinstance(argument, Mapping):
        raise arguments.refusal("options", argument, "options by name, as a dictionary")
    found: dict[str, dict[str, str]] = {}
    for key, value in (argument or {}).items():
        name = arguments.text(key, "a name in options")
        if isinstance(value, Mapping):
            if name not in names:
                message = f"there are options for {quote(name)}, which is not among the providers {', '.join(names)}"
                raise _refused(message, ", ".join(names), name)
            found.setdefault(name, {}).update((arguments.text(k, "an option"), str(v)) for k, v in value.items())
        elif len(names) > 1:
            message = f"the option {quote(name)} does not name its provider, one of {', '.join(names)}"
            raise _refused(message, f"options={{{names[0]!r}: {{{name!r}: ...}}}}", name)
        else:
            found.setdefault(names[0], {})[name] = str(value)
    if found.get(CPU):
        options_text = ", ".join(f"{key}={value}" for key, value in found[CPU].items())
        raise _refused(f"{quote(options_text)} is not an option of {CPU}, which takes none", "no option", options_text)
    policy = found.get(AUTO, {})
    if policy.keys() - {POLICY} or policy.get(POLICY, DEFAULT_POLICY).upper() not in POLICIES:
        options_text = ", ".join(f"{key}={value}" for key, value in policy.items())
        expected = f"{POLICY}=" + "|".join(POLICIES)
        raise _refused(
            f"{quote(options_text)} is not an option of {AUTO}, which takes {expected}", expected, options_text
        )
    return found


def _device(names: tuple[str, ...], argument: object) -> int | None:
    if argument is None:
        return None
    number = arguments.whole_number(argument, "device")
    provider = BY_NAME.get(names[0])
    if provider is None or (provider.device_option is None and not provider.plugin):
        raise _refused(f"{names[0]} takes no device number", "no device", str(number))
    return number


def _refused(message: str, expected: str, found: str) -> DmlError:
    return DmlError(PROVIDER_OPTION.at(message, expected=expected, found=found))
