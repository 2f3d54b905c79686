"""The text of a single token, whatever the tokenizer's alphabet."""

import re
from functools import cache
from typing import Any


def token_text(tokenizer: Any, token_id: int) -> str:
    """Text of one token of a transformers tokenizer, never empty.

    Lone bytes of a character show as \\xE2, an id without a piece as [id].
    """
    piece = tokenizer.convert_ids_to_tokens(token_id)
    if piece is None:
        return f"[{token_id}]"
    text = str(tokenizer.decode([token_id], clean_up_tokenization_spaces=False))
    # SentencePiece pieces lose their leading space when decoded alone.
    if piece.startswith("\u2581") and not text.startswith(" "):
        text = " " + text
    if "\ufffd" not in text:
        return text or piece
    if re.fullmatch(r"<0x[0-9A-F]{2}>", piece):  # SentencePiece's
        return f"\\x{piece[3:5]}"
    table = byte_of_character()
    if all(character in table for character in piece):
        return "".join(_shown(table[character]) for character in piece)
    return str(piece)


def _shown(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02X}"


@cache
def byte_of_character() -> dict[str, int]:
    """The printable alphabet in which byte-level BPE writes bytes (GPT-2's), reversed."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    table = {chr(byte): byte for byte in kept}
    table.update({chr(256 + index): byte for index, byte in enumerate(others)})
    return table
