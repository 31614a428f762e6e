"""Which runs raised an alarm: a line for each kind of model that did, a column for each alarm."""

import pandas as pd

RUN = ["arch", "corpus", "task", "aux", "n_transfer", "seed"]
MODEL = ["arch", "corpus", "aux", "n_transfer"]


def runs(cells: pd.DataFrame) -> pd.DataFrame:
    """The fine-tuning runs of `cells.csv`, whose rows are scores: one row each."""
    return cells.dropna(subset="seed").drop_duplicates(RUN)


def counts(cells: pd.DataFrame) -> pd.DataFrame:
    """How many runs of each kind of model raised each alarm, as text; empty where none did."""
    found = runs(cells)
    raised = found["alarms"].fillna("").str.get_dummies(";")
    raised = raised.drop(columns="", errors="ignore")  # which pandas makes of a run without any
    table = found[MODEL].join(raised).groupby(MODEL, sort=False)[list(raised)].sum()
    table.insert(0, "runs", found.groupby(MODEL, sort=False).size())
    table = table[(table[list(raised)] > 0).any(axis=1)].reset_index()
    heads = {"arch": "model", "n_transfer": "layers"}
    heads |= {name: name.replace("_", " ") for name in raised}
    return table.rename(columns=heads).set_index("model").astype(str)
