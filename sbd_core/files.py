"""Files written so that a reader sees the old text or the new one, never half; digests; assets."""

import errno
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from sbd_core.errors import ArgumentError

PACKAGE = Path(__file__).parent
ASSETS = PACKAGE / "assets" if (PACKAGE / "assets").is_dir() else PACKAGE.parent / "assets"
"""In an installed package inside it, in a checkout beside it."""


def cache_folder() -> Path:
    """The folder of bases, graphs and measured costs: SBD_CACHE, else the user's cache folder."""
    own, root = os.environ.get("SBD_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own).expanduser()
    return (Path(root).expanduser() if root else Path.home() / ".cache") / "sbd_core"


def read_file(path: Path) -> bytes:
    """The bytes of a file or pipe. Raises OSError; also for a device, some of which never end."""
    if path.is_char_device() or path.is_block_device():
        raise OSError(errno.EINVAL, "it is a device")
    return path.read_bytes()


def require_writable(argument: str, path: Path) -> None:
    """Raise ArgumentError unless `path` is a file that could be written now, there or not yet."""
    folder = path.absolute().parent
    try:
        is_fine = folder.is_dir() and os.access(folder, os.W_OK) and not path.is_dir()
    except (OSError, ValueError):  # a name too long
        is_fine = False
    is_fine = is_fine and "\0" not in str(path)
    if not is_fine:
        rule = "must be a file in a folder that exists and can be written"
        raise ArgumentError(argument, rule, str(path))


def write_text(path: Path, text: str) -> None:
    """write_bytes() of UTF-8 text."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to a temporary file beside `path`, then rename it.

    Raises ArgumentError if that cannot be done; the old file is then untouched.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            temporary = file.name
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise ArgumentError("file", f"must be writable ({error.strerror})", str(path)) from error


WRITING = ".writing-"
ABANDONED_SECONDS = 3600
"""After which a folder that is still being written is one whose process was killed."""


def new_work_folder(parent: Path) -> Path:
    """A folder in `parent` to write in and move from; those of killed processes are removed."""
    parent.mkdir(parents=True, exist_ok=True)
    for old in parent.glob(f"{WRITING}*"):
        if time.time() - old.stat().st_mtime > ABANDONED_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=WRITING, dir=parent))


def sha256(*paths: Path) -> str:
    """SHA-256 of the bytes of files, one after the other, in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(2**20):
                digest.update(part)
    return digest.hexdigest()


def weights_sha256(folder: Path) -> str | None:
    """SHA-256 of a folder's safetensors, shards in order; None without any. Raises OSError."""
    files = sorted(folder.glob("*.safetensors"))
    return sha256(*files) if files else None
