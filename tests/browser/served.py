"""Serves a scripted model's page in a process of its own, which a test may kill.

python -m tests.browser.served PORT SECONDS_A_PASS
"""

import sys

from tests.browser.conftest import slowed
from tests.ui.doubles import story_model
from ui import page


def main() -> None:
    """Serves until it is killed."""
    port, seconds = sys.argv[1:]
    demo = page.build(slowed(story_model(), float(seconds)))
    address = {"server_name": "127.0.0.1", "server_port": int(port)}
    demo.launch(quiet=True, **address, **page.launch_options())


if __name__ == "__main__":
    main()
