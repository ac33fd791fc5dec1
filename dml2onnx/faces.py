"""What is loaded when it is first used: public names of packages, and modules that much of the work does without."""

import sys
from types import ModuleType

TYPE_CHECKING = False  # typing is not imported: it takes longer than this module is worth
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: "Mapping[str, str]") -> "Callable[[str], object]":
    """The ``__getattr__`` of a package that has its names in these modules of it."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def shown_by(module: str, function: str) -> "Callable[[object], str]":
    """A method that a function of a module carries out, which is imported when it is first called.

    What notebooks show of an object is drawn in a room that knows everything, while the object's own knows little.
    """

    def show(self: object) -> str:
        from importlib import import_module

        text: str = getattr(import_module(module), function)(self)
        return text

    return show


def later(name: str) -> "ModuleType":
    """Stands for a module, which is imported when it is first asked for something, and costs nothing more from then on.

    Type checkers are given the import itself, under ``TYPE_CHECKING``.
    """
    return _Later(name)


class _Later(ModuleType):
    """Takes over all names of the module that it stands for, and is then as fast as any."""

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        module = import_module(self.__name__)
        self.__dict__.update(vars(module))
        self.__class__ = ModuleType  # type: ignore[assignment]  # what Python's own LazyLoader does
        return getattr(module, name)
