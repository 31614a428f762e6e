"""The figures: a module each, with `draw(table, grid) -> Figure`; and their common style."""

import pkgutil

SHOWS = {  # tables, of the figures that show something else than the table of their name
    "figure2": ["layer_transfer", "zero_shot"],
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
}


def names() -> list[str]:
    """The figures that can be drawn: the modules of this folder, except those that they share."""
    modules = (name for _, name, _ in pkgutil.iter_modules(__path__))
    return [name for name in modules if name not in ("lines", "scales", "style")]


def tables_of(figure: str) -> list[str]:
    """The tables that a figure shows."""
    return SHOWS.get(figure, [figure])
