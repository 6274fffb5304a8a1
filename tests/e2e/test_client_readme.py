"""The client's guide, run as it stands, and a comparison that goes all the way."""

from __future__ import annotations

import contextlib
import io
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

from pith_client import Pith
from tests.e2e.embedded import ROOT, WINE, Service

mpl.use("agg")


def test_the_examples_print_what_the_guide_shows(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "client" / "README.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", page, re.M | re.S)
    assert len(examples) == page.count("```python")
    shared: dict[str, object] = {}
    for program, shown in examples:
        printed = io.StringIO()
        here = program.replace("http://127.0.0.1:8000", service.address)
        # Browsers of other tests leave a loop in this thread, where asyncio.run wants none.
        with contextlib.redirect_stdout(printed), ThreadPoolExecutor(1) as apart:
            apart.submit(exec, here, shared).result()
        assert printed.getvalue() == shown
    pith = shared["pith"]
    assert isinstance(pith, Pith)
    pith.close()


def test_a_comparison_comes_back_with_its_curves(service: Service) -> None:
    comparison = {"methods": ["mrmr", "jmim"], "n_splits": 2}
    with Pith(service.address) as pith:
        result = pith.select(
            WINE, target="cultivar", k=2, method="mrmr", compare=comparison, stability=2
        )
    assert result.comparison is not None and result.stability is not None
    assert [m["label"] for m in result.comparison["methods"]] == ["mrmr", "jmim"]
    assert result.stability["n_samples"] == 2
    legend = result.plot_accuracy().get_legend().get_texts()
    assert [entry.get_text() for entry in legend] == ["mrmr", "jmim", "no features"]


def test_noise_is_a_result_without_features(service: Service) -> None:
    rng = np.random.default_rng(0)
    noise = {f"c{n}": rng.integers(0, 3, 300).tolist() for n in range(5)}
    table = pl.DataFrame(noise | {"y": rng.integers(0, 2, 300).tolist()})
    with Pith(service.address) as pith:
        result = pith.select(table, target="y")
        job = pith.job(result.job_id)
        report = httpx.get(f"{service.address}/v1/jobs/{job.id}/report").text
    assert job.status == "succeeded"
    assert result.names == [] and result.suggested_k == 0
    assert result.transform(table.to_numpy(), table.columns).shape == (300, 0)
    assert "No column here tells anything about" in report
