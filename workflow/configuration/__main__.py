"""`python -m workflow.configuration` prints configs and what can stand in them."""

import sys

from tasks.common.programs import start

if __name__ == "__main__":
    sys.exit(start("workflow.configuration.show"))
