#!/usr/bin/env bash
# Snakemake 9.27.1: an edited whole number of a table of runs does not run the job again.
#
# Who meets it: anyone who lists runs in a table (task, training rows, learning rate) and gives a cell
# of it to `params`, or exchanges two values in a config.
# A good guess: `params` are compared with those of the last run, and any change runs the job again;
# the help says that this guarantees results that fit code and configuration.
# Seen: a column of whole numbers or of booleans gives NumPy's types, which are left out of the
# comparison: 100 rows become 500, no job runs, and the result stays that of 100. A fraction of the
# same table is compared, and so is the number as Python's int. Values are compared without their
# names, so an exchange of two, 12 layers and 6 heads for 6 and 12, is none. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check snakemake==9.27.1 pandas==3.1.1
cd "$folder"
test "$(venv/bin/snakemake --version)" = 9.27.1
cat > Snakefile <<'SNAKEFILE'
import pandas as pd

runs = pd.read_csv("runs.csv", index_col="task")

rule all:
    input:
        "rows.txt", "cased.txt", "lr.txt", "python.txt", "shape.txt"

rule rows:
    output:
        "rows.txt"
    params:
        rows=lambda wildcards: runs.loc["sst2", "rows"]
    shell:
        "echo {params.rows} > {output}"

rule cased:
    output:
        "cased.txt"
    params:
        cased=lambda wildcards: runs.loc["sst2", "cased"]
    shell:
        "echo {params.cased} > {output}"

rule lr:
    output:
        "lr.txt"
    params:
        lr=lambda wildcards: runs.loc["sst2", "lr"]
    shell:
        "echo {params.lr} > {output}"

rule python:
    output:
        "python.txt"
    params:
        rows=lambda wildcards: int(runs.loc["sst2", "rows"])
    shell:
        "echo {params.rows} > {output}"

rule shape:
    output:
        "shape.txt"
    params:
        layers=config["layers"], heads=config["heads"]
    shell:
        "echo {params.layers} layers, {params.heads} heads > {output}"
SNAKEFILE
run() {
  printf 'task,rows,cased,lr\nsst2,%s,%s,%s\n' "$1" "$2" "$3" > runs.csv
  venv/bin/snakemake --cores 1 --config "layers=$4" "heads=$5" > log.txt 2>&1 || { cat log.txt; exit 1; }
  for result in rows cased lr python shape; do echo "$result: $(cat $result.txt)"; done > "$6"
}
run 100 True 0.5 12 6 before
run 500 False 0.1 6 12 after
rm -rf ./*.txt .snakemake
run 500 False 0.1 6 12 afresh
echo "before the edit; after it; from scratch"
paste -d ';' before after afresh
state() {  # whether a result is that of the old values, or that of the new ones
  local before after afresh
  before=$(grep "^$1:" before) after=$(grep "^$1:" after) afresh=$(grep "^$1:" afresh)
  test "$before" != "$afresh"
  if test "$after" = "$before"; then echo old; elif test "$after" = "$afresh"; then echo new; fi
}
for result in lr python; do test "$(state $result)" = new; done
for result in rows cased shape; do
  test "$(state $result)" = old || { echo "$result: the change is noticed now" >&2; exit 1; }
done
