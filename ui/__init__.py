"""The page: Gradio with a JavaScript player inside. sbd_core does not know it."""
