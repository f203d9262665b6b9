"""Asks servers with very many orders for reports, and prints how long the answers took, as lines of
JSON.

There are two sites. Into the first, facts are planted; the second is the demo shop, so its orders
went through the store, and its facts were made from them. The starts are measured. Every request
asks for another span than the one before, so no answer that was kept whole is sent. Then eight
readers of the first site go on reading while a thousand orders are made.

Usage: http_reports.py BOARDWALK MEASURE PLANTED STORED ROUNDS
"""

import base64
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

REPORTS = [
    ("revenue", "reports/revenue/stats", {"interval": "month"}),
    ("revenue by day", "reports/revenue/stats", {"interval": "day", "per_page": "100"}),
    ("orders", "reports/orders", {"per_page": "25", "extended_info": "true"}),
    ("orders by week", "reports/orders/stats", {"interval": "week", "per_page": "100"}),
    ("products", "reports/products", {"orderby": "items_sold", "extended_info": "true"}),
    ("products by month", "reports/products/stats", {"interval": "month", "per_page": "100"}),
    ("variations", "reports/variations", {"orderby": "net_revenue"}),
    ("categories", "reports/categories", {"orderby": "net_revenue"}),
    ("coupons", "reports/coupons", {"orderby": "amount"}),
    ("taxes", "reports/taxes", {"orderby": "total_tax"}),
    ("new and returning", "reports/orders/stats", {"interval": "month", "segmentby": "customer_type"}),
    ("indicators", "reports/performance-indicators",
     {"stats": "revenue/total_sales,orders/orders_count,products/items_sold,coupons/amount"}),
]
# The planted facts end with this day.
PLANTED_END = 1_798_675_200
DAY = 86_400
SPANS = [("all", 3 * 365 * DAY), ("30 days", 30 * DAY)]
LOGIN = "bench"
ADMIN = "127.0.0.1:28199"
READERS = 8
READ_SECONDS = 4
NEW_ORDERS = 1_000
ORDERS_AT_ONCE = 100


def stamp(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


class Client:
    def __init__(self, base, password, end):
        self.end = end
        place = urllib.parse.urlsplit(base)
        self.place = (place.hostname, place.port)
        pair = base64.b64encode(f"{LOGIN}:{password}".encode()).decode()
        self.headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection(*self.place, timeout=60)

    def ask(self, method, path, query=None, body=None):
        address = "/wp-json/" + path + ("?" + urllib.parse.urlencode(query) if query else "")
        started = time.perf_counter()
        self.connection.request(method, address, body and json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        taken = (time.perf_counter() - started) * 1_000
        if answer.status not in (200, 201):
            sys.exit(f"{method} {address}: {answer.status} {text[:300]}")
        return taken, json.loads(text)

    def report(self, path, parameters, length, shift):
        """`shift` seconds less than the whole span."""
        span = {"after": stamp(self.end - length + shift), "before": stamp(self.end - shift)}
        return self.ask("GET", "wc-analytics/" + path, {**parameters, **span})


def per_hundred(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share / 100))]


def every_report(client, orders, rounds):
    for name, path, parameters in REPORTS:
        for span, length in SPANS:
            client.report(path, parameters, length, 0)
            times = [client.report(path, parameters, length, shift)[0]
                     for shift in range(1, rounds + 1)]
            print(json.dumps({"http": name, "span": span, "orders": orders,
                              "median_ms": round(statistics.median(times), 2),
                              "p99_ms": round(per_hundred(times, 99), 2)}), flush=True)


def orders_counted(client):
    query = {"interval": "year", "after": stamp(client.end - 400 * DAY), "force_cache_refresh": "false"}
    _, report = client.ask("GET", "wc-analytics/reports/orders/stats", query)
    return report["totals"]["orders_count"]


def read_for(make_client, until, times):
    client, shift = make_client(), 0
    while not until():
        shift += 1
        _, path, parameters = REPORTS[shift % 2]
        times.append(client.report(path, parameters, SPANS[1][1], shift % 3_600)[0])


def readers(make_client, until):
    times = [[] for _ in range(READERS)]
    threads = [threading.Thread(target=read_for, args=(make_client, until, own)) for own in times]
    for thread in threads:
        thread.start()
    return threads, times


