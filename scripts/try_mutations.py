"""Tries every fault of tests/mutations.py in a copy of the checkout: do its tests notice it?

python -m scripts.try_mutations [--out FILE] [--only TEXT]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[1]
COPIED = ("sbd_core", "tests", "scripts", "ui", "pyproject.toml", "app.py")


def outcome(mutation: Mutation, checkout: Path) -> str:
    """ "killed" if a test fails by the fault, "survived" if none does, "gone" without its text."""
    file = checkout / mutation.file
    text = file.read_text("utf-8") if file.is_file() else ""
    if text.count(mutation.old) != 1:
        return "gone"
    file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
    try:
        return "survived" if do_pass(mutation.tests, checkout) else "killed"
    finally:
        file.write_text(text, "utf-8")


def do_pass(tests: Sequence[str], checkout: Path) -> bool:
    """Whether all tests in the files `tests` pass. Exits if they cannot be run."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *tests], cwd=checkout, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout}")
    return done.returncode == 0


def main() -> None:
    """Try the mutations, print a line for each, and write all outcomes as JSON to --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file of {fault: outcome} to write")
    parser.add_argument("--only", default="", help="try the faults whose words have this text")
    arguments = parser.parse_args()
    outcomes: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder)
        for name in COPIED:
            source = ROOT / name
            ignored = shutil.ignore_patterns("node_modules", "__pycache__")
            if source.is_dir():
                shutil.copytree(source, checkout / name, ignore=ignored)
            else:
                shutil.copy2(source, checkout)
        for name in ("assets", "docs"):
            (checkout / name).symlink_to(ROOT / name)
        tried = [mutation for mutation in MUTATIONS if arguments.only in mutation.fault]
        tests = dict.fromkeys(name for mutation in tried for name in mutation.tests)
        if not do_pass(tuple(tests), checkout):
            raise SystemExit("the tests fail without any fault")
        for mutation in tried:
            outcomes[mutation.fault] = outcome(mutation, checkout)
            print(f"{outcomes[mutation.fault]:8} {mutation.file}: {mutation.fault}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(outcomes, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
