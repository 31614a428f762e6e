"""Which fine-tuning runs raised an alarm, by `cells.csv`."""

import pandas as pd

MODEL = ["arch", "corpus", "aux", "n_transfer"]


def fine_tuning_runs(cells: pd.DataFrame | None) -> pd.DataFrame:
    """The runs of `cells.csv`, whose rows are scores: one row each."""
    if cells is None:
        return pd.DataFrame(columns=[*MODEL, "alarms"])
    return cells.dropna(subset="seed").drop_duplicates([*MODEL, "task", "seed"])


def alarms(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs of each kind of model raised each alarm, as text; empty where none did."""
    raised = runs["alarms"].dropna().str.get_dummies(";").reindex(runs.index, fill_value=0)
    kinds = [runs[name] for name in MODEL]
    table = raised.groupby(kinds, sort=False).sum()
    table.insert(0, "runs", runs.groupby(kinds, sort=False).size())
    table = table[table[list(raised)].any(axis=1)].reset_index()
    table.columns = table.columns.str.replace("_", " ")
    heads = {"arch": "model", "n transfer": "layers"}
    return table.rename(columns=heads).set_index("model").astype(str)
