"""The random model that the benchmarks run."""

from pathlib import Path

import pytest

from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

RANGE = {"min_block_size": 2, "max_block_size": 8}


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a random model that says it had Set Block Decoding training."""
    folder = tmp_path_factory.mktemp("bench") / "llama"
    reach = {"max_position_embeddings": 1024}
    return save_tiny(folder, "llama", tiny_tokenizer(), set_block_decoding=RANGE, **reach)
