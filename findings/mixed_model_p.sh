#!/usr/bin/env bash
# statsmodels 0.15.0: MixedLM, fitted as by default to right and wrong answers of six runs, is often
# far from the optimum that the same data have in closed form.
#
# Who meets it: anyone who tests two ways of training by a mixed model of 0/1 answers (three runs a
# side, 400 rows each, a random intercept for each run), as papers on seeds recommend.
# A good guess: the rows are the same in every run, so the estimate is that of the textbook (mean
# squares between and within runs), and p agrees with it to three digits wherever the fit says that
# it has converged (`converged`); where it has not, p is nearly right.
# Seen: of 40 simulated data sets 32 agree. In 7 `converged` is False, and p is then not nearly right:
# 0.73 for 0.01, 0.90 for 0.36. In one it is True, after a warning that another optimizer was tried,
# and p is 0.90 for 0.33. So a difference that is there is missed; nothing raises.
# The numbers of such sets may differ by a few with the machine's rounding.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  statsmodels==0.15.0 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
import statsmodels
import statsmodels.api as sm
from scipy import stats

assert statsmodels.__version__ == "0.15.0"
ROWS, RUNS = 400, 6


def closed_form(answers):
    """p of the side's effect by restricted maximum likelihood in a balanced design."""
    mean = answers.mean(axis=1)
    sides = mean[:3], mean[3:]
    between = ROWS * sum(((side - side.mean()) ** 2).sum() for side in sides)
    within = ((answers - mean[:, None]) ** 2).sum()
    df = RUNS - 2, answers.size - RUNS
    square = between / df[0]
    if square < within / df[1]:  # no variance between runs
        square = (between + within) / sum(df)
    error = np.sqrt(square / ROWS * (2 / 3))
    return 2 * stats.norm.sf(abs(sides[1].mean() - sides[0].mean()) / error)


far, converged = [], []
for seed in range(40):
    rng = np.random.default_rng(seed)
    shares = np.clip(rng.normal(0.8, 0.03, (RUNS, 1)), 0.1, 0.95)
    answers = (rng.random((RUNS, ROWS)) < shares) * 1.0
    side = np.repeat(np.arange(RUNS) >= 3, ROWS).astype(float)
    runs = np.repeat(np.arange(RUNS), ROWS)
    fitted = sm.MixedLM(answers.ravel(), sm.add_constant(side), groups=runs).fit()
    p, expected = float(fitted.pvalues[1]), closed_form(answers)
    if abs(np.log(p / expected)) > 0.2:
        far.append(seed)
        converged += [seed] * bool(fitted.converged)
        said = "has converged" if fitted.converged else "has not converged"
        print(f"data set {seed}: p {p:.3f}, closed form {expected:.3f}; the fit {said}")
print(f"{len(far)} of 40 far from the closed form, {len(converged)} of them converged, they say")
assert 4 <= len(far) <= 14, "statsmodels agrees with the closed form more, or less, often now"
PYTHON
