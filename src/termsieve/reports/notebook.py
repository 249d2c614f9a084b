"""A report comes in; an object that notebooks show in a frame, and that opens in a browser, goes out."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from termsieve.files import write_whole
from termsieve.reports.corpus import corpus_report
from termsieve.sources import Source

FRAME_HEIGHT = 800  # pixels


class HtmlReport:
    """An offline HTML report: a notebook shows it in a frame, `show` also opens it in a browser.

    Parameters
    ----------
    html : str
        The whole document.

    Examples
    --------
    >>> HtmlReport("<!DOCTYPE html><title>Words</title>")
    <HtmlReport of 0.0 MB; show() opens it, save(path) writes it>
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def __repr__(self) -> str:
        return (
            f"<HtmlReport of {len(self.html.encode()) / 1e6:.1f} MB; show() opens it, save(path) writes it>"
        )

    def _repr_html_(self) -> str:
        # The frame has an origin of its own: the report can neither read nor change the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            f'title="termsieve report" style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file; a failed attempt leaves no file behind.

        Parameters
        ----------
        path : path
            The file.
        """
        write_whole(path, self.html.encode())

    def show(self) -> None:
        """Show the report: below the cell in a notebook, elsewhere in a tab of the browser."""
        if _in_notebook():
            from IPython.display import display

            display(self)  # type: ignore[no-untyped-call]
            return
        path = Path(tempfile.mkdtemp(prefix="termsieve-"), "report.html")
        self.save(path)
        webbrowser.open(path.as_uri())


def explore(source: Source, **options: Any) -> HtmlReport:
    """Return the explorer of a corpus: which words, in which classes, in what sentences.

    Parameters
    ----------
    source : frame, Corpus, Counts, path or list of paths
        The documents, or their counts.
    **options
        ``text=`` and ``label=`` name the columns of a frame or table; all other options are those of
        :func:`termsieve.corpus_report`.

    Returns
    -------
    HtmlReport
        A notebook shows it below the cell; ``show()`` opens it in a browser, ``save(path)`` writes it.

    Examples
    --------
    >>> from termsieve import Corpus
    >>> explore(Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"]))
    <HtmlReport of 0... MB; show() opens it, save(path) writes it>
    """
    return HtmlReport(corpus_report(source, **options))


def _in_notebook() -> bool:
    """Return whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config
