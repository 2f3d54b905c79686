"""Serve the page: flags, page, launch, then the model."""

import argparse
import os
import sys


def arguments() -> argparse.Namespace:
    """The command line; the environment gives the defaults of host and port."""
    is_space = "SPACE_ID" in os.environ
    host = os.environ.get("GRADIO_SERVER_NAME", "0.0.0.0" if is_space else "127.0.0.1")
    port = int(os.environ.get("GRADIO_SERVER_PORT", "7860"))
    parser = argparse.ArgumentParser(description="Watch Set Block Decoding in the browser.")
    parser.add_argument("--model", help="model folder or hub id; default: the bundled checkpoint")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--host", default=host, help=f"address to listen on; default {host}")
    parser.add_argument("--port", default=port, type=int, help=f"port; default {port}")
    return parser.parse_args()


def main() -> int:
    """Exit status: 0 stopped by the user, 2 the model or the address cannot be used."""
    flags = arguments()
    from sbd_core.errors import SetBlockDecodingError
    from sbd_core.extras import require
    from ui.launch import load_behind, model_of, no_stubs_for_editors

    try:
        require("ui")
        lazy = model_of(flags.model, flags.device)
        with no_stubs_for_editors():
            from ui import page
        demo = page.build(lazy)
        try:
            address = {"server_name": flags.host, "server_port": flags.port}
            demo.launch(prevent_thread_lock=True, **address, **page.launch_options())
        except OSError as error:
            print(f"app.py: port {flags.port} on {flags.host}: {error}", file=sys.stderr)
            return 2
        load_behind(lazy)
    except KeyboardInterrupt:
        return 0
    except SetBlockDecodingError as error:
        print(f"app.py: {error}", file=sys.stderr)
        return 2
    demo.block_thread()
    return 0


if __name__ == "__main__":
    sys.exit(main())
