"""The models that a page offers, and how they are loaded and exported for browsers.

The page opens before its first model is loaded. This module needs neither Gradio nor tensors.
"""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from dataclasses import KW_ONLY, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError, SetBlockDecodingError, shown
from sbd_core.files import ASSETS
from sbd_core.models.bases import BASES, BaseSource, base_folder, fetch, find_base, hub_copy
from sbd_core.models.model_folder import (
    ADAPTER_INFO,
    DEFAULT_CHECKPOINT,
    REAL_MODEL,
    bundled_folder,
    folder_of,
    is_block_adapter,
    object_in,
    read_checkpoint_info,
)
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.web_folder import WebFolder, find_export, keep_export
from ui.zero_gpu import on_zero_gpu

logger = logging.getLogger(__name__)

FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s'\"/]+/)+")
"""Matches the folders of an absolute path, but not its last name."""

_loading = threading.Lock()
"""One model is loaded at a time, as two threads that import transformers at once fail."""
_exporting = threading.Lock()


@dataclass(eq=False)
class LazyModel:
    """A model of a page, loaded when it is first needed; its properties are known before that.

    name: the model's name in the form, in links and in traces.
    can_draft: whether the model has a mask token.
    loader: loads the model; None if only browsers decode with it.
    folder: the model's folder; None for a model of the hub.
    source: path or hub id with which the program was started; the name if there is none.
    title, about: the model's name for visitors, and a few words about it.
    base: the base model that the model needs and that may be missing; None if it needs none.
    promise: a line that says what to expect of its answers.
    presets: name of the file in assets/ with prompts for the model.
    """

    name: str
    _: KW_ONLY
    can_draft: bool
    block_range: tuple[int, int] | None
    loader: Callable[[], SetBlockModel] | None = None
    folder: Path | None = None
    is_trained: bool = True
    has_adapter: bool = False
    source: str = ""
    title: str = ""
    about: str = ""
    base: BaseSource | None = None
    promise: str = "Start from an example, or write any other prompt."
    presets: str = "presets.json"

    def __post_init__(self) -> None:
        self.source, self.title = self.source or self.name, self.title or self.name
        self._future: futures.Future[SetBlockModel] = futures.Future()
        self._has_begun = self._is_exporting = False
        self._beginning = threading.Lock()

    @classmethod
    def of(cls, model: "SetBlockModel | LazyModel", **offer: Any) -> "LazyModel":
        """Wrap a loaded model; return a LazyModel as it is. offer: fields such as title."""
        if isinstance(model, LazyModel):
            return model
        can_draft = model.mask_token_id is not None
        here = cls(
            model.name,
            can_draft=can_draft,
            block_range=model.block_range,
            loader=lambda: model,
            folder=getattr(model, "folder", None),
            is_trained=can_draft and getattr(model, "is_trained", True),
            has_adapter=getattr(model, "adapter", None) is not None,
            **offer,
        )
        here._future.set_result(model)
        return here

    def load(self) -> None:
        """Load the model in this thread, unless another has loaded it by the time it may."""
        assert self.loader is not None
        with _loading:
            if self.is_done:
                return
            try:
                self._future.set_result(self.loader())
            except Exception as error:
                if not isinstance(error, SetBlockDecodingError):
                    logger.exception("the model could not be loaded")
                told = ModelError(self._words_of(error))
                told.__cause__ = error
                self._future.set_exception(told)

    def _words_of(self, error: Exception) -> str:
        if not isinstance(error, SetBlockDecodingError):
            kind = type(error).__name__
            return f"model: loading it failed inside the program ({kind}); its log says where"
        words = str(error)
        for place in (self.source, str(self.folder or self.source)):
            words = words.replace(shown(place), shown(self.name)).replace(place, self.name)
        return FOLDERS.sub("", words)

    @property
    def is_done(self) -> bool:
        """Whether loading has succeeded or failed, so that result() returns at once."""
        return self._future.done()

    @property
    def failure(self) -> BaseException | None:
        """The error that loading raised, if it did."""
        error = self._future.exception() if self.is_done else None
        return error and error.__cause__

    def wait(self, seconds: float | None = None) -> None:
        """Wait, at most `seconds`, until loading is over."""
        futures.wait([self._future], seconds)

    def result(self) -> SetBlockModel:
        """Wait for the loaded model and return it. Raises ModelError if it could not be loaded."""
        return self._future.result()

    @property
    def is_here(self) -> bool:
        """Whether the model can be loaded without a download."""
        is_loaded = self.is_done and self.failure is None
        return self.base is None or is_loaded or find_base(self.base) is not None

    @property
    def absence(self) -> str:
        """A sentence that tells visitors what to do about a missing base; "" if it is here."""
        if self.is_here or self.base is None:
            return ""
        is_damaged = base_folder(self.base).exists()
        state = "is damaged on this machine" if is_damaged else "is not on this machine"
        return f"{self.title} {state}; the command “sbd fetch” brings it, and the page then has it."

    def wanted(self) -> "LazyModel":
        """Load the model in the background; return it. Raises ModelError if its base is missing."""
        if self.absence:
            raise ModelError(self.absence)
        with self._beginning:
            if self.failure is not None and self.base is not None:  # its base may have come since
                self._future, self._has_begun = futures.Future(), False
            if not (self._has_begun or self.is_done):
                self._has_begun = True
                threading.Thread(target=self.load, name=f"load {self.name}", daemon=True).start()
        return self

    def export(self, *, is_public: bool) -> WebFolder | None:
        """The export with which browsers decode; None if there is none yet, or if none is allowed.

        On a public page, browsers may decode with bundled models only. A missing export is made in
        a background thread once the model is loaded.
        """
        folder = self.folder
        if folder is None or not self.is_trained or not self.is_here:
            return None
        if is_public and bundled_folder(folder.name) != folder:
            return None
        found = find_export(folder)
        is_loaded = self.is_done and self.failure is None
        if found is None and is_loaded and not self._is_exporting:
            self._is_exporting = True
            threading.Thread(target=_export, args=(folder,), name="export", daemon=True).start()
        return found


