"""A fused PyTorch forward for Llama-shaped models: few operations, the same weights."""
