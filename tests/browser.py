"""A real browser for the tests of pages: it has no network, and a page that is not quiet is a fault."""

import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("gpu", "quic", "background-networking", "component-update", "sync")
ARGS = ["--no-sandbox", "--no-first-run", "--disable-dev-shm-usage", *(f"--disable-{name}" for name in QUIET)]
PATIENCE = 120_000  # milliseconds: a busy machine is no fault of the page


class Visits:
    """Pages of one browser; `faults` collects everything that a quiet page does not do."""

    def __init__(self, browser):
        self.browser, self.contexts, self.faults = browser, [], []

    def open(self, address, ready="body[data-drawn]", **options):
        size = {"viewport": {"width": 1280, "height": 900}}
        self.contexts.append(self.browser.new_context(**{**size, "offline": True} | options))
        page = self.contexts[-1].new_page()
        own = address.partition("#")[0]
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(own) or self.faults.append(request.url))
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        assert self.faults == []