def _export(folder: Path) -> None:
    with _loading:
        import_module("sbd_core.models.loading")
    with _exporting:
        try:
            keep_export(folder)
        except (SetBlockDecodingError, OSError) as error:
            logger.info("no browser decodes with %s: %s", folder.name, error)


EXPORTS = "models/"
"""Path, below the page, of the files with which browsers decode."""

_served: dict[str, WebFolder] = {}


def serve_export(export: WebFolder) -> str:
    """Start to serve an export's files; return the path of its folder, with a slash at the end."""
    _served[export.digest] = export
    return f"{EXPORTS}{export.digest}/"


def exported_file(path: str) -> Path | None:
    """The file at a path below the page if it belongs to a served export, else None."""
    digest, _, name = path.removeprefix(EXPORTS).partition("/")
    export = _served.get(digest)
    return export.folder / name if export is not None and name in export.names else None


@cache
def offer_of(name: str) -> dict[str, Any]:
    """How a page offers a model that ships with this package, as fields of LazyModel; {} else."""
    offers: dict[str, dict[str, Any]] = json.loads((ASSETS / "models.json").read_text("utf-8"))
    return offers.get(name, {})


class Models:
    """The models of a page, by name. first: the model with which the page opens, the first."""

    def __init__(self, models: Iterable[LazyModel]) -> None:
        self._models = {model.name: model for model in models}
        self.first = next(iter(self))

    @classmethod
    def of(cls, model: "SetBlockModel | LazyModel | Models") -> "Models":
        """Make Models of one model, which may still be loading; return Models as they are."""
        return model if isinstance(model, Models) else cls([LazyModel.of(model)])

    def __iter__(self) -> Iterator[LazyModel]:
        return iter(self._models.values())

    def named(self, name: object) -> LazyModel:
        """Find a model; the first for "" or None. Raises ArgumentError for an unknown name."""
        if name is None or name == "":
            return self.first
        if not isinstance(name, str) or name not in self._models:
            raise ArgumentError("model", f"must be one of {', '.join(self._models)}", name)
        return self._models[name]


