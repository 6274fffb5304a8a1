"""The manifests as `kubectl kustomize` renders them: whole, safe, and their limits add up."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from typing import Any

import pytest
import yaml
from pydantic import ByteSize, TypeAdapter

from app.settings import Settings
from tests.ops.containers import ROOT

OVERLAYS = ("bucket", "disk", "scaled")
KUBECTL = shutil.which("kubectl")
# Beside the data of jobs and files, as docs/operations.md has it.
PROCESS_BYTES = 400_000_000

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")


@lru_cache
def rendered(overlay: str) -> list[dict[str, Any]]:
    assert KUBECTL is not None
    path = ROOT / "deploy" / "kubernetes" / "overlays" / overlay
    done = subprocess.run([KUBECTL, "kustomize", path], check=True, capture_output=True, text=True)
    return list(yaml.safe_load_all(done.stdout))


def pods(overlay: str) -> dict[str, dict[str, Any]]:
    """The specification of every pod, by the name of what makes it."""
    made = [thing for thing in rendered(overlay) if thing["kind"] in {"Deployment", "Job"}]
    return {thing["metadata"]["name"]: thing["spec"]["template"]["spec"] for thing in made}


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container.get("env", ())}


def size(text: str) -> int:
    """Of a setting or of a limit, which Kubernetes writes without the B."""
    return TypeAdapter(ByteSize).validate_python(f"{text.removesuffix('B')}B")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_pod_is_root_or_writes_to_its_root(overlay: str) -> None:
    assert set(pods(overlay)) == {"pith-api", "pith-jobs", "pith-reads", "pith-migrate"}
    for pod in pods(overlay).values():
        assert pod["securityContext"]["runAsNonRoot"]
        (container,) = pod["containers"]
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes


def test_limits_hold_what_the_settings_allow() -> None:
    found = pods("bucket")
    jobs, reads = (found[name]["containers"][0] for name in ("pith-jobs", "pith-reads"))
    env = environment(jobs)
    n_jobs, job_bytes = int(env["PITH_WORKER_CONCURRENCY"]), env["PITH_WORKER_MAX_MEMORY_BYTES"]
    held = n_jobs * (size(job_bytes) + PROCESS_BYTES)
    assert held <= size(jobs["resources"]["limits"]["memory"])
    env = environment(reads)
    n_reads, read_bytes = int(env["PITH_WORKER_READERS"]), env["PITH_INGEST_MEMORY_BYTES"]
    held = n_reads * size(read_bytes) + PROCESS_BYTES
    assert held <= size(reads["resources"]["limits"]["memory"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_settings_exist_and_selectors_select(overlay: str) -> None:
    known = {f"PITH_{name.upper()}" for name in Settings.model_fields}
    things = rendered(overlay)
    (settings,) = (thing["data"] for thing in things if thing["kind"] == "ConfigMap")
    named = {name for pod in pods(overlay).values() for name in environment(pod["containers"][0])}
    assert {*settings, *named} <= known
    labels = [
        thing["spec"]["template"]["metadata"]["labels"].items()
        for thing in things
        if thing["kind"] == "Deployment"
    ]
    for thing in things:
        if thing["kind"] == "PodDisruptionBudget":
            wanted = thing["spec"]["selector"]["matchLabels"].items()
            assert sum(wanted <= has for has in labels) == 1


def test_the_api_stops_later_than_its_requests() -> None:
    api = pods("bucket")["pith-api"]
    assert api["terminationGracePeriodSeconds"] > Settings().stop_seconds + 5


def test_who_scales_by_the_queue_has_no_fixed_number() -> None:
    (jobs,) = (
        t
        for t in rendered("scaled")
        if t["metadata"]["name"] == "pith-jobs" and t["kind"] == "Deployment"
    )
    assert "replicas" not in jobs["spec"]
    (scaled,) = (t for t in rendered("scaled") if t["kind"] == "ScaledObject")
    assert scaled["spec"]["scaleTargetRef"]["name"] == "pith-jobs"
    assert scaled["spec"]["triggers"][0]["metadata"]["query"] == "max(pith_queue_age_seconds)"
