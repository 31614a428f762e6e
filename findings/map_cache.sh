#!/usr/bin/env bash
# datasets 5.2.0: after an edit of the module that a function is imported from, `map` returns the rows
# that the function made before the edit.
#
# Who meets it: anyone who encodes rows with `rows.map(encode)` where `encode` is imported, corrects
# it (how texts are cut, a label, a delimiter), and trains again.
# A good guess: `map` knows a function by its code, so an edited one runs anew; the documentation
# says that the fingerprint is a hash of the transform.
# Seen: a function of the script that is run is hashed by its code, an imported one by its name and
# module alone. The old rows come from the cache, without a message. With load_from_cache_file=False
# the edit counts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0 pyarrow==26.0.1
cd "$folder"
cat > encoding.py <<'PYTHON'
N_CTX = 4


def encode(row):
    return {"tokens": row["text"].split()[:N_CTX]}
PYTHON
cat > train.py <<'PYTHON'
import sys

import datasets

from encoding import encode

N_CTX = 4


def encode_here(row):
    return {"tokens": row["text"].split()[:N_CTX]}


def tokens(function, **options):
    return len(rows.map(function, **options)["tokens"][0])


assert datasets.__version__ == "5.2.0"
datasets.disable_progress_bars()
rows = datasets.load_dataset("json", data_files="rows.jsonl", split="train", cache_dir="cache")
found = tokens(encode), tokens(encode_here)
if "anew" in sys.argv:
    found = (tokens(encode, load_from_cache_file=False),)
print(*found)
PYTHON
echo '{"text": "one two three four five six"}' > rows.jsonl
run() { HF_HUB_OFFLINE=1 HF_HOME="$folder/home" PYTHONDONTWRITEBYTECODE=1 venv/bin/python train.py "$@"; }
before=$(run)
sed -i 's/^N_CTX = 4/N_CTX = 2/' encoding.py train.py
after=$(run)
anew=$(run anew)
echo "tokens of a row by an imported function, and by one of the script:"
echo "before the edit $before; after it $after; without the cache $anew"
test "$before" = "4 4"
test "$anew" = 2
test "$after" = "4 2" || { echo "an edited module counts now" >&2; exit 1; }
