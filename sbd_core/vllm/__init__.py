"""Set Block Decoding inside vLLM's engine: a plugin, and the command that serves a model with it.

vLLM loads register() in each of its processes, so this file imports nothing else.
"""

ARCHITECTURES = {
    f"{family}ForCausalLM": f"SetBlock{family}ForCausalLM"
    for family in ("Llama", "Mistral", "Qwen2", "Qwen3")
}
"""{architecture in a model's config: name of the same model with block decoding in vLLM}."""


def register() -> None:
    """Tell vLLM where the models are. Entry point of the group vllm.general_plugins."""
    from vllm import ModelRegistry

    for name in ARCHITECTURES.values():
        ModelRegistry.register_model(name, f"sbd_core.vllm.model:{name}")
