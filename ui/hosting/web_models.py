"""The models that a page gives to browsers, exported in a background thread.

Knows no Gradio and no tensors.
"""

import logging
import threading
from collections.abc import Iterable
from pathlib import Path

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.web_folder import WebFolder, find_export, keep_export
from ui.lazy_model import import_loading

ROUTE = "/web-model/"

logger = logging.getLogger(__name__)

_served: dict[str, WebFolder] = {}
_exporting = threading.Lock()


def address_of(export: WebFolder) -> str:
    """Serve an export's files; return their address below the page, with a slash at the end."""
    _served[export.digest] = export
    return f"{ROUTE[1:]}{export.digest}/"


def file_at(path: str) -> Path | None:
    """The file at an address, if it belongs to a served export, else None."""
    _, _, place = path.partition(ROUTE)
    digest, _, name = place.partition("/")
    export = _served.get(digest)
    return export.folder / name if export is not None and name in export.names else None


def export_behind(folders: Iterable[Path | None]) -> None:
    """Make missing exports in a background thread. folders: of models; None is ignored."""
    wanted = [folder for folder in folders if folder is not None]
    threading.Thread(target=_export, args=(wanted,), name="export", daemon=True).start()


def _export(folders: Iterable[Path]) -> None:
    for folder in folders:
        with _exporting:
            if find_export(folder) is not None:
                continue
            import_loading()
            try:
                keep_export(folder)
            except (SetBlockDecodingError, OSError) as error:
                logger.info("no browser decodes with %s: %s", folder.name, error)
