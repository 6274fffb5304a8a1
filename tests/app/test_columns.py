"""Columns read again in another way, names and labels, lists in order, and warnings of a sample."""

from __future__ import annotations

from typing import Any

from tests.app.running import Service

MESSY = "\n".join(
    ["id;price;day;gap;copy;flag;y"]
    + [
        f"k{i};{i % 9},{i % 7};0{1 + i % 9}/0{1 + i % 8}/2026;{'' if i % 2 else i % 11};"
        f"{i % 9},{i % 7};{'ja' if i % 3 else 'nein'};{'a' if i % 2 else 'b'}"
        for i in range(120)
    ]
).encode()


def patch(service: Service, path: str, body: Any, **query: Any) -> Any:
    return service.client.patch(path, json=body, params=query)


def ready(service: Service, dataset_id: str) -> Any:
    path = f"/v1/datasets/{dataset_id}"
    return service.until(path, lambda body: body["status"] != "processing")


def test_a_dataset_is_read_again_as_a_new_version_of_itself(service: Service) -> None:
    first = service.ready_dataset(MESSY, name="messy")
    path = f"/v1/datasets/{first}/columns"
    wishes = {"columns": {"price": {"kind": "category"}, "gap": {"kind": "ignore"}}}
    tried = patch(service, path, wishes, dry_run=True)
    assert tried.status_code == 200, tried.text
    shown = tried.json()["columns"]
    assert [(column["name"], column["kind"]) for column in shown] == [
        ("price", "category"),
        ("gap", "ignore"),
    ]
    assert shown[0]["n_fit"] == shown[0]["n_looked_at"] == 120
    assert shown[0]["cells"][0] == {"written": "0,0", "read": "0,0"}
    assert len(service.client.get("/v1/datasets", params={"search": "messy"}).json()["items"]) == 1

    answer = patch(service, path, wishes)
    assert answer.status_code == 201
    second = ready(service, answer.json()["id"])
    assert (second["version"], second["previous_id"], second["name"]) == (2, first, "messy")
    assert second["ignored"] == ["gap"]
    columns = {column["name"]: column for column in second["columns"]}
    assert "gap" not in columns
    assert (columns["price"]["kind"], columns["price"]["chosen"]) == ("text", True)
    assert (columns["price"]["detected"], columns["day"]["kind"]) == ("number", "time")
    assert patch(service, path, wishes).status_code == 200  # it is there

    back = {"columns": {"price": None, "gap": None}}
    again = patch(service, f"/v1/datasets/{second['id']}/columns", back)
    assert (again.status_code, again.json()["id"]) == (200, first)


def test_what_cannot_be_wished_is_refused(service: Service) -> None:
    dataset = service.ready_dataset(MESSY)
    path = f"/v1/datasets/{dataset}/columns"
    unknown = patch(service, path, {"columns": {"pric": {"kind": "number"}}})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_column")
    assert unknown.json()["errors"][0]["pointer"] == "/columns/pric"
    same = {"kind": "number", "decimal": ",", "thousands": ","}
    wrong: list[dict[str, Any]] = [{"price": same}, {}, {"y": {"kind": "x"}}]
    assert {patch(service, path, {"columns": w}).status_code for w in wrong} == {422}
    names = ["id", "price", "day", "gap", "copy", "flag"]
    ignored = {"columns": {name: {"kind": "ignore"} for name in names}}
    assert "fewer than two columns" in patch(service, path, ignored, dry_run=True).json()["detail"]
    missing = f"/v1/datasets/ds_{'0' * 32}/columns"
    assert patch(service, missing, {"columns": {"y": None}}).status_code == 404


def test_a_sample_warns_of_the_table_and_against_a_target(service: Service) -> None:
    dataset = service.ready_dataset(MESSY)
    path = f"/v1/datasets/{dataset}/warnings"
    found = service.client.get(path, params={"target": "y"}).json()
    assert found["n_rows"] == 120
    by_code = {warning["code"]: warning["columns"] for warning in found["warnings"]}
    assert by_code["id_like"] == ["id"]
    assert by_code["copy"] == ["copy"]
    assert by_code["missing_tells"] == ["gap"]
    assert "flag" in by_code["tells_nothing"]
    of_keys = service.client.get(path, params={"target": "id"}).json()["warnings"]
    assert "poor_target" in {warning["code"] for warning in of_keys}
    assert service.client.get(path, params={"target": "z"}).status_code == 422


def test_names_and_labels_change_and_lists_find_them(service: Service) -> None:
    names = ["Zebra", "apple", "Mango"]
    ids = [service.upload(MESSY + b"\n" * (i + 1), name=n)["id"] for i, n in enumerate(names)]
    for dataset in ids:
        change = {"labels": {"shelf": "fruit_1"}}
        assert patch(service, f"/v1/datasets/{dataset}", change).json()["labels"] == {
            "shelf": "fruit_1"
        }
    renamed = patch(service, f"/v1/datasets/{ids[0]}", {"name": "Banana_%"}).json()
    assert (renamed["name"], renamed["labels"]) == ("Banana_%", {"shelf": "fruit_1"})
    pages = listed(service, "/v1/datasets", label="shelf=fruit_1", sort="name")
    assert [item["name"] for item in pages] == ["apple", "Banana_%", "Mango"]
    newest = listed(service, "/v1/datasets", label="shelf=fruit_1")
    assert [item["id"] for item in newest] == ids[::-1]
    assert [d["name"] for d in listed(service, "/v1/datasets", search="a_%")] == ["Banana_%"]

    jobs = [service.submit(ids[1], title=title, k=1) for title in ("Second", "First")]
    service.final(jobs[1])
    path = f"/v1/jobs/{jobs[1]}"
    etag = service.client.get(path).headers["etag"]
    changed = patch(service, path, {"title": "first of all", "labels": {"a": "b"}})
    assert (changed.json()["title"], changed.json()["labels"]) == ("first of all", {"a": "b"})
    assert service.client.get(path, headers={"If-None-Match": etag}).status_code == 200
    found = listed(service, "/v1/jobs", dataset_id=ids[1], sort="name")
    assert [job["title"] for job in found] == ["first of all", "Second"]
    assert [j["id"] for j in listed(service, "/v1/jobs", search="FIRST OF")] == [jobs[1]]
    assert patch(service, path, {"status": "queued"}).status_code == 422
    assert patch(service, path, {}).json()["title"] == "first of all"
    assert patch(service, f"/v1/datasets/{ids[0]}", {}).json()["name"] == "Banana_%"


def listed(service: Service, path: str, **query: Any) -> list[Any]:
    """All pages of one row each; a token of one order is none of another."""
    items: list[Any] = []
    params = {"page_size": 1, **query}
    while True:
        page = service.client.get(path, params=params).json()
        items += page["items"]
        if page["next_page_token"] is None:
            return items
        params["page_token"] = page["next_page_token"]
        other = {**params, "sort": "oldest"}
        assert service.client.get(path, params=other).status_code == 422
