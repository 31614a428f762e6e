"""What a run made is complete only if every table and its Markdown are there."""

import pandas as pd
import pytest

from tests.check_results import missing_tables
from workflow.analysis.table import Table


@pytest.fixture
def results(tmp_path):
    """A folder with a table of its own kind, and none of the others."""
    Table(pd.DataFrame({"task": ["rte"], "mean": [80.0]}), ["| a |"]).write(tmp_path / "mine.csv")
    return tmp_path


def test_a_table_that_is_not_there_is_told(results):
    found = set(missing_tables(results))
    assert {
        "cells: cells.csv or cells.md is missing",
        "cost: cost.csv or cost.md is missing",
    } < found
    assert not any(line.startswith("mine") for line in found)


def test_a_table_without_its_markdown_is_told(results):
    (results / "mine.md").unlink()
    assert "mine: mine.csv or mine.md is missing" in missing_tables(results)
