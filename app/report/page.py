"""The report: one HTML file with every picture and the provenance, that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from app.report.chart import NARROW, WIDTH, Chart
from app.report.markup import joined, tag
from app.report.parts import Part
from app.report.scales import number
from app.report.words import CUTS, counted, headline

OPEN_ROWS = 30
READ = ("column", "kind", "cut_by", "levels", "missing", "nats_lost")
ENCODING = (
    "What is lost is what a finer cut of the column would tell more about the target, by itself."
)


@dataclass(frozen=True)
class About:
    """Which table the result is of, and when it was made."""

    dataset: str
    made: datetime

    def __str__(self) -> str:
        """One line."""
        return f"{self.dataset} · {self.made:%d %B %Y, %H:%M} UTC"


def report(document: Mapping[str, Any], parts: Sequence[Part], about: About) -> str:
    """The whole file."""
    title = f"Features for {document['target']} in {about.dataset}"
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        # Policy and style are made from files of ours: no name of a dataset stands in them.
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'),  # noqa: S704
        tag("title", f"{title} · Pith"),
        Markup(f"<style>{style()}</style>"),  # noqa: S704
    )
    body = tag(
        "main",
        tag("p", f"Pith report · {about}", cls="kicker"),
        tag("h1", headline(document)),
        *_warnings(document.get("warnings", ())),
        _chosen(document["selected"]),
        *(_part(part) for part in parts),
        _encoding(document["encoding"]),
        _provenance(document["provenance"]),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def style() -> str:
    """The colours of the charts, shared with the web page, and the report's own layout."""
    web = files("app").joinpath("web")
    return "\n".join(web.joinpath(name).read_text() for name in ("charts.css", "report.css"))


def policy() -> str:
    """Nothing may load or run; only this very style applies."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'"


def _warnings(warnings: Sequence[Mapping[str, Any]]) -> list[Markup]:
    if not warnings:
        return []
    items = (tag("li", warning["message"]) for warning in warnings)
    return [tag("ul", *items, cls="warnings")]


def _encoding(columns: Sequence[Mapping[str, Any]]) -> Markup:
    """How every column was read, and what its cut costs."""
    return tag(
        "section",
        tag("h2", "How each column was read"),
        tag("p", ENCODING, cls="caption"),
        _data("Columns", READ, [read_column(c) for c in columns]),
    )


def _chosen(selected: Sequence[Mapping[str, Any]]) -> Markup:
    """The names, in order."""
    return tag("ol", *(tag("li", feature["name"]) for feature in selected), cls="names")


def _part(part: Part) -> Markup:
    return tag(
        "section",
        tag("h2", part.title),
        tag("ul", *(tag("li", sentence) for sentence in part.sentences), cls="summary"),
        *map(_figure, part.charts),
    )


def _figure(chart: Chart) -> Markup:
    return tag(
        "figure",
        tag("h3", chart.title),
        tag("div", chart.draw(WIDTH), cls="chart on-wide"),
        tag("div", chart.draw(NARROW), cls="chart on-narrow"),
        tag("p", chart.caption, cls="caption"),
        _data("Data", chart.columns, chart.rows),
    )


def _data(name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """A table that is open, unless it is long."""
    is_open = "" if len(rows) <= OPEN_ROWS else None
    summary = f"{name}, {counted(len(rows), 'row')}"
    return tag("details", tag("summary", summary), _table(columns, rows), open=is_open)


def read_column(column: Mapping[str, Any]) -> list[Any]:
    """A row of the table of columns."""
    missing = f"{column['n_missing']:,}" if column["n_missing"] else "none"
    return [
        column["name"],
        column["kind"],
        CUTS.get(column.get("strategy") or "", ""),
        len(column["levels"]),
        f"{missing}, a level" if column.get("missing_is_level") else missing,
        column.get("information_lost"),
    ]


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    head = tag("tr", *(tag("th", name.replace("_", " ")) for name in columns))
    body = (tag("tr", *(_cell(value) for value in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), cls="scroll")


def _cell(value: Any) -> Markup:
    if isinstance(value, float):
        return tag("td", number(value), cls="number")
    return tag("td", "" if value is None else str(value))


def _provenance(provenance: Mapping[str, Any]) -> Markup:
    dataset = provenance["dataset"]
    versions = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    facts = {"Dataset": dataset["id"], "SHA-256": dataset["sha256"], "Versions": versions}
    listed = joined(*(joined(tag("dt", k), tag("dd", v)) for k, v in facts.items()))
    specification = json.dumps(provenance["specification"], indent=2, ensure_ascii=False)
    return tag(
        "section",
        tag("h2", "Provenance"),
        tag("p", "The same specification on the same bytes and versions gives this result again."),
        tag("dl", listed),
        tag("pre", specification),
    )
