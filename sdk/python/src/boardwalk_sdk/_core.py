"""How requests are sent: credentials, retries that never do a thing twice, time limits, errors, and
lists that go on from page to page. What there is to send is in `operations`."""

from __future__ import annotations

import http.client
import ipaddress
import json
import random
import re
import ssl
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ._errors import APIError, BoardwalkError, ConnectionError, error_of
from .types import VERSION, OnboardMerchant

TIMEOUT_SECONDS = 30.0
RETRIES_MAX = 4
_FIRST_WAIT_SECONDS = 0.5
_WAIT_SECONDS_MAX = 8.0
# Whoever is asked to wait longer than this is told so instead.
_RETRY_AFTER_SECONDS_MAX = 60
# A connection that nobody used for longer than this may be closed at the other end by now.
_KEPT_SECONDS_MAX = 15.0
_LINES = "application/x-ndjson"

FileBody: TypeAlias = str | bytes | Sequence[OnboardMerchant]
"""A file of onboardings: its content, or a list of what each of its lines is to hold."""

Item = TypeVar("Item")
Page = TypeVar("Page")


class Core:
    """Sends requests. May be shared by threads: each has a connection of its own."""

    def __init__(
        self,
        server: str,
        authorization: str | None,
        *,
        timeout_seconds: float,
        retries_max: int,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self._server = _checked_server(server)
        self._authorization = authorization
        self._timeout_seconds = timeout_seconds
        self._retries_max = retries_max
        self._ssl_context = ssl_context
        self._kept = threading.local()

    def send(
        self,
        method: str,
        path: str,
        *,
        variables: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, Any] | None = None,
        file: FileBody | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        validate_only: bool = False,
        sandbox_scenario: str | None = None,
        is_keyed: bool = False,
    ) -> Any:
        """Sends a request until it is answered, or until another attempt makes no sense."""
        headers = {
            "Accept": "application/json",
            "Authorization": self._authorization,
            # The same in every attempt, so that the request is done once.
            "Idempotency-Key": (idempotency_key or str(uuid.uuid4())) if is_keyed else None,
            "If-Match": if_match,
            "User-Agent": f"boardwalk-sdk-python/{VERSION}",
            "X-Sandbox-Scenario": sandbox_scenario,
            "X-Validate-Only": "true" if validate_only else None,
        }
        content: bytes | None = None
        if file is not None:
            content = _file_content(file)
            headers["Content-Type"] = content_type or _LINES
        elif body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        sent = {name: value for name, value in headers.items() if value is not None}
        target = self._target(path, variables or {}, query or {})
        is_repeatable = is_keyed or method not in ("POST", "PATCH")
        attempt = 0
        while True:
            try:
                return self._attempt(method, target, content, sent)
            except (APIError, ConnectionError) as error:
                wait = _wait_after(error, attempt, is_repeatable)
                if wait is None or attempt >= self._retries_max:
                    raise
            time.sleep(wait)
            attempt += 1

    def close(self) -> None:
        """Closes the connection of this thread."""
        kept: http.client.HTTPConnection | None = getattr(self._kept, "connection", None)
        self._kept.connection = None
        if kept is not None:
            kept.close()

    def _attempt(
        self, method: str, target: str, content: bytes | None, headers: dict[str, str]
    ) -> Any:
        try:
            connection = self._connection()
            connection.request(method, target, body=content, headers=headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ConnectionError(
                f"cannot reach {self._server}: {error or 'no response'}"
            ) from error
        except BaseException:
            # An answer that nobody read must not become that of the next request.
            self.close()
            raise
        if response.will_close:
            self.close()
        if not 200 <= response.status < 300:
            raise error_of(response.status, response.headers, body)
        try:
            return json.loads(body)
        except ValueError:
            told = f"{self._server} does not respond like Boardwalk; check the URL"
            raise BoardwalkError(told) from None

    def _connection(self) -> http.client.HTTPConnection:
        if time.monotonic() - getattr(self._kept, "used", 0.0) > _KEPT_SECONDS_MAX:
            self.close()
        self._kept.used = time.monotonic()
        kept: http.client.HTTPConnection | None = getattr(self._kept, "connection", None)
        if kept is None:
            parts = urlsplit(self._server)
            host, port, seconds = parts.hostname or "", parts.port, self._timeout_seconds
            if parts.scheme == "https":
                context = self._ssl_context or ssl.create_default_context()
                kept = http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
            else:
                kept = http.client.HTTPConnection(host, port, timeout=seconds)
            self._kept.connection = kept
        return kept

    def _target(
        self, path: str, variables: Mapping[str, object], query: Mapping[str, object]
    ) -> str:
        def value(found: re.Match[str]) -> str:
            given = str(variables[found[1]])
            if not given:
                raise BoardwalkError(f"{found[1]} must not be empty")
            return quote(given, safe="")

        asked = {name: _text(given) for name, given in query.items() if given is not None}
        target = urlsplit(self._server).path + re.sub(r"\{(\w+)\}", value, path)
        return f"{target}?{urlencode(asked)}" if asked else target


class Group:
    """Operations that belong together."""

    def __init__(self, core: Core) -> None:
        self._core = core


class Paged(Generic[Item, Page]):
    """A list that is read page by page: `for each in list`. Nothing is sent before."""

    def __init__(
        self,
        core: Core,
        method: str,
        path: str,
        *,
        query: Mapping[str, object],
        variables: Mapping[str, object] | None = None,
    ) -> None:
        self._core = core
        self._method = method
        self._path = path
        self._query = dict(query)
        self._variables = variables

    def page(self) -> Page:
        """The first page alone."""
        return self._read(self._query)

    def pages(self) -> Iterator[Page]:
        """Every page."""
        query: dict[str, object] | None = self._query
        while query is not None:
            page = self._read(query)
            yield page
            following = self._next(page)
            query = None if following is None else {**query, **following}

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from self._items(page)

    def _read(self, query: Mapping[str, object]) -> Page:
        page: Page = self._core.send(
            self._method, self._path, variables=self._variables, query=query
        )
        return page

    def _items(self, page: Page) -> list[Item]:
        items: list[Item] = page["data"]  # type: ignore[index]
        return items

    def _next(self, page: Page) -> dict[str, object] | None:
        """What to ask for to get the page after this one."""
        cursor: str | int | None = page["nextCursor"]  # type: ignore[index]
        return None if cursor is None else {"cursor": cursor}


class Feed(Paged[Item, Page]):
    """A list that grows at its end."""

    def follow(self, *, poll_seconds: float = 2.0) -> Iterator[Item]:
        """Every object, and then those that come; without an end."""
        query = self._query
        while True:
            page = self._read(query)
            yield from self._items(page)
            query = {**query, "after": page["next"]}  # type: ignore[index]
            if self._next(page) is None:
                time.sleep(poll_seconds)

    def _next(self, page: Page) -> dict[str, object] | None:
        more: bool = page["hasMore"]  # type: ignore[index]
        return {"after": page["next"]} if more else None  # type: ignore[index]


def _wait_after(
    error: APIError | ConnectionError, attempt: int, is_repeatable: bool
) -> float | None:
    """How long to wait before the next attempt, if there is to be one."""
    usual = min(_FIRST_WAIT_SECONDS * 2.0**attempt, _WAIT_SECONDS_MAX) * random.uniform(0.5, 1)
    if isinstance(error, ConnectionError):
        return usual if is_repeatable else None
    may_pass = error.status in (408, 502, 503, 504) or error.code == "request_in_progress"
    # The server refuses 429 before it looks at a request, so that one is always safe.
    if error.status != 429 and not (may_pass and is_repeatable):
        return None
    if error.retry_after_seconds is None:
        return usual
    if error.retry_after_seconds > _RETRY_AFTER_SECONDS_MAX:
        return None
    return max(error.retry_after_seconds, usual)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)


def _file_content(file: FileBody) -> bytes:
    if isinstance(file, bytes):
        return file
    if isinstance(file, str):
        return file.encode()
    return "".join(json.dumps(row) + "\n" for row in file).encode()


def _checked_server(server: str) -> str:
    """The address without a slash at its end. A key never crosses a network in plain text."""
    parts = urlsplit(server)
    if parts.hostname and (
        parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname))
    ):
        return server.rstrip("/")
    raise BoardwalkError(f"{server} must start with https://, to keep credentials secret")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
