"""The command ``ludo``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import ludo_env
from ludo_env.cli.bench import add_bench
from ludo_env.cli.common import BAD_ARGUMENTS, DONE, FAILED, BadArgumentsError, Parser
from ludo_env.cli.evaluate import add_agents, add_evaluate
from ludo_env.cli.exact import add_regret, add_solve
from ludo_env.cli.play import add_play
from ludo_env.cli.render import add_render
from ludo_env.cli.replay import add_replay


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 done, 1 failed, 2 bad arguments.
    """
    if "" not in sys.path:
        sys.path.append("")  # the user's own agents, as MODULE:ATTRIBUTE
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except BadArgumentsError as error:
        return _fail(BAD_ARGUMENTS, str(error))
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return _fail(FAILED, "interrupted")
    except Exception as error:
        return _fail(FAILED, f"{error}" if isinstance(error, ValueError) else repr(error))
    return DONE


def _fail(code: int, message: str) -> int:
    print(f"ludo: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _parser() -> Parser:
    parser = Parser(prog="ludo", description=ludo_env.__doc__)
    parser.add_argument("--version", action="version", version=ludo_env.__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        add_evaluate,
        add_agents,
        add_play,
        add_render,
        add_replay,
        add_solve,
        add_regret,
        add_bench,
    ):
        add(commands)
    return parser
