"""The package against a running server; BOARDWALK_SERVER, BOARDWALK_API_KEY and, of a key that may
only read merchants, BOARDWALK_READER_KEY."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import http.server
import itertools
import json
import os
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from boardwalk_sdk import (
    AuthenticationError,
    Boardwalk,
    BoardwalkError,
    ConnectionError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    ScopeError,
    VersionError,
    WebhookError,
    verify_webhook,
)
from boardwalk_sdk.types import OnboardMerchant3

SERVER = os.environ["BOARDWALK_SERVER"]
KEY = os.environ["BOARDWALK_API_KEY"]
PATIENCE_SECONDS = 30


def merchant_of(name: str, email: str = "maria@harbor.example") -> OnboardMerchant3:
    return {
        "merchantData": {
            "dba": name,
            "firstName": "Maria",
            "email": email,
            "addressLine1": "12 Pier Road",
            "zipCode": "10001",
            "phoneNumber": "2125550142",
            "ISDcode": "+1",
        },
        "storeData": {
            "mccCode": "5812",
            "firstName": "Maria",
            "dba": name,
            "addressLine1": "12 Pier Road",
            "zipCode": "10001",
            "email": "maria@harbor.example",
            "phoneNumber": "2125550142",
            "ISDcode": "+1",
        },
        "tpnData": {
            "deviceManufacturer": "Kozen",
            "deviceModel": "P3",
            "tpnApplicationSign": "CRDT",
            "tpnRoutingType": "SIMPLE",
            "tpnProcessor": {
                "processorName": "CKNX",
                "profile": [{"profileId": "01", "apiKey": "demo-processor-key"}],
            },
        },
    }


Handled = Callable[[http.server.BaseHTTPRequestHandler, int], None]


@contextmanager
def stand_in(handled: Handled) -> Iterator[str]:
    """A server that deals with the first, second, … request as it is told."""
    count = itertools.count()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            handled(self, next(count))

        def do_POST(self) -> None:
            handled(self, next(count))

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def answer(
    handler: http.server.BaseHTTPRequestHandler, status: int, body: bytes, **headers: str
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class Session(unittest.TestCase):
    def setUp(self) -> None:
        self.boardwalk = self.client(SERVER, KEY)

    def client(self, server: str, key: str | None, retries_max: int = 4) -> Boardwalk:
        made = Boardwalk(server, key, retries_max=retries_max)
        self.addCleanup(made.close)
        return made

    def test_onboards_reads_and_changes(self) -> None:
        made = self.boardwalk.onboard_merchant(merchant_of("Harbor Snake"))
        merchant = self.boardwalk.merchants.get(made["data"]["merchantId"])
        self.assertEqual(merchant["dba"], "Harbor Snake")
        self.assertEqual(merchant["contact"]["email"], "maria@harbor.example")
        changed = self.boardwalk.merchants.patch(
            merchant["merchantId"], {"firstName": "Mario", "expectedVersion": merchant["version"]}
        )
        self.assertEqual(changed["contact"]["firstName"], "Mario")
        with self.assertRaises(VersionError):
            self.boardwalk.merchants.patch(
                merchant["merchantId"],
                {"firstName": "Marie", "expectedVersion": merchant["version"]},
            )
        tpn = self.boardwalk.tpns.get(made["data"]["tpn"])
        self.assertEqual(tpn["deviceModel"], "P3")

    def test_errors_say_what_is_wrong(self) -> None:
        wrong = merchant_of("Harbor Error")
        wrong["storeData"]["zipCode"] = "00000"
        with self.assertRaises(InvalidRequestError) as caught:
            self.boardwalk.onboard_merchant(wrong)
        error = caught.exception
        self.assertEqual((error.status, error.code), (400, "unknown_zip"))
        self.assertEqual(error.param, "storeData.zipCode")
        self.assertTrue(error.request_id)
        with self.assertRaises(NotFoundError):
            self.boardwalk.merchants.get("000000000000")
        with self.assertRaises(AuthenticationError):
            self.client(SERVER, "bw_test_wrong").merchants.list().page()
        reader = self.client(SERVER, os.environ["BOARDWALK_READER_KEY"])
        with self.assertRaises(ScopeError) as lacking:
            reader.keys.list()
        self.assertEqual(lacking.exception.code, "insufficient_scope")
        for url in ("http://api.example", "ftp://localhost", "localhost"):
            with self.assertRaises(BoardwalkError):
                self.client(url, KEY)

    def test_validates_without_saving(self) -> None:
        checked = self.boardwalk.onboard_merchant(merchant_of("Harbor Dry"), validate_only=True)
        self.assertEqual(checked["data"], {})
        self.assertEqual(list(self.boardwalk.merchants.list(dba="Harbor Dry")), [])

    def test_tries_again_when_the_server_is_busy(self) -> None:
        busy = merchant_of("Harbor Busy", email="error503@harbor.example")
        made = self.boardwalk.onboard_merchant(busy)
        self.assertTrue(made["data"]["merchantId"])

    def test_a_lost_response_does_nothing_twice(self) -> None:
        keys = []
        address = urlsplit(SERVER)

        def forward(handler: http.server.BaseHTTPRequestHandler, number: int) -> None:
            body = handler.rfile.read(int(handler.headers["Content-Length"]))
            keys.append(handler.headers["Idempotency-Key"])
            upstream = http.client.HTTPConnection(address.hostname or "", address.port)
            upstream.request("POST", handler.path, body=body, headers=dict(handler.headers))
            response = upstream.getresponse()
            said = response.read()
            upstream.close()
            if number == 0:
                handler.close_connection = True
                return
            answer(handler, response.status, said)

        with stand_in(forward) as url:
            made = self.client(url, KEY).onboard_merchant(merchant_of("Harbor Lost"))
        found = list(self.boardwalk.merchants.list(dba="Harbor Lost"))
        self.assertEqual([each["merchantId"] for each in found], [made["data"]["merchantId"]])
        self.assertEqual((len(keys), len(set(keys))), (2, 1))

    def test_waits_as_long_as_it_is_told(self) -> None:
        def refuse(handler: http.server.BaseHTTPRequestHandler, number: int) -> None:
            if number == 0:
                answer(handler, 429, b'{"message":"Failure","errors":[]}', Retry_After="1")
            elif number == 1:
                answer(handler, 200, b'{"data":[]}')
            else:
                answer(handler, 429, b"", Retry_After="3600")

        with stand_in(refuse) as url:
            client = self.client(url, KEY)
            start = time.monotonic()
            client.keys.list()
            self.assertGreaterEqual(time.monotonic() - start, 1)
            with self.assertRaises(RateLimitError) as caught:
                client.keys.list()
            self.assertEqual(caught.exception.retry_after_seconds, 3600)

    def test_gives_up_in_the_end(self) -> None:
        with stand_in(lambda handler, _: answer(handler, 503, b"")) as url:
            address = url
            with self.assertRaises(BoardwalkError):
                self.client(url, KEY, retries_max=1).keys.list()
        with self.assertRaises(ConnectionError):
            self.client(address, KEY, retries_max=0).keys.list()

    def test_lists_go_on_from_page_to_page(self) -> None:
        names = {f"Harbor Page {number}" for number in range(3)}
        for name in names:
            self.boardwalk.onboard_merchant(merchant_of(name))
        listed = self.boardwalk.merchants.list(dba="Harbor Page", limit=1)
        self.assertEqual({each["dba"] for each in listed}, names)
        self.assertEqual(len(listed.page()["data"]), 1)
        self.assertEqual(len(list(listed.pages())), 3)

    def test_follows_events(self) -> None:
        made = self.boardwalk.onboard_merchant(merchant_of("Harbor Event"))
        wanted = made["data"]["merchantId"]
        events = self.boardwalk.events.list(types="merchant.created", limit=2)
        for event in events.follow(poll_seconds=0.2):
            if event["data"]["id"] == wanted:
                break
        self.assertEqual(event["type"], "merchant.created")

    def test_uploads_files(self) -> None:
        wrong = merchant_of("Harbor Row B")
        wrong["merchantData"]["zipCode"] = "00000"
        made = self.boardwalk.bulk.create([merchant_of("Harbor Row A"), wrong])
        self.assertEqual((made["succeeded"], made["failed"]), (1, 1))
        rows = list(self.boardwalk.bulk.results(made["bulkId"] or "", status="failed"))
        self.assertEqual([row["errors"][0]["code"] for row in rows], ["unknown_zip"])

    def test_verifies_webhooks(self) -> None:
        self.boardwalk.sandbox.caught_clear()
        receiver = self.boardwalk.sandbox.caught_list().page()["url"]
        webhook = self.boardwalk.webhooks.create({"url": receiver, "events": ["endpoint.disabled"]})
        secret = webhook["secret"] or ""
        self.boardwalk.webhooks.test(webhook["webhookId"])
        end = time.monotonic() + PATIENCE_SECONDS
        while not (caught := self.boardwalk.sandbox.caught_list(limit=1).page()["data"]):
            self.assertLess(time.monotonic(), end, "no webhook arrived")
            time.sleep(0.2)
        body = caught[0]["body"]
        headers = {name: str(value) for name, value in caught[0]["headers"].items()}
        self.assertEqual(verify_webhook(secret, headers, body)["type"], "webhook.test")
        refused = [
            (secret, headers, body + " "),
            (secret, {**headers, "webhook-id": "evt_other"}, body),
            (secret, {**headers, "webhook-timestamp": "1"}, body),
            (secret, {}, body),
            ("whsec_" + base64.b64encode(b"other").decode(), headers, body),
        ]
        for case in refused:
            with self.assertRaises(WebhookError):
                verify_webhook(*case)
        self.boardwalk.webhooks.delete(webhook["webhookId"])

    def test_takes_either_signature_while_secrets_overlap(self) -> None:
        secrets = ["whsec_" + base64.b64encode(text).decode() for text in (b"old", b"new")]
        body, sent = json.dumps({"type": "webhook.test"}), str(int(time.time()))
        signed = f"evt_1.{sent}.{body}".encode()
        signatures = [
            "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
            for key in (b"old", b"new")
        ]
        headers = {
            "Webhook-Id": "evt_1",
            "Webhook-Timestamp": sent,
            "Webhook-Signature": " ".join(signatures),
        }
        for secret in secrets:
            self.assertEqual(verify_webhook(secret, headers, body)["type"], "webhook.test")

    def test_manages_templates_and_keys(self) -> None:
        made = self.boardwalk.templates.create(
            {"name": "SNAKE01", "parameters": {"tipEnabled": True}}
        )
        self.assertEqual(made["version"], 1)
        self.boardwalk.templates.retire("SNAKE01")
        self.assertEqual(self.boardwalk.templates.get("SNAKE01")["status"], "retired")
        key = self.boardwalk.keys.create({"name": "Snake", "scopes": ["merchants.read"]})
        self.client(SERVER, key["text"]).merchants.list(limit=1).page()
        self.boardwalk.keys.revoke(key["keyId"])
        with self.assertRaises(AuthenticationError):
            self.client(SERVER, key["text"]).merchants.list(limit=1).page()

    def test_reads_everything_else(self) -> None:
        self.assertTrue(self.boardwalk.scopes.list()["data"])
        self.assertTrue(self.boardwalk.errors.list()["data"])
        self.assertTrue(self.boardwalk.parameters.list()["data"])
        self.assertTrue(self.boardwalk.audit.list(limit=1).page()["data"])
        self.assertTrue(self.boardwalk.sandbox.clock_get())
        self.assertEqual(self.boardwalk.openapi_get()["openapi"], "3.1.0")


if __name__ == "__main__":
    unittest.main()
