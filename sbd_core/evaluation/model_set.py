"""The models of an evaluation by name, loaded once, and the runner that suits them."""

import os
from collections.abc import Mapping
from pathlib import Path

from sbd_core.config import require_integer
from sbd_core.evaluation.runners import LocalRunner, ProcessPoolRunner, Runner
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.threads import choose_threads, is_small

MANY_ANSWERS = 1000
"""From here on several processes pay for their start."""


class ModelSet:
    """Models by name. sources: a folder or hub id of each, None for the bundled one."""

    def __init__(
        self,
        sources: Mapping[str, str | None],
        *,
        device: str = "auto",
        dtype: str = "auto",
        native: bool | None = None,
    ) -> None:
        """Load them all; see load() for the arguments and errors."""
        self._sources = dict(sources)
        self._load_options = {"device": device, "dtype": dtype, "native": native}
        self.models: dict[str, HuggingFaceModel] = {
            name: load(source, device=device, dtype=dtype, native=native)
            for name, source in self._sources.items()
        }
        self._largest = max(self.models.values(), key=lambda model: model.num_parameters)

    def __getitem__(self, name: str) -> HuggingFaceModel:
        return self.models[name]

    def folders(self) -> dict[str, Path]:
        """Where each is; one from the hub is left out."""
        return {name: model.folder for name, model in self.models.items() if model.folder}

    def runner(self, num_answers: int, batch_size: int, num_processes: int | None = None) -> Runner:
        """What answers fastest; num_processes: None is one a core where that pays, else 1.

        Sets the number of threads of this process. Raises ArgumentError.
        """
        if num_processes is not None:
            require_integer("processes", num_processes, 1)
        choose_threads(self._largest.num_parameters, batch_size)
        count = num_processes or 1
        if num_processes is None and num_answers >= MANY_ANSWERS:
            on_cpu = self._largest.device == "cpu"
            count = os.cpu_count() or 1 if on_cpu and is_small(self._largest.num_parameters) else 1
        if count == 1:
            return LocalRunner(self.models)
        return ProcessPoolRunner(count, self._sources, self._load_options)
