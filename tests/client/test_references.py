"""Data by reference and results out, blocking and awaited."""

from __future__ import annotations

import asyncio

import pytest

from pith_client import AsyncPith, Export, Invalid, Pith
from tests.app.running import CSV, Service

SOURCE = {"connection": "lake", "path": "open/client.csv"}
OUT = {"connection": "lake", "path": "out/client/{job_id}"}


@pytest.fixture(autouse=True)
def file(service: Service) -> None:
    (service.data_dir / "lake" / "open" / "client.csv").write_bytes(CSV)


def test_from_where_it_lies_to_where_it_goes(service: Service, pith: Pith) -> None:
    assert [one.name for one in pith.connections()] == ["lake"]
    assert [one["name"] for one in pith.schema(SOURCE)["columns"]] == ["a", "b", "slow", "y"]
    result = pith.select(source=SOURCE, target="y", k=2, destination=OUT)
    assert result.names == ["a", "b"]
    delivery = pith.exported(result.job_id)
    assert isinstance(delivery, Export)
    assert (delivery.status, delivery.n_written) == ("delivered", 5)
    folder = service.data_dir / "lake" / "out"
    assert (folder / "client" / result.job_id / "manifest.json").exists()
    dataset = pith.ready(pith.refer(SOURCE, name="named").id)
    assert (dataset.name, dataset.n_rows) == ("named", 4)
    assert pith.ready(pith.refresh(dataset.id).id).sha256 == dataset.sha256
    with pytest.raises(Invalid):
        pith.export(result.job_id, "lake", "out/../open")
    with pytest.raises(TypeError):
        pith.select(target="y")


def test_the_same_awaited(service: Service) -> None:
    async def main() -> tuple[str, Export | None]:
        async with AsyncPith(service.url) as pith:
            result = await pith.select(source=SOURCE, target="y", k=1)
            await pith.export(result.job_id, "lake", "out/awaited", data=True)
            return result.job_id, await pith.exported(result.job_id)

    job_id, delivery = asyncio.run(main())
    assert delivery is not None
    assert (delivery.status, delivery.path, delivery.n_written) == ("delivered", "out/awaited", 6)
    manifest = service.data_dir / "lake" / "out" / "awaited" / "manifest.json"
    assert job_id in manifest.read_text()
