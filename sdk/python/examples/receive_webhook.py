"""Receives webhooks and verifies them: registers itself, asks for a test event, and leaves.

BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key. The server must be allowed to
reach this machine: BOARDWALK_SERVER__OUTBOUND__EXEMPT='["127.0.0.1"]' for a sandbox on it.
"""

import http.server
import os
import threading

from boardwalk_sdk import Boardwalk, WebhookError, verify_webhook

secret = ""
received = threading.Event()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify_webhook(secret, dict(self.headers), body)
        except WebhookError as error:
            print(f"refused: {error}")
            self.send_response(400)
        else:
            print(f"received {event['type']}")
            self.send_response(204)
            if event["type"] == "webhook.test":
                received.set()
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of requests; the events are what is of interest."""


receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
with Boardwalk(os.environ["BOARDWALK_SERVER"], os.environ["BOARDWALK_API_KEY"]) as boardwalk:
    address = f"http://127.0.0.1:{receiver.server_address[1]}/webhooks"
    webhook = boardwalk.webhooks.create({"url": address})
    secret = webhook["secret"] or ""
    boardwalk.webhooks.test(webhook["webhookId"])
    if not received.wait(timeout=30):
        print("no webhook arrived")
    boardwalk.webhooks.delete(webhook["webhookId"])
