"""Write the digests of all that is made from the run as it is made now."""

import json
import tempfile
from pathlib import Path

from tests.golden import DIGESTS, build

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = build(Path(folder))
    DIGESTS.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} digests")
