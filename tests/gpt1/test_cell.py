"""What a cell is called, and where its files lie."""

import pytest

from gpt1.cell import Cell
from tasks.common.errors import InputError


def test_path_and_name_are_those_of_a_cell_or_refused():
    found = Cell.parse("results/x/cells/arch-lstm+finetune.lm_coef-0/story_cloze.json")
    assert found == Cell("arch-lstm+finetune.lm_coef-0", "story_cloze")
    assert Cell.parse(found.path("results/x")) == found == Cell.named(found.name)
    wrong = ("x", "full/rte.json", "cells/full/rte", "cells/full/rte/0.json", "xcells/a/b.json")
    for other in wrong:
        with pytest.raises(InputError, match=f"{other}: not the path of a cell; give .*cells/LINE"):
            Cell.parse(other)
    for other in ("rte", "full/rte/0", "cells/full/rte", "x/cells/full/rte", "full/rte\n"):
        with pytest.raises(InputError, match=f"{other}: not a cell; give LINE/TASK, such as"):
            Cell.named(other)
