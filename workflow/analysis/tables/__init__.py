"""The tables: a module each, with `build(results, grid) -> Table`."""

import pkgutil


def names() -> list[str]:
    """The tables that can be made: the modules of this folder."""
    return [name for _, name, _ in pkgutil.iter_modules(__path__)]
