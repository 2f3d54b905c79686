"""Runs vLLM's command `serve`: python -m sbd_core.vllm.server FOLDER FLAGS.

vLLM's own command line looks for a distribution called vllm, which its CPU build is not.
"""

import sys

from vllm.entrypoints.cli.serve import ServeSubcommand
from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
from vllm.utils.argparse_utils import FlexibleArgumentParser


def main() -> None:
    """Serve until stopped."""
    cli_env_setup()
    parser, server = FlexibleArgumentParser(), ServeSubcommand()
    server.subparser_init(parser.add_subparsers())
    arguments = parser.parse_args(["serve", *sys.argv[1:]])
    server.validate(arguments)
    server.cmd(arguments)


if __name__ == "__main__":
    main()
