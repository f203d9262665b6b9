//! Orders, their refunds and their notes.
//!
//! An order is what its lines say: [`totals`] calculates what it comes to, [`coupons`] what is
//! taken off, [`effects`] what else changes with it. The same records are served in every version
//! of the interface; [`legacy`] is the shape of the first.

mod bundle;
mod coupons;
mod discounts;
mod downloads;
pub(crate) mod effects;
mod emails;
mod goods;
pub(crate) mod history;
mod legacy;
mod lines;
mod list;
mod money;
mod notes;
mod notify;
mod origin;
mod pay_page;
mod payback;
pub mod place;
mod quote;
mod receipt;
mod record;
mod refunds;
mod reported_refunds;
mod restocked;
mod schema;
mod shown_prices;
pub mod status;
mod taxes;
mod till;
mod totals;
mod view;
mod write;

use std::sync::Arc;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Stop};
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use shop_rows::order::{OrderKind, OrderRow};
use types::{Capability, Result};

pub(crate) use self::bundle::{import_orders, import_refunds, number_entries};
pub(crate) use self::downloads::is_granted;
use self::effects::Before;
use self::goods::Goods;
pub use self::money::symbol as currency_symbol;
pub(crate) use self::origin::origin;
pub use self::pay_page::path as pay_path;
pub(crate) use self::payback::REQUESTED as REFUND_REQUESTED;
pub use self::quote::{Buyer, Quote, QuoteItem, Rate};
pub use self::receipt::ReceiptPages;
pub use self::record::{Address, Details, Line, LineDetails, Order, Receipt, TaxShare};
pub(crate) use self::reported_refunds::{ReportedRefund, record_refund, undo_refund};
pub use self::shown_prices::ShownPrices;
pub(crate) use self::taxes::covers as covers_postcode;
pub(crate) use self::till::{KEY_BYTES, Till, count, event, order_key, status_note};
pub(crate) use self::view::total_formatted;
use crate::common::version::Version;
use crate::common::{first, meta, moments};
use crate::resource::{self, Listed, Resource, Rights, ShowAlone};

/// The entry of a coupon's line that says what the coupon was.
const COUPON_INFO: &str = "coupon_info";
/// What remembers in `meta_data` how an order was before it went to the trash.
const TRASH_STATUS: &str = "_wp_trash_meta_status";
const TRASH_TIME: &str = "_wp_trash_meta_time";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in Version::ALL {
        let namespace = version.namespace(names);
        let orders = Orders { version, item: schema::item(version) };
        let own = resource::routes(namespace, "/orders", orders);
        routes.extend(own.expect("the schema is well formed"));
        if version != Version::Analytics {
            routes.extend(notes::routes(namespace, version));
            routes.extend(refunds::routes(namespace, version));
        }
        // Orders of these link to their templates as those of the current version do.
        if matches!(version, Version::Two | Version::Analytics) {
            let [templates, ..] = emails::routes(namespace);
            routes.push(templates.unlisted());
        }
    }
    routes.push(status::route(&names.commerce_v3));
    routes.push(receipt::route(&names.commerce_v3));
    routes.extend(emails::routes(&names.commerce_v3));
    routes.push(refunds::route_of_all(&names.commerce_v3));
    routes
}

/// What an order can be made with since the second version.
const AFTER_FIRST: &[&str] = &["created_via", "meta_data", "manual_update"];

#[derive(Debug)]
struct Orders {
    version: Version,
    item: Item,
}

/// An order with what is shown beside it.
#[derive(Debug)]
struct Loaded {
    order: Order,
    refunds: Vec<OrderRow>,
    goods: Arc<Goods>,
}

/// Reads what is shown beside the orders, for all of them together.
fn load(call: &mut Call<'_>, orders: Vec<Order>) -> Result<Vec<Loaded>> {
    let goods = Arc::new(Goods::of_orders(call.conn()?, orders.iter())?);
    let ids: Vec<i64> = orders.iter().map(Order::id).collect();
    let mut refunds = shop_rows::order::refunds_of(call.conn()?, &ids)?;
    // The newest comes first.
    refunds.reverse();
    let with_refunds = |order: Order| {
        let own = refunds.iter().filter(|refund| refund.parent_id == order.id());
        Loaded { refunds: own.cloned().collect(), goods: Arc::clone(&goods), order }
    };
    Ok(orders.into_iter().map(with_refunds).collect())
}

fn load_one(call: &mut Call<'_>, order: Order) -> Result<Loaded, Stop> {
    let loaded = load(call, vec![order])?.pop();
    Ok(loaded.ok_or_else(|| types::Error::internal("an order was deleted while it was read"))?)
}

impl Orders {
    fn body(&self, call: &Call<'_>, loaded: &Loaded) -> Value {
        let Loaded { order, refunds, goods } = loaded;
        let manner = view::Manner::of(self.version, call);
        let body = view::body(&manner, &call.visit.home, order, refunds, goods);
        match self.version {
            Version::One => legacy::order(&manner, &body, order, goods),
            _ => body,
        }
    }
}

