"""Colours and shapes of all charts, and writing a chart to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from termsieve.errors import InputError, ParameterError
from termsieve.files import keep_file, kept_file, write_whole

#: Okabe and Ito's colours for all kinds of colour vision, without black and yellow, which are invisible on a
#: dark or a light background; beyond seven names, dashes and shapes distinguish the lines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
POSITIVE, NEGATIVE, FAINT = PALETTE[0], PALETTE[1], PALETTE[6]
FOUND = "currentColor"  # unlike any line, on a light and on a dark background
WIDTH, HEIGHT = 560, 340
LABEL_LIMIT = 190  # pixels of an axis label: a long word ends in an ellipsis

ALTAIR_ROWS = 5000
LEGEND = alt.Legend(labelLimit=LABEL_LIMIT, symbolOpacity=1)
LOG_AXIS = alt.Axis(format="~s", grid=False, labelOverlap="greedy", labelSeparation=8)
CONFIG = {
    "view": {"stroke": None},
    "axis": {"gridOpacity": 0.6, "labelLimit": LABEL_LIMIT},
    "font": "system-ui, sans-serif",
}


def records(table: pl.DataFrame | Iterable[dict[str, Any]]) -> Any:
    """Return any number of rows as the data of a chart."""
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(list(table), infer_schema_length=None)
    if frame.is_empty():
        raise InputError("there is nothing to draw: the table has no rows")
    # Altair refuses larger frames; it accepts larger lists, but copies them several times.
    return frame if frame.height <= ALTAIR_ROWS else alt.InlineData(values=frame.to_dicts())


def colour(names: Sequence[str], field: str = "method", title: str | None = None) -> alt.Color:
    """Return the colour of each name, with a legend."""
    scale = alt.Scale(domain=list(names), range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])
    return alt.Color(f"{field}:N", scale=scale, title=title, legend=LEGEND)


def dash(names: Sequence[str], field: str = "method", title: str | None = None) -> alt.StrokeDash:
    """Return the dashes of each name: solid for as many as there are colours."""
    dashes = [DASHES[i // len(PALETTE) % len(DASHES)] for i in range(len(names))]
    return alt.StrokeDash(f"{field}:N", scale=alt.Scale(domain=list(names), range=dashes), title=title)


def shape(names: Sequence[str], field: str = "method", title: str | None = None) -> alt.Shape:
    """Return the point shape of each name; colour and shape together distinguish 49 names."""
    shapes = [SHAPES[(i + i // len(PALETTE)) % len(SHAPES)] for i in range(len(names))]
    return alt.Shape(f"{field}:N", scale=alt.Scale(domain=list(names), range=shapes), title=title)


def layered(*layers: Any, **properties: Any) -> alt.LayerChart:
    """Return the layers as one chart of the usual width."""
    chart = alt.layer(*layers)
    assert isinstance(chart, alt.LayerChart)
    return chart.properties(**{"width": WIDTH, "height": HEIGHT} | properties)


def tips(*fields: str, **formats: str) -> list[alt.Tooltip]:
    """Return the tooltip: names as they are, then numbers in their formats."""
    # Objects, not short strings: Altair takes a hundred times as long to parse a string.
    texts = [alt.Tooltip(f"{field}:N") for field in fields]
    return texts + [alt.Tooltip(f"{field}:Q", format=form) for field, form in formats.items()]


def picked(field: str = "method") -> alt.Parameter:
    """Return a selection by a click in the legend; with shift several."""
    return alt.selection_point(name="picked", fields=[field], bind="legend")


def measure_label(measure: str) -> str:
    """Return the name of a measure for an axis.

    >>> measure_label("f1_break_even"), measure_label("recall")
    ('F1 at break-even', 'Recall')
    """
    special = {"f1": "F1", "f2": "F2", "f1_break_even": "F1 at break-even"}
    return special.get(measure, measure.replace("_", " ").capitalize())


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _vega_lite() -> str:
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


@cache
def vega_bundle() -> str:
    """Return the script of Vega, Vega-Lite and Vega-Embed that fits the installed Altair.

    vl-convert takes about two seconds of processor time to put it together, so it is kept in the user's cache
    folder, where the next process finds it.
    """
    name = f"vega-{_vega_lite()}-vl-convert-{version('vl-convert-python')}.js"
    kept = kept_file(name)
    if kept is not None:
        return kept.decode()
    import vl_convert

    script = vl_convert.javascript_bundle(vl_version=_vega_lite())  # type: ignore[call-arg]
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    keep_file(name, script.encode())
    return script


def specification(chart: Any) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification in termsieve's look."""
    spec = chart.to_dict(validate=False)  # Altair checked the parts when they were made
    # Altair writes its own theme into "config" by default.
    return {**spec, "config": {**spec.get("config", {}), **CONFIG}}


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;
 script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'">
<title>termsieve</title></head><body><div id="chart"></div>
<script>{bundle}</script>
<script>vegaEmbed("#chart", {spec});</script></body></html>
"""


def save(chart: Any, path: str | os.PathLike[str], scale: float = 1) -> None:
    """Write a chart to a .html, .svg, .png or .json file; the HTML needs no network.

    Unlike Altair's own HTML, it is safe for any words in the data.

    Parameters
    ----------
    chart : altair.Chart
        A chart of this module, or any other.
    path : path
        The file; its ending chooses the format.
    scale : float, default=1
        Factor of the size of a .png file.
    """
    import vl_convert

    kind, spec = Path(path).suffix.lower(), specification(chart)
    if kind == ".html":
        before, after = _PAGE.replace("{bundle}", vega_bundle()).split("{spec}")
        content = (before + script_json(spec) + after).encode()
    elif kind == ".svg":
        content = vl_convert.vegalite_to_svg(spec, vl_version=_vega_lite()).encode()
    elif kind == ".png":
        content = vl_convert.vegalite_to_png(spec, vl_version=_vega_lite(), scale=scale)
    elif kind == ".json":
        content = json.dumps(spec, allow_nan=False).encode()
    else:
        raise ParameterError(f"a chart is saved as .html, .svg, .png or .json, not as {kind or 'nothing'!r}")
    write_whole(path, content)
