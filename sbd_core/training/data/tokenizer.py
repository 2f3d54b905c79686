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


def require_tokens(tokenizer: Any, argument: str, *, needs_mask: bool) -> None:
    """Raise TrainingError unless the tokenizer has the tokens that training needs."""
    if tokenizer.eos_token_id is None:
        raise TrainingError(
            f"{argument}: the tokenizer has no eos token, which ends every answer: give it one"
        )
    if needs_mask and tokenizer.mask_token_id is None:
        raise TrainingError(
            f"{argument}: the tokenizer has no mask token: sbd prepare gives a model one"
        )


def padding_id(tokenizer: Any) -> int:
    """Padding token: any would do, as nothing attends to it and nothing predicts it."""
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    return int(end if pad is None else pad)


def writes_own_turns(tokenizer: Any) -> bool:
    """Whether the chat template is the one above, whose frames are the same for every text."""
    return bool(tokenizer.chat_template == CHAT_TEMPLATE)


def encode_plain_texts(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    """Token ids of each text as plain text: "<m>" typed by someone is a few letters, no mask."""
    if not texts:
        return []
    return tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
