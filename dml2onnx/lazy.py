"""Lazy imports: names of packages, modules and methods that are loaded at their first use."""

import sys
from types import ModuleType

TYPE_CHECKING = False  # typing is not imported: it takes longer than this module is worth
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, homes: "Mapping[str, str]") -> "Callable[[str], object]":
    """The ``__getattr__`` of a package; ``homes`` says which of its modules defines each name."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            if not name.startswith("_"):
                message += f"; it has {', '.join(homes)}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        from importlib import import_module

        value: object = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def lazy_method(module: str, function: str) -> "Callable[[object], str]":
    """A method that calls ``module.function(self)`` and imports the module at the first call.

    Notebooks show objects of low layers (graphs, models) with code of a high one, the report.
    """

    def show(self: object) -> str:
        from importlib import import_module

        text: str = getattr(import_module(module), function)(self)
        return text

    return show


def lazy_module(name: str) -> "ModuleType":
    """A module that is imported at the first access to an attribute, and costs nothing from then on.

    For type checkers the plain import stands under ``TYPE_CHECKING``.
    """
    return _LazyModule(name)


class _LazyModule(ModuleType):
    """Copies the names of the module at the first access and is a plain module from then on."""

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        from dml2onnx.gc_pause import gc_paused

        with gc_paused():  # no module is garbage
            module = import_module(self.__name__)
        self.__dict__.update(vars(module))
        self.__class__ = ModuleType  # type: ignore[assignment]  # what Python's own LazyLoader does
        return getattr(module, name)
