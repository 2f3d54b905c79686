"""How many threads a decode on the CPU should use: a choice for programs, not for libraries."""

import torch

SMALL_MODEL_PARAMETERS = 20_000_000
LONG_BATCH = 8


def is_small(num_parameters: int) -> bool:
    """Whether a forward pass of such a model is too short for threads to share."""
    return num_parameters < SMALL_MODEL_PARAMETERS


def choose_threads(num_parameters: int, batch_size: int = 1) -> None:
    """Set torch to one thread for a small model on the CPU, else leave its own choice.

    A forward pass of a few million parameters over one text is too short to share: a second thread
    gains little on an idle machine, and waits for its partner, many times the forward pass itself,
    on a busy one. A batch is long enough. Called by the command line and by the page, never by
    load(), as the setting is global.
    """
    if is_small(num_parameters) and batch_size < LONG_BATCH:
        torch.set_num_threads(1)
