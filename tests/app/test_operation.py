"""What operators and newcomers look at."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from core.config import GsmCpd
from tests.app.running import CSV, Service

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "pith.json"
ENDINGS = {
    "counter": ("_total",),
    "gauge": ("",),
    "summary": ("_sum", "_count"),
    "histogram": ("_bucket", "_sum", "_count"),
}


def test_operation(service: Service) -> None:
    get = service.client.get
    assert get("/livez").json() == {"status": "ok"}
    assert get("/readyz").json() == {
        **{"status": "ok", "database": "ok"},
        **{"broker": "ok", "storage": "ok"},
    }
    assert get("/version").json()["name"] == "pith"
    job_id = service.submit(service.ready_dataset(CSV))
    service.final(job_id)
    provenance = get(f"/v1/jobs/{job_id}/result").json()["provenance"]
    assert provenance["versions"] == get("/version").json()["versions"]
    assert {"pith", "python", "numba"} < set(provenance["versions"])
    text = get("/metrics/service").text
    assert 'pith_jobs{status="succeeded"}' in text
    assert 'pith_jobs_finished_total{status="succeeded"}' in text
    assert "pith_queue_age_seconds" in text
    assert "pith_job_attempts_total" in text
    assert 'pith_phase_seconds_sum{phase="fit"}' in text
    assert "pith_requests" not in text
    own = get("/metrics").text
    assert 'route="/v1/jobs/{job_id}"' in own
    assert "pith_jobs" not in own
    assert asked_by_the_dashboard() <= exported(text) | exported(own)


def exported(text: str) -> set[str]:
    """The names of all series, also of those that have no sample yet."""
    families = text_string_to_metric_families(text)
    return {f"{family.name}{end}" for family in families for end in ENDINGS[family.type]}


def asked_by_the_dashboard() -> set[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    targets = [target for panel in panels for target in panel.get("targets", ())]
    names = {name for target in targets for name in re.findall(r"\bpith_\w+", target["expr"])}
    assert len(names) > 8
    return names


def test_docs_need_no_internet(service: Service) -> None:
    page = service.client.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    script = service.client.get("/docs/swagger-ui-bundle.js")
    assert script.status_code == 200
    assert len(script.content) > 100_000


def test_methods_are_those_of_core(service: Service) -> None:
    methods = service.client.get("/v1/methods").json()["methods"]
    assert [m["name"] for m in methods][:2] == ["gsm_cpd", "mrmr"]
    ranks = methods[0]["parameters"]["properties"]["ranks"]
    assert ranks["default"] == list(GsmCpd().ranks)
    assert ranks["items"]["maximum"] == 500


def test_request_id_is_given_back_and_logged(service: Service) -> None:
    answer = service.client.get("/nowhere", headers={"x-request-id": "find-me-42"})
    assert answer.headers["x-request-id"] == "find-me-42"
    log = service.data_dir / "api.log"
    service.until("/livez", lambda _: "find-me-42" in log.read_text())
    forged = service.client.get("/livez", headers={"x-request-id": "a b\tc"})
    assert forged.headers["x-request-id"] != "a b\tc"
