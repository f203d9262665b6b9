//! What orders change in other records: how often products were sold and coupons used, what is
//! left in stock, who has ever paid. A store changes such figures without the time of the last
//! change, and not every store tells of them; so whatever an order that changed has to do with is
//! read again.

use std::collections::{BTreeSet, HashMap};

use commerce::ingest::RecordKind;
use db::Conn;
use serde_json::Value;
use shop_rows::coupon;
use types::Result;

use crate::source::{Item, id_of};
use crate::work::Work;

/// What is asked of the copy about its orders.
const FIELDS: &str = "id,status,date_modified_gmt,customer_id,line_items,coupon_lines";

/// What orders have to do with.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    products: BTreeSet<i64>,
    customers: BTreeSet<i64>,
    coupons: BTreeSet<String>,
}

impl Touched {
    /// By orders that are to be written, and by those that are to be deleted: what they are about
    /// at the store, and what they were about here.
    pub(crate) async fn by(work: &Work, items: &[Item], deleted: &[i64]) -> Result<Self> {
        let mut touched = Self::default();
        let ids = items.iter().map(id_of).chain(deleted.iter().copied());
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        if ids.is_empty() {
            return Ok(touched);
        }
        let question =
            format!("wc/v3/orders?status=any&_fields={FIELDS}&include={}", ids.join(","));
        let known = work.list_here(&question).await?;
        let known: HashMap<i64, Item> =
            known.into_iter().map(|item| (id_of(&item), item)).collect();
        let is_same = |item: &&Item| known.get(&id_of(item)).is_some_and(|own| are_same(item, own));
        let unchanged: BTreeSet<i64> = items.iter().filter(is_same).map(id_of).collect();
        for order in items.iter().chain(known.values()) {
            if !unchanged.contains(&id_of(order)) {
                touched.add(order);
            }
        }
        Ok(touched)
    }

    fn add(&mut self, order: &Item) {
        let lines = |name: &str| order.get(name).and_then(Value::as_array).into_iter().flatten();
        let products = lines("line_items").filter_map(|line| line.get("product_id")?.as_i64());
        self.products.extend(products.filter(|id| *id > 0));
        let customer = order.get("customer_id").and_then(Value::as_i64);
        self.customers.extend(customer.filter(|id| *id > 0));
        let codes = lines("coupon_lines").filter_map(|line| line.get("code")?.as_str());
        self.coupons.extend(codes.map(str::to_owned));
    }

    /// Those of it that the copy has, by kind.
    pub(crate) async fn known(self, work: &Work) -> Result<Vec<(RecordKind, Vec<i64>)>> {
        let mut known = Vec::new();
        let numbered =
            [(RecordKind::Product, self.products), (RecordKind::Customer, self.customers)];
        for (kind, ids) in numbered {
            let unknown = work.unknown(kind, ids.iter().copied().collect()).await?;
            known.push((kind, ids.into_iter().filter(|id| !unknown.contains(id)).collect()));
        }
        let codes = self.coupons;
        let find = move |conn: &mut dyn Conn| {
            let mut ids = Vec::new();
            for code in &codes {
                ids.extend(coupon::find_by_code(conn, code)?.map(|row| row.coupon_id));
            }
            Ok(ids)
        };
        known.push((RecordKind::Coupon, work.store.site.store().read(find).await?));
        Ok(known)
    }
}

fn are_same(there: &Item, here: &Item) -> bool {
    ["status", "date_modified_gmt"].iter().all(|name| there.get(*name) == here.get(*name))
}
