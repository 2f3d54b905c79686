"""write_custom_generate(): copies the engine's source to the custom_generate/ of a model folder.

transformers copies only files directly beside custom_generate/generate.py, so each module that
generate() needs becomes one: sbd_core/decoding/sbd.py is decoding_sbd.py there, its imports
rewritten. A folder then decodes without this package installed.
"""

import re
import shutil
from pathlib import Path

from sbd_core.files import PACKAGE

ENTRY = "sbd_core.hf.folder_generate"
IMPORT = re.compile(r"^from sbd_core\.([\w.]+) import ", re.MULTILINE)
LAZY_IMPORT = re.compile(r"^( +)from sbd_core\.([\w.]+) import (?:\([^)]*\)|[^\n]*)", re.MULTILINE)
"""Imports within functions that generate() never calls, such as the reading of traces."""
REQUIREMENTS = "torch>=2.9\ntransformers>=5.20\n"
GENERATE = '''"""model.generate() with Set Block Decoding (arXiv 2509.04185)."""

from .hf_folder_generate import generate

__all__ = ["generate"]
'''
NOTE = "# Written by sbd_core.hf.vendoring from sbd_core/{path}; change that file instead.\n"


def write_custom_generate(folder: Path) -> Path:
    """Write `folder`/custom_generate, replacing it, and return its path. Raises OSError."""
    target = folder / "custom_generate"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    files = {"generate.py": GENERATE, "requirements.txt": REQUIREMENTS}
    waiting = [ENTRY]
    while waiting:
        module = waiting.pop()
        if _file_name(module) in files:
            continue
        path = "/".join(module.split(".")[1:]) + ".py"
        text = (PACKAGE / path).read_text(encoding="utf-8")
        waiting += [f"sbd_core.{name}" for name in IMPORT.findall(text)]
        text = LAZY_IMPORT.sub(r'\1raise ImportError("sbd_core.\2: pip install sbd-core")', text)
        text = IMPORT.sub(lambda match: f"from .{match[1].replace('.', '_')} import ", text)
        files[_file_name(module)] = NOTE.format(path=path) + text
    for name, text in files.items():
        (target / name).write_text(text, encoding="utf-8")
    return target


def _file_name(module: str) -> str:
    return module.removeprefix("sbd_core.").replace(".", "_") + ".py"
