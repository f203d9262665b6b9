"""The PyPI package `woocommerce`: Basic where the address is https, OAuth 1.0a where it is http.

Standard input has one object: `site`, the server's address, and `identities`, a map of names to
`login:password`. The first check that fails ends the session with status 1.
"""

import json
import sys

from woocommerce import API

GIVEN = json.load(sys.stdin)
SITE = GIVEN["site"]
SECURE = SITE.startswith("https:")
AUTHENTICATION_ERROR = "woocommerce_rest_authentication_error"
TIMEOUT_S = 30


def client(name, secret=None, version="wc/v3", **options):
    key, own_secret = GIVEN["identities"][name].split(":", 1)
    return API(SITE, key, secret or own_secret, version=version, timeout=TIMEOUT_S, **options)


def expect(answer, status, code=None):
    assert answer.status_code == status, f"{answer.status_code}: {answer.text[:300]}"
    body = answer.json()
    assert code is None or body.get("code") == code, body
    return body


def reads_the_index_of_a_namespace():
    assert expect(client("key:read").get(""), 200)["namespace"] == "wc/v3"
    analytics = client("key:read_write", version="wc-analytics").get("")
    assert expect(analytics, 200)["namespace"] == "wc-analytics"


def reads_with_parameters_which_are_signed_too():
    parameters = {"context": "help", "text": "a b", "number": 7}
    assert expect(client("key:read").get("", params=parameters), 200)["namespace"] == "wc/v3"


def a_key_that_may_only_read_may_not_write():
    expect(client("key:read").post("", {"a": 1}), 401, AUTHENTICATION_ERROR)
    expect(client("key:read").put("", {"a": 1}), 401, AUTHENTICATION_ERROR)
    expect(client("key:read").delete(""), 401, AUTHENTICATION_ERROR)


def a_key_that_may_only_write_may_not_read():
    expect(client("key:write").get(""), 401, AUTHENTICATION_ERROR)


def a_key_that_may_write_comes_as_far_as_the_route():
    expect(client("key:write").post("", {"a": 1}), 404, "rest_no_route")
    expect(client("key:read_write").delete("nothing/1"), 404, "rest_no_route")


def any_key_may_ask_what_there_is():
    expect(client("key:write").options(""), 200)


def a_wrong_secret_is_refused():
    wrong = client("key:read", secret="cs_" + "0" * 40)
    expect(wrong.get(""), 401, AUTHENTICATION_ERROR)


def an_unknown_key_is_nobody_or_refused():
    if SECURE:
        expect(client("badkey").get(""), 200)
    else:
        expect(client("badkey").get(""), 401, AUTHENTICATION_ERROR)


def the_key_may_stand_in_the_query_of_https():
    if SECURE:
        expect(client("key:read", query_string_auth=True).get(""), 200)
        expect(client("key:write", query_string_auth=True).get(""), 401, AUTHENTICATION_ERROR)


def sells_a_product_refunds_a_part_of_it_and_finds_everything_again():
    shop = client("key:read_write")

    def made(path, body):
        item = expect(shop.post(path, body), 201)
        assert expect(shop.get(f"{path}/{item['id']}"), 200)["id"] == item["id"]
        return item

    product = made("products", {"name": "Harbour lamp", "regular_price": "24.50", "tax_status": "none"})
    assert (product["price"], product["type"]) == ("24.50", "simple"), product
    order = made("orders", {
        "set_paid": True,
        "billing": {"first_name": "Ines", "email": "ines@example.test"},
        "line_items": [{"product_id": product["id"], "quantity": 2}],
    })
    assert (order["status"], order["total"]) == ("processing", "49.00"), order
    line = order["line_items"][0]
    assert (line["name"], line["subtotal"]) == ("Harbour lamp", "49.00"), line
    refunds = f"orders/{order['id']}/refunds"
    refund = made(refunds, {
        "api_refund": False,
        "amount": "24.50",
        "reason": "One too many",
        "line_items": [{"id": line["id"], "quantity": 1, "refund_total": 24.5}],
    })
    assert refund["line_items"][0]["quantity"] == -1, refund

    noted = {"id": refund["id"], "reason": "One too many", "total": "-24.50"}
    assert expect(shop.get(f"orders/{order['id']}"), 200)["refunds"] == [noted]
    changed = shop.put(f"products/{product['id']}", {"regular_price": "26.00", "tax_status": "none"})
    assert expect(changed, 200)["price"] == "26.00"
    listed = shop.get("orders", params={"product": product["id"], "per_page": 5})
    assert [found["id"] for found in expect(listed, 200)] == [order["id"]]
    assert listed.headers["X-WP-Total"] == "1", listed.headers

    items = [f"{refunds}/{refund['id']}", f"orders/{order['id']}", f"products/{product['id']}"]
    for path in items:
        expect(shop.delete(path, params={"force": True}), 200)
        assert shop.get(path).status_code == 404, path


CHECKS = [
    reads_the_index_of_a_namespace,
    reads_with_parameters_which_are_signed_too,
    a_key_that_may_only_read_may_not_write,
    a_key_that_may_only_write_may_not_read,
    a_key_that_may_write_comes_as_far_as_the_route,
    any_key_may_ask_what_there_is,
    a_wrong_secret_is_refused,
    an_unknown_key_is_nobody_or_refused,
    the_key_may_stand_in_the_query_of_https,
    sells_a_product_refunds_a_part_of_it_and_finds_everything_again,
]


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
