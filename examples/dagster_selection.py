"""Two assets: wines, and of them the measurements that tell most about the cultivar.

Needs `pip install 'pith-client[dagster]' pandas`; `dagster dev -f examples/dagster_selection.py`.
"""

import os
from pathlib import Path

import pandas as pd
from dagster import Definitions, asset

from pith_client.dagster import PithResource, selection_asset

WINE = Path(__file__).parent / "wine.csv"


@asset
def wines() -> pd.DataFrame:
    """The table as it is."""
    return pd.read_csv(WINE)


wine_features = selection_asset("wine_features", upstream="wines", target="cultivar", k=3, seed=1)

definitions = Definitions(
    assets=[wines, wine_features],
    resources={"pith": PithResource(url=os.environ.get("PITH_URL", "http://127.0.0.1:8000"))},
)
