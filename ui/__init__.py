"""The web page: a Gradio app around a JavaScript player. sbd_core never imports this package."""
