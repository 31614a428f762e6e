"""The numbers printed in the paper's Tables 2 to 5: `table`, `method`, `column`, `value`."""

from pathlib import Path

import pandas as pd

OURS = "Finetuned Transformer LM (ours)"  # the paper's own row in Tables 2 to 4
NUMBERS = pd.read_csv(Path(__file__).with_name("paper_numbers.csv"))
