"""Signs in to a demo as a browser does, and prints the cookie and the nonce as JSON.

Usage: sign_in.py ADDRESS LOGIN PASSWORD
"""

import http.cookiejar
import json
import re
import sys
import urllib.parse
import urllib.request

address, login, password = sys.argv[1:]
cookies = http.cookiejar.CookieJar()
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
page = browser.open(address + "/login").read().decode()
token = re.search(r'name="_wpnonce" value="([^"]+)"', page).group(1)
form = urllib.parse.urlencode({"log": login, "pwd": password, "_wpnonce": token})
browser.open(address + "/login", form.encode())
nonce = json.load(browser.open(address + "/session/nonce"))["nonce"]
cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in cookies)
print(json.dumps({"cookie": cookie, "nonce": nonce}))
