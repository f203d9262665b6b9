"""The PyPI package `standardwebhooks` checks what our webhooks send.

Standard input has one object: `site`, the server's address, and `key`, an API key of an ISO. The
server must be allowed to reach loopback. The first check that fails ends the session with status 1.
"""

import http.server
import json
import queue
import sys
import threading
import urllib.request

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

GIVEN = json.load(sys.stdin)
PATIENCE_S = 30
RECEIVED = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        RECEIVED.put((body, {name.lower(): value for name, value in self.headers.items()}))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(path, body):
    headers = {"Authorization": f"api-key {GIVEN['key']}", "Content-Type": "application/json"}
    data = json.dumps(body).encode()
    request = urllib.request.Request(GIVEN["site"] + path, data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def is_signed_by(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/in"
    made = call("/v1/webhooks", {"url": url, "headers": [{"name": "X-Token", "value": "t"}]})
    webhook = f"/v1/webhooks/{made['webhookId']}"

    call(f"{webhook}/test", {})
    body, headers = RECEIVED.get(timeout=PATIENCE_S)
    event = Webhook(made["secret"]).verify(body, headers)
    assert event["type"] == "webhook.test", event
    assert headers["webhook-id"] == event["id"] and headers["x-token"] == "t", headers
    assert not is_signed_by(made["secret"], body + b" ", headers), "a changed body"
    changed = {**headers, "webhook-id": "evt_other"}
    assert not is_signed_by(made["secret"], body, changed), "a changed id"

    rotated = call(f"{webhook}/rotate", {"overlapHours": 1})
    call(f"{webhook}/test", {})
    body, headers = RECEIVED.get(timeout=PATIENCE_S)
    assert is_signed_by(made["secret"], body, headers), "the old secret signs as well"
    assert is_signed_by(rotated["secret"], body, headers), "the new secret signs"

    last = call(f"{webhook}/rotate", {"overlapHours": 0})
    call(f"{webhook}/test", {})
    body, headers = RECEIVED.get(timeout=PATIENCE_S)
    assert is_signed_by(last["secret"], body, headers), "the newest secret signs"
    assert not is_signed_by(rotated["secret"], body, headers), "without overlap, alone"
    print("3 steps")


main()
