"""The analysis: from cells to tables, figures, claims and the page."""

from tasks.common.programs import show_door

show_door("workflow.analysis")
