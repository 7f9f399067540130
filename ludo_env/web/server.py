"""A page to play on, for this machine alone.

Only what comes from the page itself is heeded: its host and origin are checked, so that no other
site that the browser has open can read or play the game, whatever name it gives this machine.
"""

from __future__ import annotations

import re
import socket
import webbrowser
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from ludo_env.agents.base import make_agent
from ludo_env.core.record_file import records_text
from ludo_env.play.sitting import HUMAN, AgentFailedError
from ludo_env.web.board import asset, filled
from ludo_env.web.replay import replay_page
from ludo_env.web.room import Room, StaleError

try:
    from flask import Flask, Response, abort, request
    from werkzeug.exceptions import HTTPException
    from werkzeug.serving import WSGIRequestHandler, make_server
except ImportError as error:
    raise ImportError("the page needs Flask: pip install 'ludo_env[web]'") from error

HOST = "127.0.0.1"

_LARGEST = 10_000
"""Bytes of a message, at most."""

_ASSETS = {"board.js": "text/javascript", "play.js": "text/javascript", "page.css": "text/css"}
_FOR_ALL = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; {}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_OWN_FILES = _POLICY.format("script-src 'self'; style-src 'self'")
_WITHIN = _POLICY.format("script-src 'unsafe-inline'; style-src 'unsafe-inline'")


def serve(room: Room, port: int, is_opened: bool, tell: Callable[[str], None]) -> None:
    """Serve the page until the user interrupts.

    Args:
        room: The game.
        port: On this machine; 0 for a free one.
        is_opened: Whether the browser is told to open it.
        tell: Tells the user where it is.

    Raises:
        ValueError: The port cannot be had.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise ValueError(f"port {port} cannot be had: {error.strerror}") from error
        listener.listen()
        port = listener.getsockname()[1]
        app = make_app(room, port)
        server = make_server(
            HOST, port, app, threaded=True, request_handler=_Quiet, fd=listener.fileno()
        )
        address = f"http://{HOST}:{port}/"
        tell(f"{address} (Ctrl-C stops it)")
        if is_opened:
            webbrowser.open(address)
        server.serve_forever()


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_: Any) -> None:
        """Nothing: the terminal is the player's."""


def make_app(room: Room, port: int) -> Flask:
    """The page and what it asks for.

    Args:
        room: The game.
        port: Where it is served.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST
    app.json.sort_keys = False  # type: ignore[attr-defined]
    hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
    _add_guards(app, hosts)
    _add_pages(app, room)
    _add_messages(app, room)
    return app


def _add_guards(app: Flask, hosts: set[str]) -> None:
    origins = {f"http://{host}" for host in hosts}

    @app.before_request
    def refuse_strangers() -> None:
        if request.headers.get("Host") not in hosts:
            abort(403, "this host is not served")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in origins:
            abort(403, "other sites are not served")
        is_link = request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
        is_own = request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if not (is_own or is_link):
            abort(403, "other sites are not served")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(_FOR_ALL)
        response.headers.setdefault("Content-Security-Policy", _OWN_FILES)
        return response

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> tuple[dict[str, str], int]:
        return {"error": error.description or error.name}, error.code or 500


def _add_pages(app: Flask, room: Room) -> None:
    @app.get("/")
    def page() -> str:
        seats, hinters = _options((HUMAN, *room.agents)), _options(room.agents, room.hinter)
        return filled("play.html", seats=seats, hinters=hinters)

    @app.get("/assets/<name>")
    def file(name: str) -> Response:
        if name not in _ASSETS:
            abort(404, f"there is no {name}")
        return Response(asset(name), mimetype=_ASSETS[name])

    @app.get("/record")
    def record() -> Response:
        response = Response(records_text([room.record()]), mimetype="application/jsonl")
        response.headers["Content-Disposition"] = 'attachment; filename="game.jsonl"'
        return response

    @app.get("/replay")
    def replay() -> Response:
        response = Response(replay_page(room.record(), make_agent("td", seed=0)))
        response.headers["Content-Security-Policy"] = _WITHIN
        return response


def _options(specs: Iterable[str], chosen: str | None = None) -> str:
    """The entries of a list to choose from."""
    return "".join(
        f"<option{' selected' if spec == chosen else ''}>{escape(spec)}</option>" for spec in specs
    )


def _add_messages(app: Flask, room: Room) -> None:
    @app.get("/state")
    def state() -> dict[str, Any]:
        return room.state(request.args.get("game", type=int))

    @app.post("/play")
    def play() -> Any:
        said = _message(version=int, game=int, action=int)
        return _answer(lambda: room.play(said["version"], said["action"], said["game"]), room)

    @app.post("/agent")
    def play_agent() -> Any:
        said = _message(version=int, game=int)
        return _answer(lambda: room.play_agent(said["version"], said["game"]), room)

    @app.post("/undo")
    def undo() -> Any:
        said = _message(version=int, game=int)
        return _answer(lambda: room.undo(said["version"], said["game"]), room)

    @app.post("/new")
    def new() -> Any:
        said = _message(version=int, game=int, seats=list, rules=dict, seed=str)
        seed = _seed(said["seed"])
        return _answer(
            lambda: room.begin(said["version"], said["seats"], said["rules"], seed, said["game"]),
            room,
        )

    @app.post("/hint")
    def hint() -> Any:
        said = _message(version=int, agent=str)
        return _answer(lambda: room.hint(said["version"], said["agent"]), room)


def _seed(text: str) -> int | None:
    """A seed as it is typed in; None where none is."""
    if text.strip() == "":
        return None
    if re.fullmatch(r"\s*[0-9]{1,19}\s*", text) is None:
        abort(400, f"seed must be a number from 0 to 2**63 - 1, got {text[:40]!r}")
    return int(text)


def _message(**kinds: Any) -> dict[str, Any]:
    """What the page sent: JSON with exactly these fields, of these kinds."""
    try:
        said = request.get_json()
    except RecursionError:
        abort(400, "a message is no deeper than an object in an object")
    wanted = ", ".join(kinds)
    if not isinstance(said, dict) or set(said) != set(kinds):
        abort(400, f"a message must be an object with {wanted}")
    for name, kind in kinds.items():
        if not isinstance(said[name], kind):
            abort(400, f"{name} cannot be {said[name]!r}")
    return said


def _answer(do: Callable[[], dict[str, Any]], room: Room) -> Any:
    """What comes of a message; an error where nothing comes of it."""
    try:
        return do()
    except StaleError as error:
        return {"error": str(error), "state": room.state()}, 409
    except AgentFailedError as error:
        return {"error": str(error)}, 500
    except ValueError as error:
        return {"error": str(error)}, 400
