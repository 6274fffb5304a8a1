"""A selection as a run of MLflow, beside what a model of the chosen columns would log.

Needs `pip install 'pith-client[mlflow]'`; then `mlflow ui` shows parameters, curve and report.
"""

import os
from pathlib import Path

import mlflow

from pith_client import Pith

WINE = Path(__file__).parent / "wine.csv"


def main() -> str:
    """Select and log; answers the id of the run."""
    with Pith(os.environ.get("PITH_URL", "http://127.0.0.1:8000")) as pith:
        result = pith.select(WINE, target="cultivar", k=3, seed=1, progress=False)
        with mlflow.start_run(run_name="wine"):
            return result.log_to_mlflow()


if __name__ == "__main__":
    main()
