"""A load, fault and hostile-input campaign against the page and the command line.

`python -m tests.campaign` runs all of it, prints the targets beside what was found and writes
assets/results/campaign.json; test_short_form.py is what the gate runs. Loopback only, bounded in
time and count.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
