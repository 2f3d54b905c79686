"""Judge answers to ordinary requests, not knowing which way of decoding wrote them.

    python -m scripts.judge answer      answer assets/requests/ordinary.jsonl in every way
    python -m scripts.judge ask NAME    read each answer and say whether it is sensible

`answer` leaves out the verdicts of before. `ask` shows answers in an order drawn from NAME, equal
ones once, and keeps what it is told, y or n a line, in assets/results/ordinary.json.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.config import DecodeConfig
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.environment import environment
from sbd_core.evaluation.requests import NTP, answer_requests, gamma_configs
from sbd_core.files import write_text
from sbd_core.models.loading import load

ROOT = Path(__file__).parents[1]
REQUESTS = ROOT / "assets" / "requests" / "ordinary.jsonl"
RESULTS = ROOT / "assets" / "results" / "ordinary.json"
MODEL = "sbd-smollm2-135m"
RULE, GAMMA = "SBD causal token first", 1.5
"""What is compared with next-token prediction, whose words `verify` keeps."""


def answer() -> None:
    """Write the answers of each way."""
    requests = [str(row["prompt"]) for row in read_prompts("requests", REQUESTS)]
    base = DecodeConfig(block_size=4, max_new_tokens=128)
    configs = {NTP: DecodeConfig(strategy="ntp", max_new_tokens=128)}
    configs |= gamma_configs(base, {RULE: (GAMMA,)})
    model = load(MODEL)
    found = answer_requests(model, requests, configs)
    data = {
        "model": model.name,
        "weights": dict(model.weights),
        "runs_on": model.runs_on,
        "max_new_tokens": base.max_new_tokens,
        "requests": requests,
        "answers": {way: [each.text for each in answers] for way, answers in found.items()},
        "sensible": {},
        "circumstances": environment(model.folder),
    }
    write_text(RESULTS, json.dumps(data, indent=1) + "\n")


def ask(name: str) -> None:
    """Have one reader judge every answer, and add the verdicts to the file."""
    data = json.loads(RESULTS.read_text("utf-8"))
    requests, answers = data["requests"], data["answers"]
    texts = {(i, given[i]) for given in answers.values() for i in range(len(requests))}
    order = sorted(texts)
    random.Random(name).shuffle(order)
    verdicts = {}
    for place, (i, text) in enumerate(order, 1):
        print(f"\n[{place} of {len(order)}] {requests[i]}\n\n{text}\n")
        verdicts[i, text] = _asked("Does this answer the request sensibly? y or n: ")
    data = json.loads(RESULTS.read_text("utf-8"))  # others may have judged meanwhile
    data["sensible"][name] = {
        way: [verdicts[i, given[i]] for i in range(len(requests))] for way, given in answers.items()
    }
    write_text(RESULTS, json.dumps(data, indent=1) + "\n")


def _asked(question: str) -> bool:
    while (said := input(question).strip().lower()) not in ("y", "n"):
        pass
    return said == "y"


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 130 stopped by Ctrl-C or the input's end."""
    parser = argparse.ArgumentParser(prog="python -m scripts.judge", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("answer", help="answer the requests in every way")
    steps.add_parser("ask", help="judge the answers").add_argument("name", help="of the reader")
    flags = parser.parse_args(words)
    try:
        answer() if flags.step == "answer" else ask(flags.name)
    except (KeyboardInterrupt, EOFError):
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
