"""Prints events, those that exist and then those that come; remembers where it was.

BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key. With a number, it ends after as
many events.
"""

import os
import pathlib
import sys

from boardwalk_sdk import Boardwalk

PLACE = pathlib.Path(os.environ.get("PLACE", "last-event.txt"))
LEFT = int(sys.argv[1]) if len(sys.argv) > 1 else -1

after = int(PLACE.read_text()) if PLACE.exists() else 0
with Boardwalk(os.environ["BOARDWALK_SERVER"], os.environ["BOARDWALK_API_KEY"]) as boardwalk:
    for event in boardwalk.events.list(after=after, types="merchant.*").follow(poll_seconds=1):
        print(f"{event['sequence']} {event['type']} {event['data']['id']}", flush=True)
        # Only once the event is dealt with: after a crash it comes again, and is not lost.
        PLACE.write_text(str(event["sequence"]))
        LEFT -= 1
        if LEFT == 0:
            break
