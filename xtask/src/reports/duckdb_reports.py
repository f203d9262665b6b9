"""Answers the questions of crates/analytics/examples/measure.rs with DuckDB.

The data follow from the same formula, so the sums of all answers must be the same. One JSON object
for each line of output. Lines carry the date and status of their order, and orders whether their
customer returns, so that DuckDB need not join for it.
"""

import json
import statistics
import sys
import time

import duckdb

ORDERS = int(sys.argv[1])
ROUNDS = 5
DAYS, DAY, START = 3 * 365, 86_400, 1_704_067_200
END = START + DAYS * DAY

base = duckdb.connect()
base.execute("PRAGMA threads=2")
base.execute(
    "CREATE MACRO mix(n, s) AS"
    " ((n % 1000003 * 7919 + s * 104729) % 998244353) * 31 % 1000000007"
)
base.execute(
    f"""
    CREATE TABLE heads AS SELECT i AS id, {START} + i * {DAYS * DAY} // {ORDERS} AS created,
      CASE WHEN mix(i, 1) % 100 < 70 THEN 0 WHEN mix(i, 1) % 100 < 90 THEN 1
           WHEN mix(i, 1) % 100 < 95 THEN 2 ELSE 3 END::TINYINT AS status,
      1 + mix(i, 8) % {max(ORDERS // 8, 1)} AS customer
    FROM range({ORDERS}) AS t(i)
    """
)
base.execute(
    """
    CREATE TABLE l AS SELECT id, created, status, (1 + mix(id * 3 + line, 2) % 2000)::INT AS product,
      (1 + mix(id * 3 + line, 3) % 3)::INT AS quantity,
      ((1 + mix(id * 3 + line, 3) % 3) * (199 + mix(id * 3 + line, 4) % 20000))::INT AS net
    FROM heads, range(3) AS t(line) WHERE line < 2 + id % 2 ORDER BY id, line
    """
)
base.execute(
    """
    CREATE TABLE firsts AS
      SELECT customer, min(id) AS first FROM heads WHERE status <> 3 GROUP BY customer
    """
)
base.execute(
    """
    CREATE TABLE o AS
      SELECT heads.id, created, status, heads.customer, heads.id > first AS returns,
        CASE WHEN status <> 3 THEN created + mix(heads.id, 7) % 7200 END AS paid,
        items, net, net * 8 // 100 AS tax, 795::INT AS shipping,
        net + net * 8 // 100 + 795 AS total
      FROM heads
        JOIN (SELECT id, sum(net)::INT AS net, sum(quantity)::INT AS items FROM l GROUP BY id) AS s
          ON s.id = heads.id
        LEFT JOIN firsts ON firsts.customer = heads.customer
      ORDER BY heads.id
    """
)
base.execute(
    """
    CREATE TABLE c AS SELECT id, created, status, (1 + mix(id, 9) % 40)::INT AS coupon,
      500 AS discount FROM heads WHERE mix(id, 5) % 5 = 0 ORDER BY id
    """
)
base.execute(
    """
    CREATE TABLE t AS SELECT id, paid, status, (1 + mix(id, 6) % 10)::INT AS rate, tax AS amount
    FROM o ORDER BY id
    """
)
base.execute("CREATE TABLE pc AS SELECT i AS product, 1 + i % 50 AS category FROM range(1, 2001) t(i)")

REVENUE = "count(*), sum(items), sum(total), sum(tax), sum(shipping), sum(net)"
SALES = "sum(quantity), sum(net), count(DISTINCT id)"
PAID = "status <> 3 AND paid >= $1 AND paid < $2"
MADE = "status <> 3 AND created >= $1 AND created < $2"
PARENT = "pc JOIN l USING (product)"
# The question, the statement, and which of its columns are money.
QUESTIONS = [
    ("revenue totals", f"SELECT {REVENUE} FROM o WHERE {PAID}", (2, 3, 4, 5)),
    (
        "revenue by day",
        f"SELECT (paid - {START}) // {DAY} AS day, {REVENUE} FROM o WHERE {PAID} GROUP BY day",
        (3, 4, 5, 6),
    ),
    ("distinct customers", f"SELECT count(DISTINCT customer) FROM o WHERE {PAID}", ()),
    (
        "orders with 20 products",
        f"SELECT {REVENUE} FROM o WHERE {PAID} AND id IN (SELECT id FROM l WHERE product <= 20)",
        (2, 3, 4, 5),
    ),
    (
        "new and returning",
        f"SELECT returns, {REVENUE} FROM o WHERE {PAID} GROUP BY returns",
        (3, 4, 5, 6),
    ),
    ("sales totals", f"SELECT {SALES} FROM l WHERE {MADE}", (1,)),
    (
        "sales by day",
        f"SELECT (created - {START}) // {DAY} AS day, {SALES} FROM l WHERE {MADE} GROUP BY day",
        (2,),
    ),
    ("products", f"SELECT product, {SALES} FROM l WHERE {MADE} GROUP BY product", (2,)),
    ("categories", f"SELECT category, {SALES} FROM {PARENT} WHERE {MADE} GROUP BY category", (2,)),
    (
        "coupons",
        f"SELECT coupon, sum(discount), count(DISTINCT id) FROM c WHERE {MADE} GROUP BY coupon",
        (1,),
    ),
    (
        "taxes",
        f"SELECT rate, sum(amount), count(DISTINCT id) FROM t WHERE {PAID} GROUP BY rate",
        (1,),
    ),
    (
        "customers",
        f"SELECT customer, count(*), sum(total) FROM o WHERE {MADE} GROUP BY customer",
        (2,),
    ),
]


def check(rows, statement, money):
    """The sum of all numbers but the key, money in millionths, as the other program has it."""
    keyed = "GROUP BY" in statement
    total = 0
    for row in rows:
        for place, value in enumerate(row):
            if not (keyed and place == 0):
                total += int(value or 0) * (10_000 if place in money else 1)
    return total


for span, start in (("all", START), ("30 days", END - 30 * DAY)):
    for question, statement, money in QUESTIONS:
        rows = base.execute(statement, [start, END]).fetchall()
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            base.execute(statement, [start, END]).fetchall()
            times.append((time.perf_counter() - begin) * 1000)
        print(
            json.dumps(
                {
                    "duckdb": question,
                    "span": span,
                    "ms": round(statistics.median(times), 3),
                    "check": check(rows, statement, money),
                }
            ),
            flush=True,
        )
