"""Commands: `tables PAPER RESULTS...` stores a paper's tables, `pictures` and `pages` are made from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from reproductions.figures import FIGURES, write_pictures
from reproductions.pages import write_pages
from reproductions.tables import write_tables
from termsieve.studies.results import Results


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    tables = commands.add_parser("tables", help="store the tables of a paper")
    tables.add_argument("paper")
    tables.add_argument("results", nargs="+", help="directories that the paper's plans wrote")
    tables.add_argument("--data", type=Path, help="folder of the unpacked corpora")
    tables.add_argument("--keep", action="store_true", help="keep stored tables that these results lack")
    commands.add_parser("pages", help="write the pages of docs/ from the stored tables")
    pictures = commands.add_parser("pictures", help="draw the papers' figures from the stored tables")
    pictures.add_argument("papers", nargs="*", choices=[[], *FIGURES], help="all by default")
    options = parser.parse_args(arguments)
    if options.command == "tables":
        write_tables(
            options.paper, [Results.open(path) for path in options.results], options.data, options.keep
        )
    elif options.command == "pictures":
        write_pictures(options.papers or FIGURES)
    else:
        write_pages()


if __name__ == "__main__":
    main()
