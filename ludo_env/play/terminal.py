"""Playing in a terminal: moves are numbers, everything else is a letter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ludo_env.core.position import Position
from ludo_env.core.record_file import write_records
from ludo_env.core.rules import Rules
from ludo_env.play.hints import Advice, Hint, advice
from ludo_env.play.sitting import Sitting
from ludo_env.render.words import move_name, told_by_turns
from ludo_env.tables import as_path, require_new_target

HELP = """\
1, 2, …      play the move of that number; Enter plays the only one
u            take your last choice back (the dice stay the same)
h [AGENT]    what an agent thinks of the moves
b            show the board and the moves again
s FILE       save the record of the game so far
q            quit
?            this help"""


class Terminal:
    """Asks people for their moves and tells what happens.

    Args:
        sitting: The game.
        read: Reads a line after a prompt; EOFError ends the game.
        write: Shows lines.
        draw: Draws a position as text.
        hinter: The agent that hints come from.
        auto_forced: Whether the only move is played unasked.
        kept: A file that the record is written to after every move; None for none.

    Raises:
        ValueError: There is such a file, or it cannot be written.
    """

    def __init__(
        self,
        sitting: Sitting,
        read: Callable[[str], str],
        write: Callable[[str], None],
        draw: Callable[[Position, Rules], str],
        hinter: str,
        auto_forced: bool = False,
        kept: str | None = None,
    ) -> None:
        self.sitting = sitting
        self._read, self._write, self._draw = read, write, draw
        self._hinter = hinter
        self._auto_forced = auto_forced
        self._own_files: set[Path] = set()
        self._commands: dict[str, Callable[[str], None]] = {
            "u": self._undo,
            "h": self._hint,
            "b": self._show,
            "s": self._save,
            "?": lambda _: self._write(HELP),
        }
        self._kept = kept
        if kept is not None:
            self.save(kept)

    def run(self) -> None:
        """Play until the game is over or the user leaves."""
        self._tell()
        while not self.sitting.is_over:
            if not self.sitting.is_humans_turn:
                self.sitting.play_agent()
            elif self._auto_forced and len(self.sitting.game.legal_moves()) == 1:
                self.sitting.play(self.sitting.game.legal_moves()[0].action)
            elif not self._ask():
                return
            else:
                continue
            self._tell()
        self._show("")
        self._write(self.sitting.record().text().splitlines()[-1])

    def save(self, name: str) -> Path:
        """Write the record so far; only a file that this game wrote is replaced.

        Raises:
            ValueError: There is such a file, or it cannot be written.
        """
        path = as_path("the record", name)
        if path not in self._own_files:
            require_new_target("the record", path)
        write_records(path, [self.sitting.record()])
        self._own_files.add(path)
        return path

    def _ask(self) -> bool:
        """Have a person decide or say something else; False where they leave."""
        self._show("")
        while True:
            try:
                line = self._read("> ").strip()
            except EOFError:
                return False
            if line == "q":
                return False
            try:
                if self._heed(line):
                    return True
            except ValueError as error:
                self._write(str(error))

    def _heed(self, line: str) -> bool:
        """Do what a line says; True where the game went on or back."""
        word, _, rest = line.partition(" ")
        moves = self.sitting.game.legal_moves()
        if line == "" and len(moves) == 1:
            line = "1"
        if line.isascii() and line.isdecimal() and 1 <= int(line) <= len(moves):
            self.sitting.play(moves[int(line) - 1].action)
            self._tell()
            return True
        if word not in self._commands or (rest and word not in "hs"):
            raise ValueError(f"{line!r} is nothing to play: a number from 1 to {len(moves)}, or ?")
        self._commands[word](rest.strip())
        return word == "u"

    def _keep(self) -> None:
        """Write the kept record; the game goes on where that fails."""
        try:
            if self._kept is not None:
                self.save(self._kept)
        except ValueError as error:
            self._write(str(error))

    def _tell(self) -> None:
        self._keep()
        for turn in told_by_turns(self.sitting.events, self.sitting.seats):
            self._write(turn)

    def _show(self, _: str) -> None:
        game = self.sitting.game
        self._write(f"\n{self._draw(game.position, game.rules)}\n")
        self._list_moves()

    def _list_moves(self, advice: Advice | None = None) -> None:
        game = self.sitting.game
        for number, move in enumerate(game.legal_moves(), 1):
            line = f"{number}  {game.die} {move_name(move)}"
            if advice is not None:
                line = f"{line:18}{_words(advice.hints[number - 1], advice.means)}"
            self._write(line.rstrip())

    def _undo(self, _: str) -> None:
        self.sitting.undo()
        self._keep()
        self._write("taken back")

    def _hint(self, spec: str) -> None:
        found = advice(spec or self._hinter, self.sitting.game)
        self._write(f"{found.agent} thinks:")
        self._list_moves(found)

    def _save(self, name: str) -> None:
        if not name:
            raise ValueError("s needs a file's name, such as: s game.jsonl")
        self._write(f"saved: {self.save(name)}")


def _words(hint: Hint, means: str) -> str:
    share = "" if hint.share is None else f"{means} {100 * hint.share:.1f} %"
    return f"{share:24}{'would play' if hint.would_play else ''}"
