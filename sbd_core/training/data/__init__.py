"""From tasks and files to masked, packed batches."""
