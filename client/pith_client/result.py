"""What a job found, and what to do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pith_client import charts, notebook, tracking
from pith_client.models import Document, HeldOut, Selected, TableWarning
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
        self.input_library: str | None = None
        self.write_report: Callable[[Path], object] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the client that a report would be asked of: it has open connections."""
        return {**vars(self), "write_report": None}

    def __repr__(self) -> str:
        if not self.names:
            return f"<no column here tells anything about {self.target!r}>"
        features = "1 feature" if len(self.names) == 1 else f"{len(self.names)} features"
        return f"<{features} for {self.target!r}: {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return notebook.table_of(self.document)

    @property
    def names(self) -> list[str]:
        """The chosen features in order; none, where no column tells anything."""
        return [feature.name for feature in self.selected]

    @property
    def held_out(self) -> HeldOut | None:
        """What holds on rows that nothing had seen, for methods that can say."""
        held_out = self.document.get("held_out")
        return HeldOut.read(held_out) if held_out else None

    @property
    def suggested_k(self) -> int:
        """The fewest features that tell as much on held-out rows as any number; 0 is none."""
        k: int = self.document["suggested_k"]
        return k

    @property
    def warnings(self) -> list[TableWarning]:
        """What a reader should know about the table."""
        return [TableWarning.read(warning) for warning in self.document.get("warnings", ())]

    @property
    def certificate(self) -> Document | None:
        """How close to the best possible the choice is under the fitted model."""
        return self.document.get("certificate")

    @property
    def evaluation(self) -> Document | None:
        """How the choice did on held-out rows for every K, where the job was asked to evaluate."""
        return self.document.get("evaluation")

    @property
    def comparison(self) -> Document | None:
        """How several methods did on the same splits, where the job was asked to compare."""
        return self.document.get("comparison")

    @property
    def stability(self) -> Document | None:
        """How often each feature is chosen from halves of the rows, where the job was asked."""
        return self.document.get("stability")

    @property
    def missing(self) -> list[Document]:
        """Of a partial result: the parts that are not all done, with `n_done` and `n_asked`."""
        missing: list[Document] = self.document.get("missing", [])
        return missing

    @property
    def columns(self) -> list[str]:
        """The columns that the chosen features are made of; several may be parts of one time."""
        derived = self.document.get("derived", ())
        sources = {part["name"]: part["source_column"] for part in derived}
        return list(dict.fromkeys(sources.get(name, name) for name in self.names))

    def transform(self, table: Any, names: Sequence[str] | None = None) -> Any:
        """Keep the chosen columns of a frame, an Arrow table or an array, in their order.

        A column of times is kept whole where one of its parts is chosen.
        The columns of an array are those of the array that was selected from, with or without its
        target, unless `names` says otherwise.
        """
        return keep(table, self.columns, names or self.input_names, self.target)

    def to_frame(self, library: Frames | None = None) -> Any:
        """The chosen features as a frame of the library that the table came in, or of pandas.

        Polars is taken where pandas is not there.

        `held_out` is what the features so far tell together on rows held out, with its standard
        error; gains and information are the fitted model's own.
        """
        usual = "polars" if self.input_library == "polars" or not find_spec("pandas") else "pandas"
        frames = import_module(library or usual)
        rows = [{**row, **self._told(row["rank"])} for row in self.document["selected"]]
        names = rows[0] if rows else [f.name for f in fields(Selected) if f.name != "document"]
        return frames.DataFrame({n: [row.get(n) for row in rows] for n in names})

    def _told(self, k: int) -> dict[str, float | None]:
        held_out = self.held_out
        if held_out is None or k >= len(held_out.information):
            return {"held_out": None, "held_out_se": None}
        return {"held_out": held_out.information[k], "held_out_se": held_out.standard_error[k]}

    def log_to_mlflow(self) -> str:
        """Log parameters, the curve, the names and the report to MLflow; answers the run's id.

        To the run that is active, or to a new one; a run holds one result. The report is asked of
        the client that the result came from, which is still open; of an asynchronous client, and
        of a result that was pickled, there is none. Needs mlflow.
        """
        return tracking.log_to_mlflow(self.job_id, self.document, self.write_report)

    def plot(self, ax: Any = None) -> Any:
        """Draw what the first K features tell on held-out rows, with error bars.

        Methods that cannot say are drawn by their scores. Needs matplotlib.
        """
        return charts.draw_held_out(self.document, ax)

    def plot_model(self, ax: Any = None) -> Any:
        """Draw what the fitted model itself says its features tell; needs matplotlib."""
        return charts.draw_trace(self.document, ax)

    def plot_accuracy(self, ax: Any = None, measure: str = "accuracy") -> Any:
        """Draw the curves of `evaluate` or `compare` by a measure; needs matplotlib.

        Measures are accuracy, balanced_accuracy, log_loss and auc, and of a target that is a number
        r2 and rank_correlation.
        """
        return charts.draw_accuracy(self.document, ax, measure)
