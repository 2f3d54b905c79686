"""model.generate() with Set Block Decoding (arXiv 2509.04185)."""

from .hf_folder_generate import generate

__all__ = ["generate"]
