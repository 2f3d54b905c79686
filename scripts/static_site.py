"""Writes the page as a folder of static files that decodes in the visitor's own browser.

python -m scripts.static_site --out DIR                      nano and SmolLM2 (after sbd fetch)
python -m scripts.static_site --out DIR --models nano        nano alone
python -m scripts.static_site --out DIR --models FOLDER ...  other models

Any web host, such as `python -m http.server -d DIR`, can serve DIR. DIR holds the README.md that a
static Hugging Face Space needs. After the first visit the page works offline. DIR must be new,
empty, or written by this command before. Its contents are replaced once the new ones are complete.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from sbd_core.cli.output import interruptible
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.files import ASSETS, replaced_folder, require_new_folder
from sbd_core.models.model_folder import CHECKPOINTS, DEFAULT_CHECKPOINT, REAL_MODEL, WEB_MANIFEST
from sbd_core.models.web_folder import WebFolder, keep_export
from ui.page import (
    DIST,
    GPU_RUNTIME,
    RUNTIME,
    entry_of_export,
    made_files,
    page_files,
    page_html,
)

MODELS = {"nano": DEFAULT_CHECKPOINT, "smollm2": CHECKPOINTS / REAL_MODEL}
MARKER = "sbd-site.json"
"""File that marks a folder as written by this command, which may write it again."""
PICTURE = ASSETS / "pictures" / "static-site-1440-light.png"
SPACE = Path(__file__).with_name("site_readme.md")


def write_site(out: Path, exports: Sequence[WebFolder]) -> dict[str, int]:
    """Write the site; return the size in bytes of every file by its path in `out`.

    exports: the models of the site, of different names; the page opens with the first.
    Raises ArgumentError for equal names, or if `out` cannot be written or is another program's.
    """
    names = [export.name for export in exports]
    if len({*names}) < len(names):
        raise ArgumentError("models", "must have different names", ", ".join(names))
    if out.exists() and not (out / MARKER).is_file():
        require_new_folder(out)
    with replaced_folder(out.resolve()) as fresh:
        write_files(fresh, exports)
    return {str(path.relative_to(out)): path.stat().st_size for path in files_of(out)}


def write_files(out: Path, exports: Sequence[WebFolder]) -> None:
    """Write the site into the empty folder `out`."""
    for name, file in page_files().items():
        put(out / name, file)
    for name, make in made_files().items():
        put(out / name, make())
    for export in exports:
        for name in export.names:
            put(out / folder_path_of(export) / name, export.folder / name)
    models = [entry_of_export(export, quote(folder_path_of(export))) for export in exports]
    put(out / "index.html", page_html(models))
    put(out / PICTURE.name, PICTURE)
    put(out / "README.md", SPACE)
    put(out / MARKER, json.dumps({"models": [export.name for export in exports]}) + "\n")
    put(out / "sw.js", service_worker(out, exports))
    put(out / ".nojekyll", "")  # so that GitHub Pages serves every file


def folder_path_of(export: WebFolder) -> str:
    """Path of a model's folder in the site, with a slash at the end."""
    return f"models/{export.name}/"


def service_worker(out: Path, exports: Sequence[WebFolder]) -> str:
    """Make sw.js: the service worker's script with the list of files to cache for offline use.

    The list has no weights, which the engine caches itself. Only the page, its styles and scripts
    must be there: a host may not serve every kind of file. The files of ONNX Runtime, which seldom
    change, have a separate version; the files for the GPU are cached at their first use.
    """
    runtime, asked = (
        [file.relative_to(DIST.parent).as_posix() for file in files]
        for files in (RUNTIME, GPU_RUNTIME)
    )
    manifests = {folder_path_of(export) + WEB_MANIFEST for export in exports}
    kept = {}
    for path in files_of(out):
        name = path.relative_to(out).as_posix()
        is_of_model = name.startswith("models/") and name not in manifests
        if name not in ("README.md", PICTURE.name, *runtime, *asked) and not is_of_model:
            kept[name] = path
    version = version_of({name: out / name for name in (*runtime, *asked)})
    needed = [name for name in kept if name.startswith(("index.html", "css/", "dist/"))]
    known = {
        "version": version_of(kept),
        "files": ["./", *map(quote, needed)],
        "rest": [quote(name) for name in kept if name not in needed],
        "runtime": {"version": version, "files": runtime, "asked": asked},
    }
    script = (DIST / "sw.js").read_text(encoding="utf-8")
    return f"self.SBD_FILES = {json.dumps(known)};\n{script}"


def version_of(files: Mapping[str, Path]) -> str:
    """Digest of the files' names and contents."""
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def files_of(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def put(target: Path, content: Path | str) -> None:
    """Copy a file, or write text, to `target`; create its folder if it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        shutil.copyfile(content, target)
    else:
        target.write_text(content, encoding="utf-8")


def main() -> int:
    """Run the command; return exit status 0, or 2 if a model or the folder cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--models",
        nargs="+",
        default=list(MODELS),
        metavar="MODEL",
        help=f"{', '.join(MODELS)}, or folders of others (%(default)s)",
    )
    flags = parser.parse_args()
    try:
        exports = [keep_export(MODELS.get(name) or Path(name)) for name in flags.models]
        sizes = write_site(flags.out, exports)
    except (SetBlockDecodingError, OSError) as error:
        print(f"static_site: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB")
    print(f"python -m http.server -d {flags.out}    serves it on http://localhost:8000")
    return 0


if __name__ == "__main__":
    sys.exit(interruptible(main))
