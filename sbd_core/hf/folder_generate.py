"""The generate() of a model folder's custom_generate, with the arguments of transformers.

model.generate(**inputs) of a folder loaded with trust_remote_code calls it. It calls transformers'
own generate(), which prepares the inputs and then calls sbd_core.hf.generation.
"""

import copy
from functools import partial
from typing import Any

from transformers.generation import StoppingCriteriaList, StopStringCriteria

from sbd_core.errors import ArgumentError
from sbd_core.hf.generation import generate as decode


def generate(
    model: Any,
    inputs: Any = None,
    *,
    streamer: Any = None,
    tokenizer: Any = None,
    assistant_model: Any = None,
    stop_strings: Any = None,
    stopping_criteria: Any = None,
    generation_config: Any = None,
    custom_generate: Any = None,
    **arguments: Any,
) -> Any:
    """Decode as model.generate(), with the arguments of sbd_core.hf.generate (gamma, ..).

    tokenizer: for stop_strings. custom_generate: another folder or function, which then decodes.
    Other arguments are transformers' own. Raises as sbd_core.hf.generate does.
    """
    if custom_generate is not None:
        return type(model).generate(
            model,
            inputs,
            generation_config=generation_config,
            stopping_criteria=stopping_criteria,
            streamer=streamer,
            tokenizer=tokenizer,
            assistant_model=assistant_model,
            stop_strings=stop_strings,
            custom_generate=custom_generate,
            **arguments,
        )
    if assistant_model is not None:
        rule = 'must not be given: a block is drafted by the model itself, see strategy="verify"'
        raise ArgumentError("assistant_model", rule, type(assistant_model).__name__)
    settings = generation_config or model.generation_config
    stop_strings = stop_strings or settings.stop_strings
    if settings.stop_strings:
        generation_config = copy.deepcopy(settings)
        generation_config.stop_strings = None
    criteria = StoppingCriteriaList(stopping_criteria or ())
    if stop_strings:
        if tokenizer is None:
            raise ArgumentError("tokenizer", "must be given with stop_strings", None)
        criteria.append(StopStringCriteria(tokenizer, stop_strings))
    if tokenizer is not None and arguments.get("mask_token_id") is None:
        in_config = getattr(model.config, "mask_token_id", None)
        arguments["mask_token_id"] = in_config if in_config is not None else tokenizer.mask_token_id
    return type(model).generate(
        model,
        inputs,
        generation_config=generation_config,
        stopping_criteria=criteria,
        custom_generate=partial(decode, token_streamer=streamer),
        **arguments,
    )