def model_of(path_or_hub_id: str | None, device: str, **offer: Any) -> LazyModel:
    """Return a LazyModel, which is loaded when it is first needed or, in three cases, at once.

    The cases are: the GPU is lent per call, `device` is neither auto nor cpu and may not be there,
    or the model's folder does not describe the model. path_or_hub_id: None is the bundled model.
    offer: fields of LazyModel, such as title.
    Raises SetBlockDecodingError if loading at once fails.
    """

    def load() -> SetBlockModel:
        from sbd_core.models.runtime import choose_threads

        # In this thread and first: transformers fails if two threads import it at the same time.
        import_module("sbd_core.decoding.api")
        fetch_base(path_or_hub_id)
        is_own = path_or_hub_id is None or bundled_folder(path_or_hub_id) is not None
        model = sbd_core.load(path_or_hub_id, device=device, limits_template=not is_own)
        choose_threads(model.num_parameters)
        if on_zero_gpu():  # without a GPU between calls, exactness cannot be tested
            model.exactness = "equal up to rounding"
        else:  # so that the set-up in the first forward passes does not count in a run's time
            sbd_core.generate(model, "Hi", DecodeConfig(strategy="ntp", max_new_tokens=2))
            _ = model.exactness  # tested now, as visitors' decodes would otherwise wait for it
        return model

    # A model for a GPU that is lent per call must be loaded before the page is served.
    may_wait = device in ("auto", "cpu") and not on_zero_gpu()
    info = read_checkpoint_info(path_or_hub_id) if may_wait else None
    if info is None:
        return LazyModel.of(load(), source=path_or_hub_id or "", **offer)
    return LazyModel(
        info.name,
        can_draft=True,
        block_range=info.block_range,
        loader=load,
        folder=folder_of(path_or_hub_id),
        is_trained=info.is_trained,
        has_adapter=info.has_adapter,
        source=path_or_hub_id or "",
        **offer,
    )


def models_of(path_or_hub_id: str | None, device: str) -> Models:
    """Choose the models of the page: the model asked for, and those that ship with this package.

    path_or_hub_id: the model asked for, with which the page opens. None opens the page with SmolLM2
    if its base is on this machine, else with nano.
    If the GPU is lent per call, the page offers only the model with which it opens. Raises what
    model_of() raises.
    """
    is_own = path_or_hub_id is not None and bundled_folder(path_or_hub_id) is None
    models = [model_of(path_or_hub_id, device)] if is_own else []
    if not (models and on_zero_gpu()):
        own = {model.name for model in models}
        models += [model for model in bundled_models(device) if model.name not in own]
    asked = [model for model in models if is_own or path_or_hub_id in (None, model.name)]
    first = next((model for model in asked if model.is_here or path_or_hub_id), models[-1])
    return Models([first] if on_zero_gpu() else [first, *models])


def bundled_models(device: str) -> Iterator[LazyModel]:
    """The models that ship with this package; nano is the last."""
    if bundled_folder(REAL_MODEL) is not None:
        base = base_of(REAL_MODEL)
        try:
            if base is not None and hub_copy(base) is not None:  # downloaded by a Space's build
                fetch_base(REAL_MODEL)
        except SetBlockDecodingError as error:
            print(f"{error}; the page opens without it")
        yield model_of(REAL_MODEL, device, base=base, **offer_of(REAL_MODEL))
    yield model_of(None, device, **offer_of(DEFAULT_CHECKPOINT.name))


def base_of(path_or_hub_id: str | None) -> BaseSource | None:
    """The base model that a block adapter needs; None for an unknown base or any other model."""
    folder = folder_of(path_or_hub_id)
    if not is_block_adapter(folder):
        return None
    try:
        return BASES.get(str(object_in(folder / ADAPTER_INFO)["base"]))
    except (OSError, ValueError, KeyError):
        return None  # loading says what is wrong with it


def fetch_base(path_or_hub_id: str | None) -> None:
    """Download a block adapter's base model if it is not on this machine.

    Raises ModelError, ArgumentError.
    """
    source = base_of(path_or_hub_id)
    if source is not None and find_base(source) is None:
        size = source.num_bytes // 10**6
        print(f"fetching {source.name}, of {source.original}, {source.licence}, {size} MB, once")
        fetch(source)
