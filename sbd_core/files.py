"""Atomic writing of files and folders, digests, and the folders of assets and caches."""

import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from sbd_core.errors import ArgumentError, one_line

PACKAGE = Path(__file__).parent
ASSETS = PACKAGE / "assets" if (PACKAGE / "assets").is_dir() else PACKAGE.parent / "assets"
"""Folder of the assets: inside an installed package, beside the package in a checkout."""
NO_CACHE = Path(os.devnull) / "SBD_CACHE must name a folder, as there is no home folder"
"""Path of which nothing can be read and where nothing can be written; errors show it."""


def cache_folder() -> Path:
    """The package's cache folder: SBD_CACHE if set, else sbd_core in the user's cache folder."""
    own, root = os.environ.get("SBD_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own).expanduser()
    try:
        return (Path(root).expanduser() if root else Path.home() / ".cache") / "sbd_core"
    except RuntimeError:  # neither HOME nor an account, as in containers
        return NO_CACHE


def read_file(path: Path) -> bytes:
    """Read a file or a pipe. Raises OSError, also for a device, as reading it might never end."""
    if path.is_char_device() or path.is_block_device():
        raise OSError(errno.EINVAL, "it is a device")
    return path.read_bytes()


def require_writable(argument: str, path: Path) -> None:
    """Raise ArgumentError for `argument` unless a file can be written at `path`."""
    folder = path.absolute().parent
    try:
        is_fine = folder.is_dir() and os.access(folder, os.W_OK) and not path.is_dir()
    except (OSError, ValueError):  # a name too long
        is_fine = False
    if not is_fine or "\0" in str(path):
        rule = "must be a file in a folder that exists and can be written"
        raise ArgumentError(argument, rule, str(path))


def write_text(path: Path, text: str) -> None:
    """Write `text` in UTF-8 with write_bytes()."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically: `path` never holds only a part of `data`.

    Raises ArgumentError if the file cannot be written; an old file at `path` is then unchanged.
    """
    temporary = path.with_name(f".{uuid4().hex}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise ArgumentError("file", f"must be writable ({error.strerror})", str(path)) from error


def require_new_folder(out: str | Path) -> Path:
    """Check that `out` is a new or an empty folder, and return its path. Raises ArgumentError."""
    target = Path(out)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise ArgumentError("out", "must be a new folder or an empty one", str(out))
    return target


@contextmanager
def replaced_folder(folder: Path, argument: str = "out") -> Iterator[Path]:
    """Yield a new folder to fill, which replaces `folder` when the `with` block ends.

    argument: the name of `folder` in error messages.
    If the process is killed or the disk is full, the old or the new folder is still complete. After
    a kill the old folder may lie beside `folder` under another name; recover() brings it back.
    Raises ArgumentError if the new folder cannot be written.
    """
    fresh, old = beside(folder, "new"), beside(folder, "old")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        recover(folder)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        yield fresh
        # Flushed before the renames, so that even a power failure leaves one folder whole.
        for entry in (*fresh.rglob("*"), fresh):
            flush(entry)
        if folder.exists():
            os.rename(folder, old)
        os.rename(fresh, folder)
        flush(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except Exception as error:
        if not _is_of_the_disk(error):
            raise
        rule = f"cannot be written: {one_line(error)}"
        raise ArgumentError(argument, rule, str(folder)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


OF_TORCH_SAVE = ("PytorchStreamWriter", "inline_container.cc", "iostream error")
"""Parts of the messages of the RuntimeErrors that torch.save() raises where a disk is full."""


def _is_of_the_disk(error: Exception) -> bool:
    """Whether writing failed: Python, safetensors, torch and tokenizers raise different errors."""
    return (
        isinstance(error, OSError)
        or type(error).__name__ == "SafetensorError"
        or (type(error) is RuntimeError and any(name in str(error) for name in OF_TORCH_SAVE))
        or (type(error) is Exception and "os error" in str(error))  # of tokenizers
    )


def recover(folder: Path) -> None:
    """Bring back the old folder of a killed replaced_folder(), or remove it if `folder` exists."""
    old = beside(folder, "old")
    if old.exists() and not folder.exists():
        os.rename(old, folder)
    shutil.rmtree(old, ignore_errors=True)


def beside(path: Path, kind: str) -> Path:
    """Return the path .NAME.KIND beside a file or folder called NAME, for another version of it."""
    path = path.absolute()
    return path.with_name(f".{path.name}.{kind}")


def flush(path: Path) -> None:
    """Force a file or folder onto the disk (fsync); does nothing for folders on Windows."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


ABANDONED_SECONDS = 3600
"""Age, in seconds, above which a work folder counts as abandoned by a killed process."""


def fill_cache(folder: Path, write: Callable[[Path], object]) -> None:
    """Make a folder of a cache, unless another process makes it first. write: fills a new folder.

    Removes work folders beside it that are over an hour old. Raises ArgumentError if the cache
    cannot be written.
    """
    for work in folder.parent.glob(".*"):
        with suppress(OSError):
            if time.time() - work.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(work)
    own = beside(folder, f"{os.getpid()}-{threading.get_ident()}")
    with replaced_folder(own, "SBD_CACHE") as fresh:
        write(fresh)
    try:
        own.rename(folder)
    except OSError as error:
        shutil.rmtree(own)
        if not folder.exists():
            rule = f"cannot be written: {one_line(error)}"
            raise ArgumentError("SBD_CACHE", rule, str(folder)) from error


def sha256(*paths: Path) -> str:
    """Return the SHA-256, in hexadecimal, of the files' bytes joined together. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(2**20):
                digest.update(part)
    return digest.hexdigest()


def weights_sha256(folder: Path) -> str | None:
    """SHA-256 of a folder's safetensors, in name order; None if there are none. Raises OSError."""
    files = sorted(folder.glob("*.safetensors"))
    return sha256(*files) if files else None
