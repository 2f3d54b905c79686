"""A new model: a Llama with random weights, and a tokenizer trained on the recipe's data.

The tokenizer is byte-level BPE in which every digit is one token. It can encode any text, because
its alphabet has all 256 bytes. A prompt with its answer is written
<user>prompt<assistant>answer<eos>; <m> is the mask token.
"""

from collections.abc import Iterable
from itertools import islice

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from sbd_core.errors import ArgumentError, require_integer
from sbd_core.tasks import Example
from sbd_core.training.data import CHAT_TEMPLATE, Skipped, Text, mixed, read_source
from sbd_core.training.recipe import Recipe

SPECIAL_TOKENS = ("<pad>", "<eos>", "<m>", "<user>", "<assistant>")
PAD_ID, EOS_ID, MASK_ID, USER_ID, ASSISTANT_ID = range(len(SPECIAL_TOKENS))


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """Train a tokenizer of at most `vocabulary_size` tokens, bytes and special tokens included."""
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


def new_model(recipe: Recipe) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Make a Llama of the recipe's shape with random weights, and its tokenizer.

    The tokenizer is read from the folder recipe.tokenizer, or trained if none is given.
    Raises ArgumentError for a shape that no Llama has, or a tokenizer that cannot be read.
    """
    # Rotary embeddings rotate the values of a head in pairs.
    if recipe.hidden_size % (2 * recipe.num_heads):
        rule = f"must be a multiple of twice num_heads ({recipe.num_heads})"
        raise ArgumentError("hidden_size", rule, recipe.hidden_size)
    require_integer("max_positions", recipe.max_positions, recipe.row_tokens)
    if recipe.tokenizer:
        try:
            tokenizer = AutoTokenizer.from_pretrained(recipe.tokenizer, local_files_only=True)
        except (OSError, ValueError) as error:
            rule = "must be a folder with a tokenizer"
            raise ArgumentError("tokenizer", rule, recipe.tokenizer) from error
    else:
        most = recipe.tokenizer_examples
        examples: list[Example | Text] = []
        if recipe.tasks:
            examples += islice(mixed(recipe.seed, recipe.tasks), most)
        for source in recipe.data:
            examples += read_source(source, Skipped(source))[:most]
        texts = (f"{example.prompt}\n{example.answer}" for example in examples)
        tokenizer = train_tokenizer(texts, recipe.vocabulary_size)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden_size,
        num_hidden_layers=recipe.num_layers,
        num_attention_heads=recipe.num_heads,
        num_key_value_heads=recipe.num_heads,
        intermediate_size=recipe.feed_forward_size,
        max_position_embeddings=recipe.max_positions,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(recipe.seed)
    return LlamaForCausalLM(config), tokenizer
