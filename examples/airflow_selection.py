"""A DAG that selects the measurements that tell most about a wine, then prints them.

Needs `pip install 'pith-client[airflow]'` and a connection to the service:
`airflow connections add pith_default --conn-type http --conn-host http://127.0.0.1:8000`
"""

from pathlib import Path

from airflow.sdk import dag, task

from pith_client.airflow import PithSelectOperator

WINE = Path(__file__).parent / "wine.csv"


@dag(schedule=None)
def wine_features() -> None:
    """Select, then use what was selected."""
    select = PithSelectOperator(
        task_id="select", table=str(WINE), target="cultivar", options={"k": 3, "seed": 1}
    )

    @task
    def show(selected: dict[str, list[str]]) -> str:
        return ", ".join(selected["names"])

    show(select.output)


made = wine_features()
