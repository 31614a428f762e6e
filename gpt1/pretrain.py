"""Pre-train a language model on the corpus: random windows, warm-up, cosine, checkpoints.

    python -m gpt1 pretrain transformer --corpus results/corpus/corpus.json --settings JSON ...

Several processes train one model if torchrun starts them:

    torchrun --standalone --nproc-per-node=2 -m gpt1 pretrain transformer ...
"""

import argparse
from pathlib import Path

from gpt1.cell import ARCHS
from gpt1.settings import PretrainSettings
from gpt1.training.distributed import join
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from gpt1.training.training_log import event_writer


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=ARCHS)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--settings", required=True, type=PretrainSettings.parse)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, part of the work key")
    parser.add_argument("--work", required=True, type=Path, help="folder of resumable runs")
    parser.add_argument("--out", required=True, type=Path)
    a = parser.parse_args()
    processes, runtime = join(a.runtime)
    runtime.start()
    training = Pretraining(a.arch, a.corpus, a.settings, runtime, a.work, a.code, processes)
    if runtime.tensorboard and processes.leads:
        training.log.events = event_writer(a.out, training.optimizer.updates)
    training.train()
    training.publish(a.out)
    processes.close()
