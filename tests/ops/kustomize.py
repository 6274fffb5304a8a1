"""As much of Kustomize as `deploy/kubernetes` uses, for machines without kubectl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

Thing = dict[str, Any]


def render(directory: Path) -> list[Thing]:
    """What `kubectl kustomize` makes of a directory, but for the hash in a ConfigMap's name."""
    asked = yaml.safe_load((directory / "kustomization.yaml").read_text())
    things = [thing for name in asked.pop("resources", ()) for thing in _read(directory / name)]
    for part in asked.pop("components", ()):
        more = yaml.safe_load((directory / part / "kustomization.yaml").read_text())
        things += [
            thing for name in more.pop("resources") for thing in _read(directory / part / name)
        ]
        _transform(things, more)
    _transform(things, asked)
    return things


def _read(path: Path) -> list[Thing]:
    return render(path) if path.is_dir() else list(yaml.safe_load_all(path.read_text()))


def _transform(things: list[Thing], asked: Thing) -> None:
    """What is left unknown would be left out in silence."""
    known = {"apiVersion", "kind", *TRANSFORMERS, "namespace"}
    assert asked.keys() <= known, asked.keys() - known
    for name, transform in TRANSFORMERS.items():
        for entry in asked.get(name, ()):
            transform(things, entry)
    for thing in things:
        thing["metadata"].update({"namespace": asked["namespace"]} if "namespace" in asked else {})


def _configure(things: list[Thing], entry: Thing) -> None:
    data = dict(literal.split("=", 1) for literal in entry["literals"])
    if entry.get("behavior") == "merge":
        (known,) = (thing for thing in things if thing["kind"] == "ConfigMap")
        known["data"].update(data)
    else:
        about = {"apiVersion": "v1", "kind": "ConfigMap"}
        things.append({**about, "metadata": {"name": entry["name"]}, "data": data})


def _patch(things: list[Thing], entry: Thing) -> None:
    wanted = entry["target"]
    for thing in things:
        is_named = wanted.get("name", thing["metadata"]["name"]) == thing["metadata"]["name"]
        if is_named and thing["kind"] == wanted["kind"]:
            for step in yaml.safe_load(entry["patch"]):
                _edit(thing, step)


def _edit(node: Any, step: Thing) -> None:
    *way, last = (int(one) if one.isdecimal() else one for one in step["path"].split("/")[1:])
    for one in way:
        node = node[one]
    assert last in (node if isinstance(node, dict) else range(len(node)))
    if step["op"] == "remove":
        del node[last]
    else:
        assert step["op"] == "replace"
        node[last] = step["value"]


def _label(things: list[Thing], entry: Thing) -> None:
    assert entry["includeTemplates"]
    for thing in things:
        template = thing.get("spec", {}).get("template")
        for one in (thing, template) if template else (thing,):
            one["metadata"].setdefault("labels", {}).update(entry["pairs"])


def _tag(things: list[Thing], entry: Thing) -> None:
    for thing in things:
        pod = thing.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", ()):
            if container["image"] == entry["name"]:
                container["image"] += f":{entry['newTag']}"


TRANSFORMERS = {
    "configMapGenerator": _configure,
    "patches": _patch,
    "labels": _label,
    "images": _tag,
}
