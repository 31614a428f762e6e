"""Takes the place of every program: makes the outputs of its rule, or fails as it is told.

python stand_in.py -m PROGRAM ... --rule RULE --log LOG --inputs ... --outputs ...

FAILING names the rules that fail, MOMENT when. Each call is noted in calls.jsonl.
"""

import json
import os
import signal
import sys
from pathlib import Path

PLACES = ("--rule", "--log", "--inputs", "--outputs")


def main() -> None:
    starts = [sys.argv.index(name) for name in PLACES] + [len(sys.argv)]
    spans = (sys.argv[a + 1 : b] for a, b in zip(starts, starts[1:], strict=False))
    (rule,), (log,), inputs, outputs = spans
    call = {"rule": rule, "program": sys.argv[2], "log": log, "inputs": inputs, "outputs": outputs}
    with open("calls.jsonl", "ab", buffering=0) as file:  # of jobs side by side
        file.write(f"{json.dumps(call)}\n".encode())
    moment = os.environ["MOMENT"] if rule in os.environ["FAILING"].split() else ""
    line = f"error: {sys.argv[2]}: {inputs[0] if inputs else 'no input'}: damaged; make it again"
    if moment == "before it writes":
        sys.exit(line)
    print("half of it is done", flush=True)
    for place, output in enumerate(map(Path, outputs)):
        if place == len(outputs) // 2 and moment == "while it writes":
            sys.exit(line)
        if place == len(outputs) // 2 and moment == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        folder = output if not output.suffix else output.parent
        folder.mkdir(parents=True, exist_ok=True)
        (output if output.suffix else output / "rows").write_text("made")
    if moment == "after its outputs":
        sys.exit(line)


if __name__ == "__main__":
    main()
