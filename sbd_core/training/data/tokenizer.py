"""The tokenizer of the bundled model: byte-level BPE with single digits, trained on the corpus.

Every text can be written (all 256 bytes are in the alphabet). A turn is
<user>prompt<assistant>answer<eos>; <m> is the mask of Set Block Decoding.
"""

from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from sbd_core.errors import TrainingError

SPECIAL_TOKENS = ("<pad>", "<eos>", "<m>", "<user>", "<assistant>")
PAD_ID, EOS_ID, MASK_ID, USER_ID, ASSISTANT_ID = range(len(SPECIAL_TOKENS))

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<assistant>{{ message['content'] }}<eos>"
    "{% else %}<user>{{ message['content'] }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `vocabulary_size` tokens, the special ones and 256 bytes included."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        mask_token="<m>",
        additional_special_tokens=["<user>", "<assistant>"],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def require_turns(tokenizer: Any, argument: str, *, needs_mask: bool) -> None:
    """Raise TrainingError unless the tokenizer has every token that frames a training text."""
    named: dict[str, int | None] = {}
    for name in ("<user>", "<assistant>"):
        token_id = tokenizer.convert_tokens_to_ids(name)
        named[name] = None if token_id == tokenizer.unk_token_id else token_id
    named |= {"an eos token": tokenizer.eos_token_id, "a pad token": tokenizer.pad_token_id}
    if needs_mask:
        named["a mask token"] = tokenizer.mask_token_id
    for name, token_id in named.items():
        if token_id is None:
            raise TrainingError(
                f"{argument}: the tokenizer has not got {name}; texts are <user>prompt<assistant>"
                "answer and eos, padded and masked: add what is missing to it"
            )


def encode_plain_texts(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    """Token ids of each text as plain text: "<m>" typed by someone is a few letters, no mask."""
    if not texts:
        return []
    return tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
