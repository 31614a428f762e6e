#!/usr/bin/env bash
# Snakemake 9.27.1: `--config aux_loss=false` is true.
#
# Who meets it: anyone who switches something off on the command line, in a workflow that says
# `if config["aux_loss"]`, as ablations do.
# A good guess: a value of --config is read like one of a config file, so `false` is False there and
# inside braces, and 0.5 is a number.
# Seen: plain values are read as Python's True and False, as numbers, or left as text, so `false`,
# `no` and `off` are text that counts as true; inside braces or brackets every value is text, also
# False and numbers. With the same line in a file the switch is off. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check snakemake==9.27.1
cd "$folder"
test "$(venv/bin/snakemake --version)" = 9.27.1
cat > Snakefile <<'SNAKEFILE'
rule all:
    output:
        "used.txt"
    run:
        of = config["finetune"]
        with open(output[0], "w") as file:
            print("plain", "on" if config["aux_loss"] else "off", file=file)
            print("nested", "on" if of["aux_loss"] else "off", type(of["lm_coef"]).__name__, file=file)
SNAKEFILE
printf 'aux_loss: true\nfinetune: {aux_loss: true, lm_coef: 0.5}\n' > default.yaml
printf 'aux_loss: false\nfinetune: {aux_loss: false, lm_coef: 0.1}\n' > off.yaml
used() {
  venv/bin/snakemake --cores 1 --forceall --configfile default.yaml "$@" > log.txt 2>&1 || { cat log.txt; exit 1; }
  tr '\n' ';' < used.txt
}
file=$(used off.yaml)
line=$(used --config aux_loss=false 'finetune={aux_loss: false, lm_coef: 0.1}')
python=$(used --config aux_loss=False 'finetune={aux_loss: False, lm_coef: 0.1}')
echo "in a second file: $file"
echo "on the command line: $line"
echo "as Python writes it: $python"
test "$file" = "plain off;nested off float;"
test "$line" = "plain on;nested on str;" || { echo "false is False now" >&2; exit 1; }
test "$python" = "plain off;nested on str;" || { echo "False inside braces is False now" >&2; exit 1; }
