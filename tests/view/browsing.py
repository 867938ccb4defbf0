"""A tab of a real browser that is watched, and pages to open in it."""

import shutil

from run_maker import make_run

from zephyrus.view.run import write_run_view

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESKTOP = {"width": 1300, "height": 850}
PHONE = {"width": 390, "height": 800}


class Watched:
    """A tab, and what it said and asked for."""

    def __init__(self, context, file):
        self.tab = context.new_page()
        self.tab.set_default_timeout(60_000)  # a busy machine fails no test
        self.file = file
        self.said, self.asked = [], []
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.said.append("dialog"))
        self.tab.on("request", lambda request: self.asked.append(request.url))

    def open(self, fragment=""):
        self.tab.goto("about:blank")
        self.tab.goto(self.file.as_uri() + fragment)
        self.tab.wait_for_selector("main")
        return self.tab

    def quiet(self):
        """That nothing was refused, broke, or was loaded but the page itself and images in it."""
        assert self.said == []
        assert all(
            url.startswith((self.file.as_uri(), "data:image/png", "about:")) for url in self.asked
        )


def page_of(tmp_path, *runs):
    """The page of these rollouts, one list a run."""
    made = [
        make_run(tmp_path / f"{len(runs)}-{n}", some, policy=policy)
        for n, (some, policy) in enumerate(zip(runs, ("tester", "other"), strict=False))
    ]
    file = tmp_path / f"{len(runs)}.html"
    write_run_view(file, made)
    return file
