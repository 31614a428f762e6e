"""A value of a config that its key cannot have is one line, and so is a key that there is not."""

import math

from tests.workflow.configs import check_fault, each_fault

WRONG = [
    (
        "experiment.pretrain.updates",
        40.0,
        "experiment.pretrain.updates: 40.0 is not a whole number; expected: number of updates",
    ),
    (
        "experiment.finetune.eval_train",
        2**41,
        "experiment.finetune.eval_train: 2199023255552 is invalid; expected: training rows over "
        "which the train score is taken (at most 1099511627776)",
    ),
    (
        "experiment.seeds.pretrain",
        [2**63],
        "experiment.seeds.pretrain.0: 9223372036854775808 is invalid; expected: seeds of "
        "pre-training (weights, windows and dropout), one model each (less than "
        "9223372036854775808)",
    ),
    (
        "experiment.pretrain.seed",
        0,
        "experiment.pretrain.seed: unknown key; known here: updates, warmup, batch, dropout, "
        "heldout_tokens, lr, checkpoints",
    ),
    (
        "experiment.seeds.shuffled",
        [],
        "experiment.seeds.shuffled: [] is invalid; expected: seeds of pre-training on the shuffled "
        "books (null: those of pretrain) (length at least 1)",
    ),
    *(
        (
            "experiment.optimizer.l2",
            value,
            f"experiment.optimizer.l2: {value} is not a finite number; expected: weight decay",
        )
        for value in (math.nan, math.inf, -math.inf)
    ),
    (
        "experiment.finetune",
        3,
        "experiment.finetune: 3 is not a section of keys; expected: how a cell is fine-tuned on "
        "its task",
    ),
    (
        "experiment.zero_shot.tasks",
        {"rte": {}},
        "experiment.zero_shot.tasks.rte: unknown task; known here: sst2, cola, race, dprd",
    ),
    (
        "experiment.grid.layers.lstm",
        ["some"],
        "experiment.grid.layers.lstm.0: 'some' is invalid; expected: the same for the LSTM",
    ),
    (
        "experiment.corpus.heldout",
        "some",
        "experiment.corpus.heldout: 'some' is invalid; expected: what the perplexity is measured "
        "on: a number of documents (chosen by the digest of their names), a list of file names, or "
        "official, the split that the publisher of the source set apart",
    ),
    (
        "experiment.model.transformer.n_embd",
        10**12,
        "experiment.model.transformer.n_embd: 1000000000000 is invalid; expected: width of the "
        "hidden states; divisible by n_head (at most 65536)",
    ),
    (
        "experiment.model.init_std",
        1e38,
        "experiment.model.init_std: 1e+38 is invalid; expected: standard deviation of the initial "
        "weights (at most 100.0)",
    ),
    (
        "data",
        3,
        "data: 3 is not text or null; expected: the folder of the raw data (null: the embedded "
        "world)",
    ),
    *(
        (
            "results",
            value,
            f"results: {value!r} is invalid; expected: the folder that everything is written to, "
            "a path of letters, digits and _ . / - alone",
        )
        for value in ("my\nresults", "results\n", "")
    ),
    (
        "experiment.finetune.epoch",
        3,
        "experiment.finetune.epoch: unknown key; did you mean epochs?",
    ),
    ("bogus", 1, "bogus: unknown key; known here: results, data, experiment, runtime"),
    (
        "experiment.pretrain.lr.transformer",
        "1e-4",
        "experiment.pretrain.lr.transformer: '1e-4' is not a number (it is text to YAML; write "
        "1.0e-4); expected: peak learning rate, such as 6.25e-5",
    ),
    (
        "experiment.pretrain.updates",
        2.5,
        "experiment.pretrain.updates: 2.5 is not a whole number; expected: number of updates",
    ),
    (
        "experiment.pretrain.updates",
        0,
        "experiment.pretrain.updates: 0 is invalid; expected: number of updates (at least 1)",
    ),
    (
        "experiment.tasks.wnli",
        {"folder": "WNLI"},
        "experiment.tasks.wnli: unknown task; did you mean snli?",
    ),
    (
        "experiment.world.rows",
        {"wnli": 60},
        "experiment.world.rows.wnli: unknown task; did you mean snli?",
    ),
    (
        "experiment.submission",
        "yes",
        "experiment.submission: 'yes' is not true or false; expected: whether GLUE's unlabelled "
        "test rows are predicted as well, for glue_submission.zip",
    ),
    (
        "experiment.grid.aux",
        [True],
        'experiment.grid.aux.0: True is invalid; expected: a list of "on" and "off", with and '
        "without the auxiliary LM loss; in quotes, since YAML reads a bare on as true (on, off)",
    ),
    (
        "experiment.grid.arch",
        ["gru"],
        "experiment.grid.arch.0: 'gru' is invalid; expected: a list of transformer and lstm "
        "(transformer, lstm)",
    ),
    (
        "experiment.seeds.finetune",
        [1, 1],
        "experiment.seeds.finetune: [1, 1] is invalid; expected: seeds of fine-tuning; the i-th "
        "starts from the i-th seed of pretrain, beginning again after the last (each only once)",
    ),
    (
        "experiment.tasks.rte.min_rows",
        {"dev": 0},
        "experiment.tasks.rte.min_rows.dev: 0 is invalid; expected: where the files are a subset "
        "of the published ones, the least number of rows of a split, such as {test: 9818} (at "
        "least 1)",
    ),
    (
        "runtime.device",
        "gpu",
        "runtime.device: 'gpu' is invalid; expected: cpu, cuda, cuda:0 or mps",
    ),
    (
        "results",
        "my {results}",
        "results: 'my {results}' is invalid; expected: the folder that everything is written to, "
        "a path of letters, digits and _ . / - alone",
    ),
    (
        "experiment.tasks.rte.report_on",
        [],
        "experiment.tasks.rte.report_on: [] is invalid; expected: the official splits that are "
        "reported (default: the task's own) (length at least 1)",
    ),
    (
        "experiment.tasks.rte",
        None,
        "experiment.tasks.rte: null is not a section of keys; expected: a task of the grid: where "
        "its data is, its limits, and its own training settings",
    ),
    (
        "results",
        "-r",
        "results: '-r' is invalid; expected: the folder that everything is written to, a path of "
        "letters, digits and _ . / - alone",
    ),
    (
        "runtime.corpus_shards",
        10**7,
        "runtime.corpus_shards: 10000000 is invalid; expected: number of jobs that normalising the "
        "corpus is cut into; the tokens stay the same, changing it repeats the merge (at most "
        "10000)",
    ),
]


@each_fault(WRONG)
def test_a_fault_is_one_line(path, value, line):
    check_fault(path, value, line)
