"""Tries a stranger's chat template in a child process with little time and memory.

Knows nothing of tokens. Other faults of a template show when it is first used, see chat.py.
"""

import json
import subprocess
import sys
from functools import lru_cache
from typing import Any

from sbd_core.errors import ModelError, shown

MAX_CHARACTERS = 1_000_000
"""Longest text in characters that a template may make of a few words."""
CPU_SECONDS = 5
MEMORY_BYTES = 2**30
"""Memory that the child process may take beyond what it has at the start."""
WALL_SECONDS = 120.0
TOO_LONG, TOO_LARGE = 3, 4
REASONS = {
    TOO_LONG: f"takes more than {CPU_SECONDS} seconds",
    TOO_LARGE: "makes more text, or takes more memory, than any prompt needs",
}
TALK = ("user", "assistant", "user")

# Runs in the child process. Any other fault of a template is reported at its first use.
CHILD = """
import json, sys
from transformers.utils.chat_template_utils import render_jinja_template
template, roles, special, most, seconds, memory, too_long, too_large = json.load(sys.stdin)
try:
    import resource, signal
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory,) * 2)
    signal.signal(signal.SIGPROF, lambda *_: sys.exit(too_long))
    signal.setitimer(signal.ITIMER_PROF, seconds)
except (ImportError, OSError, ValueError):
    pass  # the parent's limit on time stays
talk = [{"role": role, "content": "a prompt"} for role in roles]
size = 0
try:
    for messages in (talk[:1], talk):
        for is_open in (True, False):
            texts, _ = render_jinja_template(
                [messages], chat_template=template, add_generation_prompt=is_open, **special
            )
            size = max(size, len(texts[0]))
except MemoryError:
    sys.exit(too_large)
except Exception:
    pass
sys.exit(too_large if size > most else 0)
"""


def require_bounded_template(tokenizer: Any, name: str) -> None:
    """Raise ModelError for a chat template that takes more time or memory than a prompt may.

    name: what the error calls the model. Trying a new template takes a second.
    """
    template = tokenizer.chat_template
    if not isinstance(template, str):
        return
    special = {key: str(text) for key, text in tokenizer.special_tokens_map.items()}
    status = _status_of(template, json.dumps(special))
    if status in REASONS:
        raise ModelError(f"{name}: its chat template cannot be used: it {REASONS[status]}")


@lru_cache(maxsize=8)
def _status_of(template: str, special: str) -> int:
    """Try a template in a child process: 0, TOO_LONG or TOO_LARGE. special: tokens, as JSON."""
    """Try a template in a child process: 0, TOO_LONG or TOO_LARGE. special: tokens, as JSON."""
    """Try a template in a child process: 0, TOO_LONG or TOO_LARGE. special: tokens, as JSON."""
    limits = (MAX_CHARACTERS, CPU_SECONDS, MEMORY_BYTES, TOO_LONG, TOO_LARGE)
    request = json.dumps([template, TALK, json.loads(special), *limits])
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=request,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TOO_LONG
    except OSError as error:
        rule = "its chat template cannot be tried, as no process can be started"
        raise ModelError(f"model: {rule}: {shown(error)}") from error
    # A child that was killed took more than the machine has.
    return TOO_LARGE if done.returncode < 0 else done.returncode
