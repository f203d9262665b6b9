"""The PyPI package `dlt`: its REST source loads the shop into files, page by page and by what changed.

Standard input has one object: `site`, the server's address, and `identities`, a map of names to
`login:password`. The first check that fails ends the session with status 1.
"""

import gzip
import json
import os
import pathlib
import sys
import tempfile

FOLDER = tempfile.TemporaryDirectory()
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["DLT_DATA_DIR"] = FOLDER.name

import dlt  # noqa: E402
import requests  # noqa: E402
from dlt.sources.rest_api import rest_api_resources  # noqa: E402

GIVEN = json.load(sys.stdin)
SITE = GIVEN["site"]
LOGIN, PASSWORD = GIVEN["identities"]["admin"].split(":", 1)
TIMEOUT_S = 30
TABLES = ["orders", "products", "customers", "coupons"]


def call(method, path, **options):
    answer = requests.request(
        method, f"{SITE}/wp-json/{path}", auth=(LOGIN, PASSWORD), timeout=TIMEOUT_S, **options
    )
    assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:300]}"
    return answer


def source():
    def resource(name):
        return {
            "name": name,
            "primary_key": "id",
            "write_disposition": "append",
            "endpoint": {
                "path": f"wc/v3/{name}",
                "params": {"per_page": 20, "order": "asc", "orderby": "id", "role": "all"}
                if name == "customers"
                else {"per_page": 20, "order": "asc", "orderby": "id"},
                "paginator": {"type": "header_link"},
            },
        }

    changed = {
        "name": "changed_orders",
        "primary_key": "id",
        "write_disposition": "append",
        "endpoint": {
            "path": "wc/v3/orders",
            "params": {"per_page": 50, "dates_are_gmt": True, "status": "any"},
            "paginator": {"type": "header_link"},
            "incremental": {
                "start_param": "modified_after",
                "cursor_path": "date_modified_gmt",
                "initial_value": "2000-01-01T00:00:00",
            },
        },
    }
    revenue = {
        "name": "revenue",
        "endpoint": {
            "path": "wc-analytics/reports/revenue/stats",
            "params": {
                "after": "2020-01-01T00:00:00",
                "before": "2030-01-01T00:00:00",
                "interval": "month",
                "per_page": 100,
            },
            "data_selector": "intervals",
            "paginator": {"type": "header_link"},
        },
    }
    client = {
        "base_url": f"{SITE}/wp-json/",
        "auth": {"type": "http_basic", "username": LOGIN, "password": PASSWORD},
    }
    return rest_api_resources(
        {"client": client, "resources": [*map(resource, TABLES), changed, revenue]}
    )


def load():
    files = pathlib.Path(FOLDER.name) / "files"
    pipeline = dlt.pipeline(
        "shop",
        destination=dlt.destinations.filesystem(files.as_uri()),
        dataset_name="shop",
        pipelines_dir=FOLDER.name,
    )
    info = pipeline.run(source(), loader_file_format="jsonl")
    info.raise_on_failed_jobs()
    return files / "shop"


def rows(folder, table):
    found = []
    for file in sorted((folder / table).glob("*")):
        data = file.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        found += [json.loads(line) for line in text.decode().splitlines()]
    return found


STATE = {}


def loads_every_record_once():
    STATE["folder"] = load()
    for table in TABLES:
        query = {"per_page": 1, **({"role": "all"} if table == "customers" else {})}
        total = int(call("GET", f"wc/v3/{table}", params=query).headers["X-WP-Total"])
        ids = [row["id"] for row in rows(STATE["folder"], table)]
        assert len(ids) == len(set(ids)) == total, f"{table}: {len(ids)} rows, {total} records"


def loads_a_report():
    months = rows(STATE["folder"], "revenue")
    assert len(months) > 12, len(months)
    orders = sum(month["subtotals__orders_count"] for month in months)
    assert orders > 0, months[:2]


def loads_only_what_changed_the_next_time():
    before = {row["id"] for row in rows(STATE["folder"], "changed_orders")}
    new = call("POST", "wc/v3/orders", json={"fee_lines": [{"name": "Mooring", "total": "5"}]})
    order_id = new.json()["id"]
    count = len(rows(STATE["folder"], "changed_orders"))
    load()
    added = [row["id"] for row in rows(STATE["folder"], "changed_orders")][count:]
    assert order_id not in before and order_id in added, added
    assert len(added) < len(before), f"{len(added)} of {len(before)} came again"
    call("DELETE", f"wc/v3/orders/{order_id}", params={"force": True})


CHECKS = [loads_every_record_once, loads_a_report, loads_only_what_changed_the_next_time]


def main():
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            check()
        except Exception as error:
            print(f"FAIL {name}: {error!r}", file=sys.stderr)
            return 1
        print(f"ok   {name}")
    print(f"{len(CHECKS)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