impl Resource for Orders {
    type Record = Loaded;

    fn word(&self) -> &'static str {
        "shop_order"
    }

    fn rights(&self) -> Rights {
        Rights {
            read: Capability::ReadPrivateShopOrders,
            create: Capability::PublishShopOrders,
            edit: Capability::EditShopOrder,
            delete: Capability::DeleteShopOrder,
            batch: Capability::EditOthersShopOrders,
        }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        first::published(self.version, self.item.create_args(), AFTER_FIRST)
    }

    fn update_args(&self) -> Args {
        first::published(self.version, self.item.update_args(), AFTER_FIRST)
    }

    fn list_args(&self) -> Args {
        list::order_args(self.version)
    }

    /// The currency of the shop is not known when the routes are made.
    fn batch_defaults(&self) -> Map<String, Value> {
        let mut defaults = resource::defaults(&self.create_args());
        defaults.remove("currency");
        defaults
    }

    fn reports_unknown_ids(&self) -> bool {
        false
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Loaded>, Stop> {
        let Some(order) = Order::get(call.conn()?, id, OrderKind::Order)? else { return Ok(None) };
        Ok(Some(load_one(call, order)?))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Loaded>, Stop> {
        if self.version == Version::One {
            first::take_conditions(call, || self.list_args());
        }
        list::repeat_in_links(self.version, call);
        let wanted = list::order_filter(call);
        let (rows, total) = shop_rows::order::list(call.conn()?, &wanted)?;
        let stored = shop_rows::order::with_items(call.conn()?, rows)?;
        let orders = stored.into_iter().map(Order::read).collect::<Result<Vec<Order>>>()?;
        Ok(Listed { records: load(call, orders)?, total })
    }

    fn show(&self, call: &mut Call<'_>, loaded: &Loaded) -> Result<Value, Stop> {
        Ok(self.body(call, loaded))
    }

    fn show_alone(&self) -> Option<ShowAlone<Self>> {
        Some(Self::body)
    }

    fn links(&self, call: &Call<'_>, loaded: &Loaded, base: &str) -> Links {
        let row = &loaded.order.row;
        let own = call.visit.rest(&format!("{base}/{}", row.order_id));
        let mut links = Links::new().to("self", own).to("collection", call.visit.rest(base));
        if self.version != Version::One {
            let templates = format!("{base}/{}/actions/email_templates", row.order_id);
            links = links.embeddable("email_templates", call.visit.rest(&templates));
        }
        if row.customer_id != 0 {
            let namespace = base.trim_end_matches("/orders");
            let customer = format!("{namespace}/customers/{}", row.customer_id);
            links = links.to("customer", call.visit.rest(&customer));
        }
        if row.parent_id != 0 {
            links = links.to("up", call.visit.rest(&format!("{base}/{}", row.parent_id)));
        }
        links
    }

    fn id(&self, loaded: &Loaded) -> i64 {
        loaded.order.id()
    }

    fn is_trashed(&self, loaded: &Loaded) -> bool {
        loaded.order.row.status == status::TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Loaded, Stop> {
        let (order, goods) = write::create(call)?;
        // A new order has no refunds, unless it was made as a refunded one.
        if order.row.status == status::REFUNDED {
            return load_one(call, order);
        }
        Ok(Loaded { order, refunds: Vec::new(), goods: Arc::new(goods) })
    }

    fn update(&self, call: &mut Call<'_>, loaded: Loaded) -> Result<Loaded, Stop> {
        let order = write::update(call, loaded.order)?;
        load_one(call, order)
    }

    fn trash(&self, call: &mut Call<'_>, loaded: Loaded) -> Result<(), Stop> {
        let now = moments::now(call);
        let mut order = loaded.order;
        let before = Before::same(&order);
        let status = std::mem::replace(&mut order.row.status, status::TRASH.to_owned());
        let seconds = now.as_micros().div_euclid(1_000_000).to_string();
        let notes = [(TRASH_STATUS, format!("wc-{status}")), (TRASH_TIME, seconds)];
        for (key, value) in notes {
            meta::add(call.conn()?, &mut order.details.meta_data, key, json!(value))?;
        }
        order.row.trashed_status = Some(status);
        order.row.modified = now;
        effects::settle(call, &mut order, &before)?;
        let order = order.update(call.conn()?)?;
        Ok(effects::append_event(call, "order.deleted", &order)?)
    }

    fn delete(&self, call: &mut Call<'_>, loaded: Loaded) -> Result<(), Stop> {
        let mut order = loaded.order;
        effects::release(call, &mut order)?;
        for refund in &loaded.refunds {
            shop_rows::order::delete(call.conn()?, refund.order_id)?;
            let payload = json!({ "parent_id": order.id() });
            crate::common::events::append(call, "refund.deleted", refund.order_id, &payload)?;
        }
        shop_rows::order::delete(call.conn()?, order.id())?;
        Ok(effects::append_event(call, "order.deleted", &order)?)
    }
}
