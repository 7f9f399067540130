"""A board in a window of its own; needs pygame and a display."""

from __future__ import annotations

import atexit
from weakref import WeakValueDictionary

from ludo_env.render.image import pygame

try:
    from pygame._sdl2.video import Renderer, Texture, Window
except ImportError as error:
    raise ImportError("windows need pygame 2.1 or later: pip install 'ludo_env[render]'") from error

_open: WeakValueDictionary[int, BoardWindow]


class BoardWindow:
    """A window that shows boards one after another; there may be several.

    Where the user closes it, nothing is shown any more.

    Args:
        title: Its title.
        size: Width and height in pixels.
        frames: Boards a second, at most; showing waits for it.

    Raises:
        RuntimeError: There is no display.
    """

    def __init__(self, title: str, size: int, frames: float) -> None:
        try:
            pygame.display.init()
            self._window = Window(title, size=(size, size))
            self._renderer: Renderer | None = Renderer(self._window)
        except pygame.error as error:
            raise RuntimeError(
                f"render_mode 'human' needs a display, where 'rgb_array' does not: {error}"
            ) from error
        self._frames = frames
        self._clock = pygame.time.Clock()
        _open[self._window.id] = self

    def show(self, surface: pygame.Surface) -> None:
        """Show a board, once the last one has been there for its time."""
        heed_closing()
        if self._renderer is None:
            return
        self._renderer.clear()
        Texture.from_surface(self._renderer, surface).draw()
        self._renderer.present()
        self._clock.tick(self._frames)
        heed_closing()

    @property
    def is_open(self) -> bool:
        """Whether it is there."""
        return self._renderer is not None

    def close(self) -> None:
        """Take the window away; nothing where it is not there."""
        if self.is_open:
            _open.pop(self._window.id, None)
            self._renderer = None  # it must go first: its end reads the window's memory
            self._window.destroy()


_open = WeakValueDictionary()


def heed_closing() -> None:
    """Close the windows that the user has closed; other events stay for others."""
    for event in pygame.event.get(pygame.WINDOWCLOSE):
        window = _open.get(getattr(event.window, "id", -1))
        if window is not None:
            window.close()


@atexit.register
def close_all() -> None:
    """Close every window: one that is open when pygame ends would crash Python."""
    for window in list(_open.values()):
        window.close()
