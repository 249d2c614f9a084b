"""The commands about studies: study plan, run, resume, status, merge, verify, report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.options import Json
from termsieve.cli.output import check_output, emit, show_json, show_table, working
from termsieve.cli.shell import put, say, wrong

study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compare methods by cross-validation on several corpora; an interrupted run can be continued.",
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
        help="A TOML file, or the name of a built-in plan; `termsieve study plan` lists them.",
        show_default=False,
        autocompletion=plan_names,
    ),
]
Folder = Annotated[
    Path, Argument(metavar="RESULTS", help="Directory with the results of a study.", show_default=False)
]
Out = Annotated[
    Path,
    Option(
        "-o",
        "--output",
        "--out",
        metavar="RESULTS",
        help="Directory for the results.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None,
    Option("--data", metavar="FOLDER", help="Folder with the plan's corpora; TERMSIEVE_DATA by default."),
]
Workers = Annotated[
    int | None, Option("--workers", metavar="N", help="Number of processes; one per core by default.")
]
Dask = Annotated[
    str | None, Option("--dask", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler.")
]
Html = Annotated[Path, Option("-o", "--output", metavar="FILE", help="Write the report to this .html file.")]


@study.command("plan", epilog="\b\nExample: termsieve study plan quick")
def plan_command(
    plan: Annotated[
        str | None,
        Argument(
            metavar="[PLAN]", help="A TOML file, or the name of a built-in plan.", autocompletion=plan_names
        ),
    ] = None,
    data: Data = None,
    calibrate: Annotated[
        float,
        Option("--calibrate", metavar="SECONDS", help="Seconds of work to run for the estimate; 0 for none."),
    ] = 5.0,
) -> None:
    """Say what a plan will do and how long it will take; without a plan, list the built-in plans."""
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
        str | None,
        Option("--share", metavar="I/N", help="Run only the I-th of N parts, to merge them later."),
    ] = None,
    extend: Annotated[
        bool, Option("--extend", help="Continue existing results with a plan that only adds to theirs.")
    ] = False,
    dask: Dask = None,
) -> None:
    """Run a plan, or continue an interrupted run; finished work is always kept."""
    from termsieve.studies import run_study

    _run(run_study, plan, output, data=data, workers=workers, extend=extend, share=_share(share), dask=dask)


@study.command("resume", epilog="\b\nExample: termsieve study resume results")
def resume_command(results: Folder, data: Data = None, workers: Workers = None, dask: Dask = None) -> None:
    """Continue the study in a directory."""
    from termsieve.studies import resume_study

    _run(resume_study, results, data=data, workers=workers, dask=dask)


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print each warning as a sentence at once, because a run may take hours."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: say(str(message))
        yield


def _run(function: Any, *paths: Any, dask: str | None, **options: Any) -> None:
    if dask is None:
        with _warnings_said():
            results = function(*paths, **options, progress=True)
    else:
        if options.pop("workers") is not None:
            raise wrong("--workers sets the processes of this machine; leave it out with --dask")
        from termsieve.studies.dask import DaskEngine

        with DaskEngine(dask) as engine:
            results = function(*paths, **options, progress=True, engine=engine)
    failed = results.failures
    say(f"{len(results):,} rows in {results.path}; next: termsieve study report {results.path}")
    if failed:
        say(f"{len(failed)} units failed, see {results.path / 'failed'}")
        say(f"continue with: termsieve study resume {results.path}")
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
        say(f"damaged files: {len(status.faults)}; run them again with: termsieve study resume {results}")
        raise typer.Exit(1)


@study.command("merge", epilog="\b\nExample: termsieve study merge machine1 machine2 -o results")
def merge_command(
    first: Folder,
    second: Annotated[
        Path,
        Argument(
            metavar="RESULTS", help="Another directory with results of the same plan.", show_default=False
        ),
    ],
    output: Out,
) -> None:
    """Unite two directories with results of the same plan."""
    from termsieve.studies import merge_studies

    merged = merge_studies(first, second, output)
    say(f"{len(merged):,} rows in {merged.path}")


@study.command("report", epilog="\b\nExample: termsieve study report results --measure recall")
def study_report_command(
    results: Folder,
    output: Html = Path("study.html"),
    measure: Annotated[
        str, Option("--measure", help="Measure to compare by: f1, precision, recall, accuracy, ...")
    ] = "f1",
    skew: Annotated[
        float | None,
        Option(
            "--skew",
            metavar="S",
            help="Skew (neg / pos) that separates problems of low and high skew, such as 67; by default "
            "the 90th percentile of all.",
        ),
    ] = None,
    data: Data = None,
    corpus: Annotated[
        str | None,
        Option("--corpus", metavar="NAME", help="Corpus of the contour maps and of the map of words."),
    ] = None,
    target: Annotated[
        str | None,
        Option("--class", "-c", metavar="NAME", help="Class of the contour maps and of the map of words."),
    ] = None,
) -> None:
    """Write the report of a study: curves, best chances, pairs, significance, stability, words.

    Contour maps of the metrics and a map of words show one class of one corpus, by default the class of
    median skew. The map of words needs this corpus; so do largest scores and implied ratios (of plans with
    ratios or signed metrics) and sparsity by number of terms. Without it the report says what is missing.
    """
    from termsieve.studies.results import Results

    check_output(output, (".html",))
    found = Results.open(results)
    with working("writing the report"):
        from termsieve.reports import study_report

        study_report(found, output, measure=measure, skew=skew, data=data, corpus=corpus, target=target)
    say(f"wrote {output}; open it in a browser")


def paper_names() -> list[str]:
    """Return the papers, for completion."""
    from termsieve.analysis.findings import PAPERS

    return list(PAPERS)


@study.command("verify", epilog="\b\nExample: termsieve study verify forman2003 results")
def verify_command(
    paper: Annotated[
        str,
        Argument(
            metavar="PAPER",
            help="The tag of a paper, such as forman2003.",
            show_default=False,
            autocompletion=paper_names,
        ),
    ],
    results: Annotated[
        list[Path],
        Argument(
            metavar="RESULTS...",
            help="Directories with the results of the paper's plans.",
            show_default=False,
        ),
    ],
    cells: Annotated[
        bool, Option("--cells", help="Show every figure that the paper prints beside ours instead.")
    ] = False,
    data: Data = None,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write the table to this file instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Test each finding of a paper on your own results of its plans.

    A finding holds, holds partly, fails, or is not tested because these results lack what its test reads.
    The column "lacks" says which part of the built-in plan was not run.
    """
    from termsieve.analysis.findings import VERDICTS, paper_cells, verify_findings
    from termsieve.studies import study_status
    from termsieve.studies.results import Results

    check_output(output)
    found = [Results.open(path) for path in results]
    for status in map(study_status, results):
        if not status.finished:
            say(
                f"{status.path} has {status.trainings:,} of {status.all_trainings:,} trainings; "
                "the verdicts are about these"
            )
    with working("testing the findings"):
        table = (paper_cells if cells else verify_findings)(paper, found, data)
    shown = table if cells else table.drop("paper")
    emit(shown.to_dicts(), as_json=as_json, output=output)
    if not cells:
        counts = table["verdict"].value_counts().to_dict(as_series=False)
        said = dict(zip(counts["verdict"], counts["count"], strict=True))
        say(", ".join(f"{said.get(verdict, 0)} {verdict}" for verdict in VERDICTS))
