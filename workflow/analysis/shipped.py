"""Table 5 and Figure 2, left, as studies: their lines, and the cells of each."""

from gpt1.cell import Arch, Aux, Cell
from workflow.analysis.paper import EIGHT, FULL, LSTM, NO_AUX, variants
from workflow.grid import Grid
from workflow.study_plan import Point, StudyPlan

SWEPT: dict[tuple[Arch, Aux], str] = {
    ("transformer", "on"): FULL.title,
    ("transformer", "off"): NO_AUX.title,
    ("lstm", "on"): LSTM.title,
    ("lstm", "off"): "LSTM w/o aux LM",
}


def ablation(grid: Grid) -> StudyPlan:
    """The variants of Table 5, on its eight tasks and then on the others of the grid."""
    tasks = list(dict.fromkeys([*EIGHT, *grid.tasks]))
    points = []
    for of in variants(grid):
        n = grid.n_layer.get(of.arch, 0) if of.n_transfer == "all" else of.n_transfer
        cells = [Cell(of.arch, task, of.aux, n, of.corpus) for task in tasks]
        points.append(Point(line=of.title, cells=cells))
    lines = [point.line for point in points]
    return StudyPlan(title="Ablations (Table 5)", tasks=tasks, lines=lines, points=points)


def layer_transfer(grid: Grid) -> StudyPlan:
    """Each architecture with and without the auxiliary loss along the layers transferred."""
    points = [
        Point(line=line, value=f"{n}", cells=[Cell(arch, task, aux, n) for task in grid.tasks])
        for (arch, aux), line in SWEPT.items()
        if arch in grid.arch
        for n in grid.sweep(arch, aux)
    ]
    lines = list(dict.fromkeys(point.line for point in points))
    title = "Layers transferred (Figure 2, left)"
    return StudyPlan(title=title, axis="n_transfer", tasks=grid.tasks, lines=lines, points=points)
