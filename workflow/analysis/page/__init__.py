"""The page of a run, `index.html`: every verdict, table and figure in one self-contained file."""
