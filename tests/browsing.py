"""A real browser for tests: Chromium by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; without it tests are skipped, save where the tests of a change are run (CI)."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine")
    assert path is not None, "CI must install Chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def page_of(browser: Any, **context: Any) -> Iterator[Any]:
    """A page that must not complain: no error, no warning on the console, no failed request."""
    with browser.new_context(**context) as opened:
        page = opened.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(f"{error}"))
        page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        yield page
        assert complaints == []


def until(page: Any, condition: str) -> None:
    """Wait until something holds on a page (whose policy forbids Playwright's own way)."""
    for _ in range(2000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"it never came to {condition}")


def pawns_on(page: Any) -> list[tuple[float, float]]:
    """Where a page's board shows pawns, in the board's units, sorted; animations finished."""
    places = page.evaluate(
        """() => [...document.querySelectorAll("#board .pawns use")].map((use) => {
            use.getAnimations().forEach((animation) => animation.finish());
            const { e, f } = new DOMMatrix(getComputedStyle(use).transform);
            return [e, f];
        })"""
    )
    return sorted((round(x, 2), round(y, 2)) for x, y in places)
