"""The commands about studies and reports: study plan, run, status, resume, merge, report; and report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.output import check_output, show_json, show_table, working
from termsieve.cli.shell import put, say, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.cli.terms import Json

app = typer.Typer()
study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compare methods by cross-validation over corpora, resumably.",
    epilog="\b\nExample: termsieve study run quick -o results",
)


def plan_names() -> list[str]:
    """Return the built-in plans, for completion."""
    from termsieve.studies import PLANS

    return list(PLANS)


PlanName = Annotated[
    str,
    Argument(
        metavar="PLAN",
        help="A TOML file, or a built-in plan; `termsieve study plan` lists them.",
        show_default=False,
        autocompletion=plan_names,
    ),
]
Folder = Annotated[
    Path, Argument(metavar="RESULTS", help="The directory of a study's results.", show_default=False)
]
Out = Annotated[
    Path,
    Option(
        "-o",
        "--output",
        "--out",
        metavar="RESULTS",
        help="The directory for the results.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None,
    Option("--data", metavar="FOLDER", help="Where the plan's corpora are; TERMSIEVE_DATA by default."),
]
Workers = Annotated[int | None, Option("--workers", metavar="N", help="Processes; one a core by default.")]
Dask = Annotated[
    str | None, Option("--dask", metavar="ADDRESS", help="Run on that Dask scheduler's cluster.")
]
Html = Annotated[Path, Option("-o", "--output", metavar="FILE", help="The report to write, as .html.")]


@study.command("plan", epilog="\b\nExample: termsieve study plan quick")
def plan_command(
    plan: Annotated[
        str | None,
        Argument(metavar="[PLAN]", help="A TOML file, or a built-in plan.", autocompletion=plan_names),
    ] = None,
    data: Data = None,
    calibrate: Annotated[
        float,
        Option(
            "--calibrate", metavar="SECONDS", help="Time some of the work, to estimate the rest; 0: none."
        ),
    ] = 5.0,
) -> None:
    """Say what a plan will do and how long it takes; without a plan, list the built-in ones."""
    from termsieve.studies import PLANS, load_plan, study_summary

    if plan is None:
        show_table([{"plan": name, "about": load_plan(name).about} for name in PLANS])
        return
    with working("reading the corpora"):
        summary = study_summary(plan, data=data, calibrate_seconds=calibrate)
    put(f"{summary}\n")


@study.command("run", epilog="\b\nExample: termsieve study run quick -o results")
def run_command(
    plan: PlanName,
    output: Out,
    data: Data = None,
    workers: Workers = None,
    share: Annotated[
        str | None, Option("--share", metavar="I/N", help="Only the I-th of N parts, to merge later.")
    ] = None,
    extend: Annotated[
        bool, Option("--extend", help="Let a plan with additions go on with these results.")
    ] = False,
    dask: Dask = None,
) -> None:
    """Run a plan, or go on with it; what is finished is kept, whatever happens."""
    from termsieve.studies import run_study

    _run(run_study, plan, output, data=data, workers=workers, extend=extend, share=_share(share), dask=dask)


@study.command("resume", epilog="\b\nExample: termsieve study resume results")
def resume_command(results: Folder, data: Data = None, workers: Workers = None, dask: Dask = None) -> None:
    """Go on with the study in a directory."""
    from termsieve.studies import resume_study

    _run(resume_study, results, data=data, workers=workers, dask=dask)


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print each warning as a sentence when it comes, for a run may take long."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: say(str(message))
        yield


def _run(function: Any, *paths: Any, dask: str | None, **options: Any) -> None:
    if dask is None:
        with _warnings_said():
            made = function(*paths, **options, progress=True)
    else:
        if options.pop("workers") is not None:
            raise wrong("--workers is for one machine, not for --dask")
        from termsieve.studies.dask import DaskEngine

        with DaskEngine(dask) as engine:
            made = function(*paths, **options, progress=True, engine=engine)
    failed = made.failures
    say(f"{len(made):,} rows in {made.path}; next: termsieve study report {made.path}")
    if failed:
        say(f"{len(failed)} units failed, see {made.path / 'failed'}; go on with: termsieve study resume")
        raise typer.Exit(1)


def _share(text: str | None) -> tuple[int, int]:
    if text is None:
        return 1, 1
    first, _, second = text.partition("/")
    if not (first.isdigit() and second.isdigit()):
        raise wrong(f"--share must be like 1/2, not {text!r}")
    return int(first), int(second)


@study.command("status", epilog="\b\nExample: termsieve study status results")
def status_command(
    results: Folder,
    verify: Annotated[
        bool,
        Option("--verify", help="Compare every file with its checksum; exit code 1 if one is damaged."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say how much of a study is done."""
    from termsieve.studies import study_status

    status = study_status(results, verify=verify)
    if as_json:
        facts = {name: value for name, value in vars(status).items() if name != "path"}
        show_json({**facts, "path": str(status.path), "finished": status.finished})
    else:
        put(f"{status}\n")
    if status.faults:
        say(f"damaged files: {len(status.faults)}; mend them with: termsieve study resume {results}")
        raise typer.Exit(1)


@study.command("merge", epilog="\b\nExample: termsieve study merge machine1 machine2 -o results")
def merge_command(
    first: Folder,
    second: Annotated[
        Path, Argument(metavar="RESULTS", help="Another directory, of the same plan.", show_default=False)
    ],
    output: Out,
) -> None:
    """Unite the results of one plan from two directories."""
    from termsieve.studies import merge_studies

    made = merge_studies(first, second, output)
    say(f"{len(made):,} rows in {made.path}")


@study.command("report", epilog="\b\nExample: termsieve study report results --measure recall")
def study_report_command(
    results: Folder,
    output: Html = Path("study.html"),
    measure: Annotated[
        str, Option("--measure", help="The goal: f1, precision, recall, accuracy, ...")
    ] = "f1",
) -> None:
    """Write a study's report: curves, best chances, pairs, significance, stability."""
    from termsieve.studies.results import Results

    check_output(output, (".html",))
    found = Results.open(results)
    with working("writing the report"):
        from termsieve.reports import study_report

        study_report(found, output, measure=measure)
    say(f"wrote {output}; open it in a browser")


@app.command(epilog="\b\nExample: termsieve report mail.csv --text body --label folder -o report.html")
@takes_source
def report(source: Source, output: Html = Path("report.html")) -> None:
    """Write an HTML report on documents, counts or a study.

    It shows the classes, warnings, the telling words and a map of all words for each class. FILE may also
    be the directory of a study's results.
    """
    check_output(output, (".html",))
    if os.path.isfile(os.path.join(source.file, "manifest.json")):
        study_report_command(Path(source.file), output, "f1")
        return
    found = source.counts() if source.is_counts or source.term_options() else source.corpus()
    with working("writing the report"):
        from termsieve.reports import corpus_report

        corpus_report(found, output)
    say(f"wrote {output}; open it in a browser")
