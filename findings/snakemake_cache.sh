#!/usr/bin/env bash
# Snakemake 9.27.1: a cached rule does not know its inputs apart, so training on A and testing on B
# has the result of training on B and testing on A.
#
# Who meets it: anyone who marks a costly rule `cache: True` (caching between workflows) and tests
# across data sets, by folds or in two directions, as in SNLI to MNLI and back.
# A good guess: the key of the cache holds all that the documentation asks rules to declare: the
# command, the parameters, and which input is which. The body of a `run` is hashed as a script's is.
# Seen: the digests of inputs are sorted before they enter the key, so `train` and `test` may be
# exchanged; and the body of `run` is not in it, so two rules with other bodies, or one whose body was
# edited, get the same file. The first one made is linked for the other. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check snakemake==9.27.1
cd "$folder"
test "$(venv/bin/snakemake --version)" = 9.27.1
mkdir cache
cat > Snakefile <<'SNAKEFILE'
rule all:
    input:
        "snli_to_mnli.txt", "mnli_to_snli.txt", "mean.txt", "largest.txt"

rule transfer:
    input:
        train="{one}.rows", test="{other}.rows"
    output:
        "{one}_to_{other}.txt"
    cache: True
    shell:
        "echo trained on $(cat {input.train}), tested on $(cat {input.test}) > {output}"

rule mean:
    input:
        "scores"
    output:
        "mean.txt"
    cache: True
    run:
        scores = [float(x) for x in open(input[0])]
        print(sum(scores) / len(scores), file=open(output[0], "w"))

rule largest:
    input:
        "scores"
    output:
        "largest.txt"
    cache: True
    run:
        print(max(float(x) for x in open(input[0])), file=open(output[0], "w"))
SNAKEFILE
echo SNLI > snli.rows
echo MNLI > mnli.rows
printf '80\n90\n' > scores
SNAKEMAKE_OUTPUT_CACHE="$folder/cache" venv/bin/snakemake --cores 1 --cache > log.txt 2>&1 || { cat log.txt; exit 1; }
for result in snli_to_mnli mnli_to_snli mean largest; do echo "$result: $(cat $result.txt)"; done
cmp snli_to_mnli.txt mnli_to_snli.txt || { echo "inputs are told apart now" >&2; exit 1; }
cmp mean.txt largest.txt || { echo "the body of run is in the key now" >&2; exit 1; }
rm -rf ./*.txt .snakemake
venv/bin/snakemake --cores 1 > log.txt 2>&1 || { cat log.txt; exit 1; }
echo "without the cache:"
for result in snli_to_mnli mnli_to_snli mean largest; do echo "$result: $(cat $result.txt)"; done
! cmp -s snli_to_mnli.txt mnli_to_snli.txt && ! cmp -s mean.txt largest.txt
