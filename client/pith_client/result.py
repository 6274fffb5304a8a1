"""What a job found, and what to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from pith_client import charts
from pith_client.models import Document, Selected
from pith_client.tables import keep

Frames = Literal["pandas", "polars"]


class Result:
    """The chosen features and all that explains them; `document` is the whole answer."""

    def __init__(self, job_id: str, document: Document) -> None:
        self.job_id = job_id
        self.document = document
        self.target: str = document["target"]
        self.selected = [Selected.read(feature) for feature in document["selected"]]
        self.input_names: list[str] | None = None

    def __repr__(self) -> str:
        return f"<{len(self.names)} features for {self.target!r}: {', '.join(self.names)}>"

    @property
    def names(self) -> list[str]:
        """The chosen features in order."""
        return [feature.name for feature in self.selected]

    @property
    def suggested_k(self) -> int:
        """After how many features nothing more was worth adding."""
        k: int = self.document["suggested_k"]
        return k

    @property
    def certificate(self) -> Document | None:
        """How close to the best possible the choice is, for methods that can say."""
        return self.document.get("certificate")

    @property
    def comparison(self) -> Document | None:
        """How several methods did on the same splits, where the job was asked to compare."""
        return self.document.get("comparison")

    @property
    def stability(self) -> Document | None:
        """How often each feature is chosen from samples of the rows, where the job was asked."""
        return self.document.get("stability")

    def transform(self, table: Any, names: Sequence[str] | None = None) -> Any:
        """Keep the chosen columns of a frame, an Arrow table or an array, in their order.

        The columns of an array are those of the array that was selected from, with or without its
        target, unless `names` says otherwise.
        """
        return keep(table, self.names, names or self.input_names, self.target)

    def to_frame(self, library: Frames | None = None) -> Any:
        """The chosen features as a frame of pandas or, where that is not there, of polars."""
        library = library or ("pandas" if find_spec("pandas") else "polars")
        rows = self.document["selected"]
        columns = {name: [row.get(name) for row in rows] for name in (rows[0] if rows else ())}
        return import_module(library).DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw what the features so far tell together, with error bands; needs matplotlib."""
        return charts.draw_trace(self.document, ax)

    def plot_accuracy(self, ax: Any = None) -> Any:
        """Draw the accuracy curves of `evaluate` or `compare`; needs matplotlib."""
        return charts.draw_accuracy(self.document, ax)
