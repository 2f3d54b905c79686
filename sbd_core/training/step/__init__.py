"""One optimizer step: attention, loss, precision, optimizers."""
