"""Tables of several libraries: to bytes for the upload, and down to the chosen columns.

No library is imported unless the caller has given an object of it.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
OUR_CSV = {"delimiter": ",", "encoding": "utf-8", "header": "true"}


@dataclass(frozen=True)
class Upload:
    """What is sent: bytes or a file, of which type, and how to read it."""

    content: bytes | Path
    media_type: str
    params: Mapping[str, str] = field(default_factory=dict)


def encode(table: Any, names: Sequence[str] | None = None) -> Upload:
    """Make a table ready for the upload; a path is sent as it is, and named for its type."""
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        return Upload(path, "application/octet-stream", {"name": path.name})
    library = library_of(table)
    if library == "numpy":
        return _encode_columns(_array_columns(table, names))
    encoders: dict[str | None, Callable[[Any], Upload]] = {
        "pandas": _encode_pandas,
        "polars": _encode_polars,
        "pyarrow": _encode_arrow,
    }
    if library not in encoders:
        raise TypeError(
            "give a path, a frame of pandas or polars, an Arrow table or a numpy array, "
            f"not {type(table).__name__}"
        )
    return encoders[library](table)


def library_of(table: Any) -> str | None:
    """The library that a table comes from, itself or by inheritance."""
    known = {
        ("pandas", "DataFrame"),
        ("polars", "DataFrame"),
        ("pyarrow", "Table"),
        ("pyarrow", "RecordBatch"),
        ("numpy", "ndarray"),
    }
    roots = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(table).__mro__)
    return next((root for root, name in roots if (root, name) in known), None)


def names_of(table: Any, names: Sequence[str] | None) -> list[str] | None:
    """The names of an array's columns; other tables have their own."""
    if library_of(table) != "numpy":
        return None
    return list(table.dtype.names or names or ()) or None


def name_of(target: Any) -> str:
    """The name of a column, given by name or as a Series of pandas or polars that has one."""
    if isinstance(target, str):
        return target
    kind = type(target)
    is_series = kind.__name__ == "Series" and kind.__module__.split(".")[0] in ("pandas", "polars")
    if is_series and target.name:
        return str(target.name)
    raise TypeError(
        "target is the name of a column of the table, or that column as a Series with a name; "
        "put other values into the table first"
    )


def keep(table: Any, chosen: Sequence[str], names: Sequence[str] | None, target: str) -> Any:
    """Cut a table down to the chosen columns, in their order; `names` are those of an array."""
    library = library_of(table)
    if library == "pandas":
        places = _places([str(name) for name in table.columns], chosen)
        return table.iloc[:, places]
    if library in ("polars", "pyarrow"):
        own = table.columns if library == "polars" else table.schema.names
        _places(own, chosen)
        return table.select(list(chosen))
    if library == "numpy":
        if table.dtype.names:
            _places(table.dtype.names, chosen)
            return table[list(chosen)]
        return table[:, _places(_width_names(table, names, target), chosen)]
    raise TypeError(
        f"give a frame of pandas or polars, an Arrow table or a numpy array, not {table!r}"
    )


def _places(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    place = {name: i for i, name in enumerate(names)}
    absent = [name for name in chosen if name not in place]
    if absent:
        raise ValueError(f"the table has no column {absent[0]!r}, which was chosen")
    return [place[name] for name in chosen]


def _width_names(array: Any, names: Sequence[str] | None, target: str) -> Sequence[str]:
    """The names of an array's columns, with the target among them or, as in prediction, not."""
    if names is None:
        raise ValueError("an array has no names: give those of its columns as `names`")
    features = [name for name in names if name != target]
    for candidate in (names, features):
        if array.ndim == 2 and len(candidate) == array.shape[1]:
            return candidate
    raise ValueError(f"an array of shape {array.shape} does not fit the {len(names)} names")


def _encode_pandas(frame: Any) -> Upload:
    frame = frame.rename(columns=str)
    try:
        return Upload(frame.to_parquet(index=False), PARQUET)
    except ImportError:  # pandas writes Parquet with the help of another library
        return Upload(frame.to_csv(index=False).encode(), CSV, OUR_CSV)
    except (TypeError, ValueError):  # several types in a column; the engine takes them as text
        mixed = frame.select_dtypes("object").columns
        texts = {name: frame[name].map(str, na_action="ignore") for name in mixed}
        return Upload(frame.assign(**texts).to_parquet(index=False), PARQUET)


def _encode_polars(frame: Any) -> Upload:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return Upload(buffer.getvalue(), PARQUET)


def _encode_arrow(table: Any) -> Upload:
    import pyarrow as pa  # noqa: PLC0415  the caller's own library
    import pyarrow.parquet as pq  # noqa: PLC0415

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return Upload(buffer.getvalue(), PARQUET)


def _array_columns(array: Any, names: Sequence[str] | None) -> dict[str, Any]:
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2:
        raise ValueError(f"an array must have two dimensions, not {array.ndim}")
    if names is None:
        raise ValueError("an array has no names: give those of its columns as `names`")
    if len(set(names)) != array.shape[1] or len(names) != array.shape[1]:
        raise ValueError(f"{array.shape[1]} columns need as many different names")
    return {str(name): array[:, i] for i, name in enumerate(names)}


def _encode_columns(columns: Mapping[str, Any]) -> Upload:
    try:
        import pyarrow as pa  # noqa: PLC0415  smaller and faster, where it is installed
    except ImportError:
        return _encode_csv(columns)
    return _encode_arrow(pa.table({name: _arrow_array(pa, c) for name, c in columns.items()}))


def _arrow_array(pa: Any, column: Any) -> Any:
    try:
        return pa.array(column, from_pandas=True)
    except (TypeError, ValueError):  # several types in a column; the engine takes them as text
        texts = [None if value is None or value != value else str(value) for value in column]  # noqa: PLR0124
        return pa.array(texts)


def _encode_csv(columns: Mapping[str, Any]) -> Upload:
    """Floats are written so that they read back as they were."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return Upload(text.getvalue().encode(), CSV, OUR_CSV)
