"""Processes forked from a server that has imported already what takes long.

Multiprocessing has one server in a process, so what any test wants of it is named here.
"""

import multiprocessing

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.workflow.preloaded", "gpt1.pretrain", "tests.gpt1.toy"])
