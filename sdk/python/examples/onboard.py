"""Onboards a merchant with a store and a terminal, and reads it back.

BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key.
"""

import os
import sys

from boardwalk_sdk import Boardwalk, InvalidRequestError
from boardwalk_sdk.types import OnboardMerchant

NAME = sys.argv[1] if len(sys.argv) > 1 else "Harbor Coffee"

MERCHANT: OnboardMerchant = {
    "merchantData": {
        "dba": NAME,
        "firstName": "Maria",
        "email": "maria@harbor.example",
        "addressLine1": "12 Pier Road",
        "zipCode": "10001",
        "phoneNumber": "2125550142",
        "ISDcode": "+1",
    },
    "storeData": {
        "mccCode": "5812",
        "firstName": "Maria",
        "dba": NAME,
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

with Boardwalk(os.environ["BOARDWALK_SERVER"], os.environ["BOARDWALK_API_KEY"]) as boardwalk:
    try:
        # A key of your own, such as the number of the application, makes it safe to run this again.
        key = NAME.lower().replace(" ", "-")
        made = boardwalk.onboard_merchant(MERCHANT, idempotency_key=key)
    except InvalidRequestError as error:
        for each in error.errors:
            print(f"{each['param']}: {each['message']} ({each['code']})")
        sys.exit(1)
    merchant = boardwalk.merchants.get(made["data"]["merchantId"])
    print(f"{merchant['dba']} is {merchant['status']}: {merchant['merchantId']}")
    for tpn in boardwalk.tpns.list(merchant_id=merchant["merchantId"]):
        print(f"TPN {tpn['tpn']} on {tpn['deviceModel']} is {tpn['status']}")
