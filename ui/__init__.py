"""The page: Gradio on the outside, a JavaScript player inside. sbd_core knows nothing of it."""
