"""The doors of others: what transformers, lm-eval and their users expect to find."""
