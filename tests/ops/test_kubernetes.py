"""The manifests as Kustomize renders them: whole, safe, valid, and their limits add up."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

import kubernetes_validate
import pytest
import yaml
from pydantic import ByteSize, TypeAdapter

from app.addresses import parse_place
from app.settings import Settings
from tests.ops import containers
from tests.ops.containers import ROOT
from tests.ops.kustomize import render

OVERLAYS = ("bucket", "disk", "scaled")
KUBECTL = shutil.which("kubectl")
# Kubernetes does not know them by itself.
OF_OTHERS = {"ScaledObject"}
# Beside the data of jobs and files, as docs/operations.md has it.
PROCESS_BYTES = 400_000_000
WORKING = {"pith-api": "api", "pith-jobs": "jobs", "pith-reads": "reads"}
KUSTOMIZED = ROOT / "deploy" / "kubernetes" / "overlays"


@lru_cache
def rendered(overlay: str) -> list[dict[str, Any]]:
    return render(KUSTOMIZED / overlay)


@pytest.mark.skipif(KUBECTL is None, reason="kubectl (Debian's kubernetes-client) is not installed")
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubectl_renders_the_same(overlay: str) -> None:
    assert KUBECTL is not None
    command = [KUBECTL, "kustomize", str(KUSTOMIZED / overlay)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs = yaml.safe_load_all(re.sub(r"\bpith-[a-z0-9]{10}\b", "pith", done.stdout))
    assert by_name(theirs) == by_name(rendered(overlay))


def by_name(things: Any) -> dict[tuple[str, str], Any]:
    return {(thing["kind"], thing["metadata"]["name"]): thing for thing in things}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_is_as_kubernetes_has_it(overlay: str) -> None:
    things = [thing for thing in rendered(overlay) if thing["kind"] not in OF_OTHERS]
    assert len(things) >= 13
    for thing in things:
        kubernetes_validate.validate(thing, kubernetes_validate.latest_version(), strict=True)


def pods(overlay: str) -> dict[str, dict[str, Any]]:
    """The specification of every pod, by the name of what makes it."""
    made = [thing for thing in rendered(overlay) if thing["kind"] in {"Deployment", "Job"}]
    return {thing["metadata"]["name"]: thing["spec"]["template"]["spec"] for thing in made}


def container(name: str, overlay: str = "bucket") -> dict[str, Any]:
    (found,) = pods(overlay)[name]["containers"]
    return dict(found)


def settings_of(name: str) -> Settings:
    """As the pod would read them."""
    chosen = {entry["name"]: entry["value"] for entry in container(name).get("env", ())}
    return Settings(**{key.removeprefix("PITH_").lower(): v for key, v in chosen.items()})


def size(text: str) -> int:
    """Of a limit, which Kubernetes writes without the B."""
    return TypeAdapter(ByteSize).validate_python(f"{text}B")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_pod_is_root_or_writes_to_its_root(overlay: str) -> None:
    assert set(pods(overlay)) == {*WORKING, "pith-migrate"}
    for name, pod in pods(overlay).items():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        found = container(name, overlay)
        security = found["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in found["volumeMounts"]} == volumes


def test_limits_hold_what_the_settings_allow() -> None:
    jobs, reads = settings_of("pith-jobs"), settings_of("pith-reads")
    # The program, and for each job a process of its own; readers are counted by the kernel.
    one = jobs.worker_max_memory_bytes + PROCESS_BYTES
    held = {"pith-jobs": PROCESS_BYTES + jobs.worker_concurrency * one}
    held["pith-reads"] = PROCESS_BYTES + reads.worker_readers * reads.ingest_memory_bytes
    for name, n_bytes in held.items():
        resources = container(name)["resources"]
        assert n_bytes <= size(resources["limits"]["memory"])
        # What it may hold is set aside: no other pod is evicted for it.
        assert resources["requests"]["memory"] == resources["limits"]["memory"]
    for name in pods("bucket"):
        requests, limits = (container(name)["resources"][kind] for kind in ("requests", "limits"))
        assert size(requests["memory"]) <= size(limits["memory"])
        assert "cpu" in requests and "cpu" not in limits  # jobs take what is left
    (data,) = (v for v in pods("bucket")["pith-reads"]["volumes"] if v["name"] == "data")
    scratch = reads.worker_readers * reads.ingest_scratch_bytes
    assert scratch <= size(data["emptyDir"]["sizeLimit"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_settings_exist_and_selectors_select(overlay: str) -> None:
    known = {f"PITH_{name.upper()}" for name in Settings.model_fields}
    things = rendered(overlay)
    (settings,) = (thing["data"] for thing in things if thing["kind"] == "ConfigMap")
    named = {entry["name"] for name in pods(overlay) for entry in container(name).get("env", ())}
    assert {*settings, *named} <= known
    deployments = {t["metadata"]["name"]: t for t in things if t["kind"] == "Deployment"}
    budgets = [thing for thing in things if thing["kind"] == "PodDisruptionBudget"]
    assert {budget["metadata"]["name"] for budget in budgets} == set(deployments)
    for budget in budgets:
        own = deployments[budget["metadata"]["name"]]["spec"]
        wanted = budget["spec"]["selector"]["matchLabels"]
        assert wanted == own["selector"]["matchLabels"]
        assert wanted.items() <= own["template"]["metadata"]["labels"].items()
        # One goes at a time, and never the last.
        assert budget["spec"].get("maxUnavailable", own.get("replicas", 2) - 1) == 1


def test_probes_ask_what_the_containers_are_asked() -> None:
    """Those of workers are run for real where the compose file is (test_containers.py)."""
    for name, service in WORKING.items():
        found = container(name)
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert found[probe].keys() & {"exec", "httpGet"}, (name, probe)
        if service != "api":
            _, asked = containers.compose()[service]["healthcheck"]["test"]
            commands = [found[probe]["exec"]["command"] for probe in found if "Probe" in probe]
            assert commands == [["sh", "-c", asked.replace("$$", "$")]] * 3
    assert container("pith-api")["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_pods_stop_later_than_what_they_do() -> None:
    for name in WORKING:
        patience = pods("bucket")[name]["terminationGracePeriodSeconds"]
        assert patience > settings_of(name).stop_seconds + 5


INTERNET, CLUSTER, MACHINE = "93.184.215.14", "10.96.0.7", "169.254.169.254"


def may_speak(component: str, address: str, port: int) -> bool:
    """Whether a pod reaches an address, by all policies that select it."""
    labels = {"app.kubernetes.io/name": "pith", "app.kubernetes.io/component": component}
    rules = [
        rule
        for thing in rendered("bucket")
        if thing["kind"] == "NetworkPolicy" and _selects(thing["spec"]["podSelector"], labels)
        for rule in thing["spec"].get("egress", ())
    ]
    return any(
        any(one["port"] == port for one in rule.get("ports", [{"port": port}]))
        and any(_holds(one["ipBlock"], address) for one in rule.get("to", [{"ipBlock": None}]))
        for rule in rules
    )


def _selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    expressions = selector.get("matchExpressions", ())
    assert all(one["operator"] == "In" for one in expressions)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels[one["key"]] in one["values"] for one in expressions
    )


def _holds(block: dict[str, Any] | None, address: str) -> bool:
    found = ip_address(address)
    return block is None or (
        found in ip_network(block["cidr"])
        and not any(found in ip_network(one) for one in block.get("except", ()))
    )


def test_who_may_speak_to_whom() -> None:
    port = {  # of what the documentation names
        name: parse_place(str(Settings.model_fields[name].description).split("`")[1]).port
        for name in ("lineage_url", "traces_url")
    }
    for component in ("api", "jobs", "reads", "migrate"):
        works = component != "migrate"
        assert may_speak(component, CLUSTER, 53)
        assert may_speak(component, CLUSTER, 5432)
        for open_port in (6379, 443, port["traces_url"]):
            assert may_speak(component, CLUSTER, open_port) == works
        # Only who delivers speaks to what callers name, and not within the cluster.
        delivers = component == "reads"
        assert may_speak(component, INTERNET, 8443) == delivers
        assert may_speak(component, CLUSTER, port["lineage_url"]) == delivers
        assert not may_speak(component, CLUSTER, 8443)
        assert not may_speak(component, MACHINE, 80)
    policies = [t["spec"] for t in rendered("bucket") if t["kind"] == "NetworkPolicy"]
    assert any({"Ingress", "Egress"} <= set(policy["policyTypes"]) for policy in policies)
    (way_in,) = (policy["ingress"] for policy in policies if "ingress" in policy)
    (api,) = container("pith-api")["ports"]
    assert way_in == [{"ports": [{"port": api["containerPort"]}]}]


def test_who_scales_by_the_queue_has_no_fixed_number() -> None:
    things = by_name(rendered("scaled"))
    assert "replicas" not in things["Deployment", "pith-jobs"]["spec"]
    scaled = things["ScaledObject", "pith-jobs"]["spec"]
    assert scaled["scaleTargetRef"]["name"] == "pith-jobs"
    assert scaled["triggers"][0]["metadata"]["query"] == "max(pith_queue_age_seconds)"
