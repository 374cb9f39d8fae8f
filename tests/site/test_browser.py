"""The built site in a headless browser: ``nox -s docs`` builds it and says where it is."""

from __future__ import annotations

import functools
import http.server
import os
import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import pytest

from measurements.advice.model import ANSWERS, Question, advise
from tests import browser
from tests.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SITE = ROOT / os.environ.get("SURESHOT_SITE", "no site")
NARROW = {"width": 390, "height": 800}

pytestmark = [
    pytest.mark.skipif(
        not (SITE / "index.html").exists(), reason="SURESHOT_SITE names no built site: nox -s docs"
    ),
    pytest.mark.timeout(600),
]


@dataclass
class Visit:
    """A page of a browser, and what it complains about."""

    page: Any
    root: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, name: str) -> Any:
        self.page.goto(f"{self.root}/{name}")
        self.page.wait_for_load_state("load")
        return self.page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.opened() as found:
        yield found


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """Serve the site, as a web server does."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["served", "file"])
def visit(request: pytest.FixtureRequest, chromium: Any) -> Iterator[Visit]:
    """Visit the site as served, and as files without a server."""
    file = request.param == "file"
    root = SITE.as_uri() if file else request.getfixturevalue("served")
    context = chromium.new_context(reduced_motion="reduce")
    one = Visit(context.new_page(), root)

    def heard(message: Any) -> None:
        if message.type in ("error", "warning"):
            one.complaints.append(f"{one.page.url}: {message.text}")

    def asked(sent: Any) -> None:
        if not sent.url.startswith((root, "data:", "blob:")):
            one.outside.append(sent.url)

    one.page.on("console", heard)
    one.page.on("pageerror", lambda error: one.complaints.append(f"{one.page.url}: {error}"))
    one.page.on("requestfailed", lambda sent: one.complaints.append(f"failed: {sent.url}"))
    one.page.on("request", asked)
    yield one
    context.close()
    assert one.complaints == []
    assert one.outside == []


def test_the_navigation_leads_to_pages_without_faults(visit: Visit) -> None:
    """Follow all links, or those of the header where pages are files: no complaints, no lost pictures, links or formulas."""
    followed = "a[href]" if visit.root.startswith("http") else ".bd-header a[href]"
    waiting, seen = ["index.html"], set()
    links: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        page = visit.open(name)
        page.wait_for_function("!window.MathJax || !MathJax.startup || MathJax.startup.promise")
        page.evaluate("async () => { if (window.MathJax?.startup) await MathJax.startup.promise; }")
        assert lost_pictures(page) == [], name
        assert page.locator("mjx-merror, merror").count() == 0, name
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        for url in page.eval_on_selector_all(followed, "all => all.map((one) => one.href)"):
            if url.startswith(visit.root):
                links.add(url.removeprefix(f"{visit.root}/"))
                target = urldefrag(links_name(url, visit.root)).url
                if target.endswith(".html") and target not in seen and target not in waiting:
                    waiting.append(target)
    assert len(seen) > 8
    assert broken(links) == []
    if visit.root.startswith("file"):
        return
    # Everything that was built can be reached, but for the pages that the theme itself makes.
    built = {path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")}
    unreached = {name for name in built - seen if not name.startswith(("_static", "_downloads"))}
    assert unreached <= {
        "genindex.html",
        "py-modindex.html",
        "search.html",
        "sg_execution_times.html",
    }


def links_name(url: str, root: str) -> str:
    return url.removeprefix(f"{root}/") or "index.html"


def lost_pictures(page: Any) -> list[str]:
    script = (
        "all => all.filter((one) => !one.complete || one.naturalWidth === 0).map((one) => one.src)"
    )
    page.evaluate("document.querySelectorAll('img').forEach((one) => (one.loading = 'eager'))")
    page.wait_for_function("[...document.images].every((one) => one.complete)")
    found: list[str] = page.eval_on_selector_all("img", script)
    return found


def broken(links: set[str]) -> list[str]:
    """Return the links to files that are not there, and to anchors that their pages do not have."""
    lost = []
    for link in sorted(links):
        name, anchor = urldefrag(link)
        path: Path = SITE / (name.partition("?")[0] or "index.html")
        if not path.exists():
            lost.append(link)
        elif anchor and path.suffix == ".html":
            text = path.read_text(encoding="utf-8")
            if not re.search(rf'(?:id|name)="{re.escape(anchor)}"', text):
                lost.append(link)
    return lost


def test_the_search_box_finds_pages(visit: Visit) -> None:
    page = visit.open("index.html")
    page.locator("button.search-button-field, button.search-button").first.click()
    page.locator("dialog input[type=search]").fill("suspended")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=suspended*")
    page.wait_for_selector("#search-results ul.search li a")
    found = page.locator("#search-results ul.search li > a").all_inner_texts()
    assert any("policy" in title for title in found)
    page.locator("#search-results ul.search li > a").first.click()
    page.wait_for_load_state("load")
    assert page.locator("h1").count() == 1


def test_formulas_are_typeset_without_a_network(visit: Visit) -> None:
    page = visit.open("theory.html")
    page.wait_for_selector("mjx-container svg")
    page.evaluate("async () => await MathJax.startup.promise")
    assert page.locator("mjx-container").count() > 500
    assert page.locator(".math:not(:has(mjx-container))").count() == 0


def test_the_race_moves_unless_motion_is_not_wanted(chromium: Any) -> None:
    for motion, moves in (("no-preference", True), ("reduce", False)):
        context = chromium.new_context(reduced_motion=motion)
        page = context.new_page()
        page.goto((SITE / "index.html").as_uri())
        count = page.evaluate(
            "document.querySelector('svg.race').getAnimations({subtree: true}).length"
        )
        assert (count > 20) == moves
        assert page.locator("#race-again").is_visible() == moves
        if moves:
            page.evaluate("document.getAnimations().forEach((one) => one.finish())")
            page.locator("#race-again").click()
            running = "document.getAnimations().filter((one) => one.playState === 'running').length"
            assert page.evaluate(running) > 20
        context.close()


QUESTIONS = [
    Question(10_000, 100_000, 1.0),
    Question(10_000, 100_000, 0.1, bounds="none"),
    Question(500, 2_000, 1.0),
    Question(2_000, 1_000_000, 2.0, storage="file"),
    Question(20_000, 5_000, 1.0, storage="column"),
    Question(2_500, 100_000, 0.3, storage="cluster"),
]


def test_the_calculator_answers_as_the_formula_does(visit: Visit) -> None:
    page = visit.open("can-it-help.html")
    answers = set()
    for asked in QUESTIONS:
        page.select_option("[name=apart]", "own")
        page.select_option("[name=bounds]", asked.bounds)
        page.select_option("[name=storage]", asked.storage)
        for name in ("rows", "width", "k", "gap", "workers"):
            if name != "workers" or asked.storage == "cluster":
                page.fill(f"[name={name}]", f"{getattr(asked, name):g}")
        expected = advise(asked)
        assert page.get_attribute("#advice", "data-verdict") == expected.verdict, asked
        shown = page.inner_text("[data-shows=share]")
        assert float(shown.split()[0]) == pytest.approx(100 * expected.share, rel=0.05)
        begins = (
            "No" if ANSWERS[expected.verdict].startswith("no") else expected.verdict.capitalize()
        )
        assert page.inner_text("[data-shows=verdict]").startswith(begins)
        assert page.inner_text("[data-shows=like]") != "–"
        answers.add(expected.verdict)
    assert len(answers) >= 3
    page.select_option("[name=apart]", "independent")
    assert page.get_attribute("#advice", "data-verdict") in ("no gap", "rounds", "small")
    page.fill("[name=rows]", "0")
    assert page.get_attribute("#advice", "data-verdict") == "wrong"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_narrow_screens(scheme: str, chromium: Any) -> None:
    context = chromium.new_context(viewport=NARROW, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    for name in ("index", "can-it-help", "theory", "benchmarks", "gallery/index", "api/index"):
        page.goto((SITE / f"{name}.html").as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    context.close()


# What of the article ends beyond the right edge, where nothing smaller than the article scrolls to it.
LEAVES_THE_SCREEN = """all => {
  const scrolls = (box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
    && box.getBoundingClientRect().right <= innerWidth + 1;
  const reached = (one) => {
    for (let box = one; !box.classList.contains("bd-article"); box = box.parentElement)
      if (scrolls(box)) return true;
    return false;
  };
  return all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !reached(one))
    .map((one) => `${one.tagName} ${one.textContent.slice(0, 60)}`);
}"""


def test_nothing_leaves_a_narrow_screen(chromium: Any) -> None:
    """Look at every page for formulas, names, tables and pictures that are wider than the screen."""
    context = chromium.new_context(viewport=NARROW, reduced_motion="reduce")
    page = context.new_page()
    articles = 0
    for path in sorted(SITE.rglob("*.html")):
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        page.evaluate("async () => { if (window.MathJax?.startup) await MathJax.startup.promise; }")
        found = page.eval_on_selector_all(
            ".bd-article *:not(svg *, .headerlink)", LEAVES_THE_SCREEN
        )
        assert found == [], path.relative_to(SITE)
        articles += page.locator(".bd-article").count()
    assert articles > 50
    context.close()
