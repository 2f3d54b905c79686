"""Commands that write committed files, the site or figures; sbd_core and ui never import them."""

import os
import signal
import sys

if sys.argv[:1] == ["-m"]:  # python -m scripts.NAME: Ctrl-C while it is imported
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
