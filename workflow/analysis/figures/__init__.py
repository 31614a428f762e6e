"""The figures: a module each, with `draw(table, grid) -> Figure`; and their common style."""

import pkgutil


def names() -> list[str]:
    """The figures that can be drawn: the modules of this folder, except those that they share."""
    modules = (name for _, name, _ in pkgutil.iter_modules(__path__))
    return [name for name in modules if name not in ("lines", "scales", "style")]