def appending(make_client):
    """How long until new orders are seen, and what the readers notice of it."""
    end = time.monotonic() + READ_SECONDS
    threads, quiet = readers(make_client, lambda: time.monotonic() > end)
    for thread in threads:
        thread.join()
    client = make_client()
    order = {"status": "completed", "set_paid": True,
             "fee_lines": [{"name": "A fee", "total": "10.00", "tax_status": "none"}]}
    before = orders_counted(client)
    is_done = threading.Event()
    threads, busy = readers(make_client, is_done.is_set)
    started = time.monotonic()
    for _ in range(NEW_ORDERS // ORDERS_AT_ONCE):
        client.ask("POST", "wc/v3/orders/batch", body={"create": [order] * ORDERS_AT_ONCE})
    written = time.monotonic()
    while orders_counted(client) < before + NEW_ORDERS:
        if time.monotonic() - written > 30:
            sys.exit("the new orders are in no report after 30 seconds")
        time.sleep(0.01)
    seen = time.monotonic()
    is_done.set()
    for thread in threads:
        thread.join()
    quiet, busy = sum(quiet, []), sum(busy, [])
    print(json.dumps({
        "appended": NEW_ORDERS, "write_s": round(written - started, 2),
        "visible_after_s": round(seen - written, 3), "readers": READERS,
        "quiet_median_ms": round(statistics.median(quiet), 2),
        "busy_median_ms": round(statistics.median(busy), 2),
        "quiet_per_s": round(len(quiet) / READ_SECONDS),
        "busy_per_s": round(len(busy) / (seen - started)),
    }))


class Server:
    """A server on the data folder; `seconds` is how long it took to be ready."""

    def __init__(self, program, data):
        started = time.monotonic()
        self.process, self.address = start(program, data, "serve")
        while not self.is_ready():
            time.sleep(0.01)
        self.seconds = time.monotonic() - started

    def is_ready(self):
        """Whether the facts are there, too."""
        connection = http.client.HTTPConnection(ADMIN, timeout=60)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1_024

    def stop(self):
        stop(self.process)


def start(program, data, *subcommand):
    """A process that serves, and its address."""
    environment = ["--environment", "sandbox"] if subcommand[0] == "serve" else []
    command = [program, "--data", data, "--json", *environment, *subcommand,
               "--listen", "127.0.0.1:0", "--admin-listen", ADMIN]
    variables = {**os.environ, "BOARDWALK_SERVER__RATE_LIMITS__ENABLED": "false"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=variables,
                               stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        event = json.loads(line)
        if event.get("event") == "ready":
            return process, event["url"]
    sys.exit("the server did not start")


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait(120)


def make_user(program, data):
    """Returns an application password."""
    def run(*arguments):
        command = [program, "--data", data, "--json", *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    run("user", "create", "--login", LOGIN, "--email", "bench@site.example",
        "--role", "administrator")
    return run("user", "app-password", "--login", LOGIN, "--name", "bench")["password"]


def tell_of_start(server, client, kind):
    print(json.dumps({"facts": kind, "start_s": round(server.seconds, 2),
                      "memory_mb": server.memory_mb(),
                      "orders_of_a_year": orders_counted(client)}), flush=True)


def planted(program, measure, orders, rounds):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        password = make_user(program, data)
        server = Server(program, data)

        def make_client():
            return Client(server.address, password, PLANTED_END)

        # An event, so that the file of facts can say which history it belongs to.
        make_client().ask("POST", "wc/v3/products", body={"name": "A product"})
        time.sleep(1)
        server.stop()
        subprocess.run([measure, str(orders), data], check=True)
        server = Server(program, data)
        tell_of_start(server, make_client(), f"{orders} planted")
        every_report(make_client(), orders, rounds)
        appending(make_client)
        server.stop()


def stored(program, orders, rounds):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        started = time.monotonic()
        process, _ = start(program, data, "demo", "--orders", str(orders))
        made = time.monotonic() - started
        stop(process)
        password = make_user(program, data)
        server = Server(program, data)
        client = Client(server.address, password, int(time.time()))
        print(json.dumps({"orders_made": orders, "seconds": round(made, 1)}), flush=True)
        tell_of_start(server, client, f"{orders} through the store")
        every_report(client, orders, rounds)
        server.stop()


def main():
    program, measure, *numbers = sys.argv[1:]
    planted_orders, stored_orders, rounds = map(int, numbers)
    planted(program, measure, planted_orders, rounds)
    stored(program, stored_orders, rounds)


main()
