"""PyPI `openapi-python-client` makes a module for every operation and a class for every type.

Standard input has one object: `site`, the server's address, `key`, an API key of an ISO, and
`identities`, a map of names to `login:password`. The first check that fails ends the session with
status 1.
"""

import base64
import datetime
import json
import pathlib
import sys

from onboarding_client import AuthenticatedClient as OnboardingClient
from onboarding_client.api.merchants import merchant_get
from onboarding_client.api.onboardmerchant import onboard_merchant
from onboarding_client.models import OnboardMerchantBodyType2
from rest_client import AuthenticatedClient as RestClient
from rest_client.api.wc_analytics import get_wc_analytics_reports_revenue_stats as revenue
from rest_client.api.wcv3 import get_wc_v3_orders_by_id, get_wc_v3_products, post_wc_v3_orders
from rest_client.models import Error, WcV3ShopOrderInput

GIVEN = json.load(sys.stdin)
FOLDER = pathlib.Path(__file__).parent
TOKEN = base64.b64encode(GIVEN["identities"]["admin"].encode()).decode()
ISO = OnboardingClient(base_url=GIVEN["site"], token=GIVEN["key"], prefix="api-key")
SHOP = RestClient(base_url=GIVEN["site"] + "/wp-json", token=TOKEN, prefix="Basic")
CONTACT = {
    "dba": "Harbor Modules",
    "firstName": "Maria",
    "email": "maria@harbor.example",
    "addressLine1": "12 Pier Road",
    "zipCode": "10001",
    "phoneNumber": "2125550142",
    "ISDcode": "+1",
}
MERCHANT = {
    "merchantData": CONTACT,
    "storeData": {**CONTACT, "mccCode": "5812"},
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


def has_a_module_for_every_operation():
    for name in ["onboarding", "rest"]:
        document = json.loads((FOLDER / f"{name}.json").read_text())
        operations = sum(len(methods) for methods in document["paths"].values())
        modules = list((FOLDER / f"{name}_client/api").glob("*/[!_]*.py"))
        assert len(modules) == operations, f"{len(modules)} of {operations} in {name}"


def onboards_a_merchant_and_reads_it_back():
    body = OnboardMerchantBodyType2.from_dict(MERCHANT)
    made = onboard_merchant.sync(client=ISO, body=body)
    read = merchant_get.sync(made.data.merchant_id, client=ISO)
    assert read.dba == "Harbor Modules", read


def reads_a_report():
    after, before = datetime.datetime(2020, 1, 1), datetime.datetime(2030, 1, 1)
    read = revenue.sync(client=SHOP, after=after, before=before)
    assert read.totals.orders_count > 0 and read.intervals, read


def makes_an_order_and_reads_it_back():
    product = get_wc_v3_products.sync(client=SHOP, per_page=1)[0]
    items = [{"product_id": product.id, "quantity": 2}]
    body = WcV3ShopOrderInput.from_dict({"status": "pending", "line_items": items})
    made = post_wc_v3_orders.sync(client=SHOP, body=body)
    read = get_wc_v3_orders_by_id.sync(made.id, client=SHOP)
    assert read.line_items[0].quantity == 2 and read.total == made.total, read


def is_told_why_a_request_was_refused():
    read = get_wc_v3_orders_by_id.sync(99999999, client=SHOP)
    assert isinstance(read, Error), read
    assert read.code == "woocommerce_rest_shop_order_invalid_id", read


STEPS = [
    has_a_module_for_every_operation,
    onboards_a_merchant_and_reads_it_back,
    reads_a_report,
    makes_an_order_and_reads_it_back,
    is_told_why_a_request_was_refused,
]

for step in STEPS:
    step()
    print("ok  ", step.__name__.replace("_", " "))
print(f"{len(STEPS)} steps")
