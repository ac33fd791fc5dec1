"""Public names of packages, loaded when they are first used, so that importing a package costs next to nothing."""

TYPE_CHECKING = False  # typing is not imported: it takes longer than this module is worth
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: "Mapping[str, str]") -> "Callable[[str], object]":
    """The ``__getattr__`` of a package that has its names in these modules of it."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value: object = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
