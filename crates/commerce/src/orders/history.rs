//! Orders and refunds of another shop, with the fields that the interface shows.
//!
//! They have a past: whatever the record says counts, also what the interface otherwise only
//! tells (dates, sums, taxes). What it leaves out is calculated. **They move nothing**: the stock,
//! the sales and the uses of coupons that they stand for were counted where they come from, and are
//! part of the products and coupons that come from there.

mod lines;

use std::collections::HashMap;

use contract::rest::{CompiledArgs, Item, Refusal, Schema, Sources, clean, loose};
use db::Conn;
use frame::Options;
use serde_json::{Map, Value};
use shop_rows::coupon as coupon_store;
use shop_rows::order::{ItemKind, OrderKind};
use types::{Amount, Error, Result, Timestamp};

use self::lines::{amount, entries, lines, text, whole, wrong};
use super::goods::Goods;
use super::record::{Line, Order};
use super::totals::{self, Shop};
use super::{coupons, effects, schema, status, write};
use crate::common::moments;
use crate::common::version::Version;

/// What is derived from other fields wherever an order is shown; a record may say what it likes.
const DERIVED: &[&str] = &[
    "id",
    "currency_symbol",
    "is_editable",
    "needs_payment",
    "needs_processing",
    "payment_url",
    "refunds",
    "version",
];
/// The same of a line.
const DERIVED_OF_LINE: &[&str] = &["image", "parent_name", "price", "sku", "global_unique_id"];

/// Reads records. It needs no database, so that several threads can read at once.
#[derive(Debug)]
pub(crate) struct Reader {
    orders: CompiledArgs,
    refunds: CompiledArgs,
    options: Options,
    now: Timestamp,
}

/// An imported order or refund with its original ids, and with what is still to be calculated.
#[derive(Clone, Debug)]
pub(crate) struct ImportedOrder {
    pub(crate) order: Order,
    /// Indexes of the product lines for which the record has no price.
    unpriced: Vec<usize>,
    /// The record has no total.
    is_open: bool,
    /// The sums that the record has.
    sums: Vec<(Sum, Amount)>,
}

/// A date of a record.
#[derive(Clone, Copy, Debug)]
enum When {
    Absent,
    Never,
    At(Timestamp),
}

impl When {
    fn or(self, usual: Timestamp) -> Timestamp {
        if let Self::At(time) = self { time } else { usual }
    }

    fn or_if_absent(self, usual: Option<Timestamp>) -> Option<Timestamp> {
        match self {
            Self::Absent => usual,
            Self::Never => None,
            Self::At(time) => Some(time),
        }
    }
}

/// A sum of an order, and where it is kept.
type Sum = fn(&mut Order) -> &mut Amount;

const SUMS: [(&str, Sum); 7] = [
    ("discount_total", |order| &mut order.row.discount_total),
    ("discount_tax", |order| &mut order.row.discount_tax),
    ("shipping_total", |order| &mut order.row.shipping_total),
    ("shipping_tax", |order| &mut order.row.shipping_tax),
    ("cart_tax", |order| &mut order.row.cart_tax),
    ("total", |order| &mut order.row.total),
    ("total_tax", |order| &mut order.row.total_tax),
];

type Body = Map<String, Value>;

impl Reader {
    pub(crate) fn new(options: Options, now: Timestamp) -> Result<Self> {
        let compiled = |item: &Item| {
            let args = crate::resource::request_args(open(item).create_args());
            args.compile().map_err(Error::internal)
        };
        let orders = compiled(&with_trash(&schema::item(Version::Three)))?;
        let refunds = compiled(&schema::refund_item(true))?;
        Ok(Self { orders, refunds, options, now })
    }

    pub(crate) fn order(&self, body: Body) -> std::result::Result<ImportedOrder, Refusal> {
        let body = checked(&self.orders, body)?;
        let mut order = Order::default();
        let row = &mut order.row;
        row.kind = OrderKind::Order;
        row.order_id = whole(&body, "id").max(0);
        row.parent_id = whole(&body, "parent_id").max(0);
        row.customer_id = whole(&body, "customer_id").max(0);
        row.status = text(&body, "status").unwrap_or_else(|| status::PENDING.to_owned());
        let usual = || self.options.text("woocommerce_currency");
        row.currency = text(&body, "currency").unwrap_or_else(usual);
        row.number = text(&body, "number").unwrap_or_default();
        row.order_key = match text(&body, "order_key").filter(|key| !key.is_empty()) {
            Some(key) => key,
            None => write::order_key().map_err(|error| Refusal::of_error(&error))?,
        };
        row.created_via = text(&body, "created_via").unwrap_or_else(|| "import".to_owned());
        row.payment_method = text(&body, "payment_method").unwrap_or_default();
        let taxed = || self.options.is_on("woocommerce_prices_include_tax");
        row.prices_include_tax = body.get("prices_include_tax").map_or_else(taxed, loose::to_bool);
        for (name, slot) in [
            ("merchant_id", &mut row.merchant_id),
            ("store_id", &mut row.store_id),
            ("tpn", &mut row.tpn),
        ] {
            let owner = write::owner(body.get(name).filter(|value| !value.is_null()), name)?;
            *slot = owner.filter(|owner| !owner.is_empty());
        }
        self.dates(&body, &mut order)?;
        details(&body, &mut order);
        let unpriced = lines(&body, &mut order)?;
        let mut imported = ImportedOrder { is_open: false, unpriced, sums: Vec::new(), order };
        imported.sum_up(&body)?;
        Ok(imported)
    }

    pub(crate) fn refund(&self, body: Body) -> std::result::Result<ImportedOrder, Refusal> {
        let body = checked(&self.refunds, body)?;
        let mut order = Order::default();
        order.row.kind = OrderKind::Refund;
        order.row.order_id = whole(&body, "id").max(0);
        order.row.parent_id = whole(&body, "parent_id").max(0);
        if order.row.parent_id == 0 {
            return Err(wrong("parent_id", "parent_id must be an order ID."));
        }
        status::COMPLETED.clone_into(&mut order.row.status);
        order.row.refunded_by = whole(&body, "refunded_by").max(0);
        order.row.reason = text(&body, "reason").unwrap_or_default();
        order.details.refunded_payment = body.get("refunded_payment").is_some_and(loose::to_bool);
        self.dates(&body, &mut order)?;
        order.details.meta_data = entries(&body);
        let unpriced = lines(&body, &mut order)?;
        let amount = amount(&body, "amount")?.filter(|amount| !amount.is_negative());
        let amount =
            amount.ok_or_else(|| wrong("amount", "amount must be the refunded amount."))?;
        let mut imported = ImportedOrder { is_open: false, unpriced, sums: Vec::new(), order };
        imported.sum_up(&body)?;
        imported.is_open = false;
        imported.order.row.refund_amount = amount;
        imported.order.row.total = -amount;
        Ok(imported)
    }

    fn dates(&self, body: &Body, order: &mut Order) -> std::result::Result<(), Refusal> {
        let row = &mut order.row;
        row.created = self.moment(body, "date_created")?.or(self.now);
        row.modified = self.moment(body, "date_modified")?.or(row.created);
        // A record that does not know these dates at all cannot mean that there are none.
        let is_paid =
            matches!(&*row.status, status::PROCESSING | status::COMPLETED | status::REFUNDED);
        let is_completed = row.status == status::COMPLETED && row.kind == OrderKind::Order;
        let paid = is_paid.then_some(row.created);
        row.paid = self.moment(body, "date_paid")?.or_if_absent(paid);
        let completed = is_completed.then_some(row.modified);
        row.completed = self.moment(body, "date_completed")?.or_if_absent(completed);
        Ok(())
    }

    /// A date by its two fields, of which the one in GMT counts; nothing if there is neither.
    fn moment(&self, body: &Body, name: &'static str) -> std::result::Result<When, Refusal> {
        let gmt_name = format!("{name}_gmt");
        let given = |name: &str| {
            let text = body.get(name).map(|value| loose::scalar_text(value).unwrap_or_default());
            text.filter(|text| !text.is_empty())
        };
        let (local, gmt) = (given(name), given(&gmt_name));
        let read = match (&gmt, &local) {
            (Some(text), _) => moments::bound(&self.options, Some(text), true),
            (None, Some(text)) => moments::read(&self.options, &Value::from(&**text)),
            (None, None) if body.contains_key(name) || body.contains_key(&gmt_name) => {
                return Ok(When::Never);
            }
            (None, None) => return Ok(When::Absent),
        };
        let message = || format!("{name} must be a date and time such as 2026-03-31T12:00:00.");
        read.map(When::At).ok_or_else(|| wrong(name, message()))
    }
}

/// The item of an order that may be in the trash of its shop, where no request puts it by its
/// status.
fn with_trash(item: &Item) -> Item {
    let mut fields = item.schema().get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(statuses)) = fields.pointer_mut("/status/enum") {
        statuses.push(Value::from(status::TRASH));
    }
    with_fields(item, fields.as_object().cloned().unwrap_or_default())
}

/// The item with all its fields to be written, but for those that are derived anyway.
fn open(item: &Item) -> Item {
    fn opened(mut fields: Body, derived: &[&str]) -> Body {
        fields.retain(|name, _| !derived.contains(&name.as_str()));
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            field.remove("readonly");
            let inner = match field.get_mut("items") {
                Some(Value::Object(items)) => Some(items),
                Some(_) => None,
                None => Some(field),
            };
            let properties = inner.and_then(|schema| schema.get_mut("properties"));
            if let Some(Value::Object(properties)) = properties {
                *properties = opened(std::mem::take(properties), DERIVED_OF_LINE);
            }
        }
        fields
    }
    let fields = item.schema().get("properties").and_then(Value::as_object).cloned();
    with_fields(item, opened(fields.unwrap_or_default(), DERIVED))
}

fn with_fields(item: &Item, fields: Body) -> Item {
    let fields = fields.into_iter().filter_map(|(name, field)| match field {
        Value::Object(document) => Some((name, Schema::from_document(document))),
        _ => None,
    });
    Item::new(item.title(), Schema::object(fields))
}

/// The fields, checked as those of a request are. Null is the same as nothing, but for dates.
fn checked(args: &CompiledArgs, mut body: Body) -> std::result::Result<Body, Refusal> {
    if let Some(Value::Object(billing)) = body.get_mut("billing") {
        // An order without an address is shown with an empty one.
        billing.retain(|name, value| name != "email" || value.as_str() != Some(""));
    }
    body.retain(|name, value| !value.is_null() || name.starts_with("date_"));
    let form = contract::rest::accept(args, Sources { form: body, ..Sources::default() })?;
    Ok(form.into_sources().form)
}

fn details(body: &Body, order: &mut Order) {
    let details = &mut order.details;
    write::address(body.get("billing"), &mut details.billing, true);
    write::address(body.get("shipping"), &mut details.shipping, false);
    details.payment_method_title = text(body, "payment_method_title").unwrap_or_default();
    details.transaction_id = text(body, "transaction_id").unwrap_or_default();
    details.customer_ip_address = text(body, "customer_ip_address").unwrap_or_default();
    details.customer_user_agent = text(body, "customer_user_agent").unwrap_or_default();
    details.cart_hash = text(body, "cart_hash").unwrap_or_default();
    let note = body.get("customer_note").and_then(Value::as_str).unwrap_or_default();
    details.customer_note = clean::textarea_field(note);
    details.meta_data = entries(body);
}

impl ImportedOrder {
    /// Takes the sums that the record says. Without the total, all the others have to be
    /// calculated; with it, those that are missing are plain sums of the lines.
    fn sum_up(&mut self, body: &Body) -> std::result::Result<(), Refusal> {
        let order = &mut self.order;
        let sum = |order: &Order, kinds: &[ItemKind], of: fn(&Line) -> Amount| -> Amount {
            order.items.iter().filter(|line| kinds.contains(&line.row.kind)).map(of).sum()
        };
        let goods = [ItemKind::Line, ItemKind::Fee];
        order.row.shipping_total = sum(order, &[ItemKind::Shipping], |line| line.row.total);
        order.row.shipping_tax = sum(order, &[ItemKind::Shipping], |line| line.row.total_tax);
        order.row.cart_tax = sum(order, &goods, |line| line.row.total_tax);
        order.row.discount_total =
            sum(order, &[ItemKind::Line], |line| line.row.subtotal - line.row.total);
        order.row.discount_tax =
            sum(order, &[ItemKind::Line], |line| line.row.subtotal_tax - line.row.total_tax);
        self.is_open = true;
        let mut total_tax = None;
        for (name, slot) in SUMS {
            let Some(given) = amount(body, name)? else { continue };
            *slot(order) = given;
            self.sums.push((slot, given));
            self.is_open &= name != "total";
            if name == "total_tax" {
                total_tax = Some(given);
            }
        }
        let taxes = order.row.cart_tax + order.row.shipping_tax;
        order.row.total_tax = total_tax.unwrap_or(taxes);
        Ok(())
    }

    fn is_whole(&self) -> bool {
        let needs_taxes = self.order.row.kind == OrderKind::Refund && {
            let lines = || self.order.items.iter();
            lines().all(|line| line.row.kind != ItemKind::Tax)
                && lines().any(|line| !line.details.taxes.is_empty())
        };
        self.unpriced.is_empty() && !self.is_open && !needs_taxes
    }

    /// What the shop of the order had counted for it, so that the same can be taken back when the
    /// order goes to the trash here.
    fn remember_counts(&mut self, coupon_ids: &HashMap<String, i64>) {
        let order = &mut self.order;
        if order.row.kind == OrderKind::Refund {
            return;
        }
        let is_sale = status::is_sale(&order.row.status) || order.row.status == status::REFUNDED;
        if is_sale || order.row.status == status::PENDING {
            let who = effects::buyer(order);
            let ids = order
                .lines(ItemKind::Coupon)
                .filter_map(|line| coupon_ids.get(&line.row.name).map(|id| (*id, who.clone())));
            let used: Vec<(i64, String)> = ids.collect();
            order.details.counted_coupons = (!used.is_empty()).then_some(used);
        }
        if is_sale {
            order.details.stock_reduced = true;
            let sold = order.lines(ItemKind::Line).filter(|line| line.row.product_id != 0);
            let sold = sold.map(|line| (line.row.product_id, line.row.quantity.to_whole()));
            order.details.counted_sales = Some(sold.collect());
        }
    }
}

/// Calculates what the records left out. Their references are to records of this shop by now.
pub(crate) fn complete(
    conn: &mut dyn Conn,
    options: &Options,
    list: &mut [ImportedOrder],
) -> Result<()> {
    let coupon_ids = coupon_ids(conn, list)?;
    if list.iter().any(|imported| !imported.is_whole()) {
        let shop = Shop::load(conn, options)?;
        let open =
            list.iter().filter(|imported| !imported.is_whole()).map(|imported| &imported.order);
        let goods = Goods::of_orders(conn, open.collect::<Vec<_>>().into_iter())?;
        for imported in list.iter_mut().filter(|imported| !imported.is_whole()) {
            calculate(conn, imported, &goods, &shop)?;
        }
    }
    for imported in list {
        imported.remember_counts(&coupon_ids);
    }
    Ok(())
}

fn calculate(
    conn: &mut dyn Conn,
    imported: &mut ImportedOrder,
    goods: &Goods,
    shop: &Shop,
) -> Result<()> {
    if imported.order.row.kind == OrderKind::Refund {
        let kept = imported.order.row.total;
        totals::collect_taxes(&mut imported.order, shop);
        imported.order.row.total = kept;
        return Ok(());
    }
    for slot in std::mem::take(&mut imported.unpriced) {
        let Some(line) = imported.order.items.get_mut(slot) else { continue };
        let Some(good) = goods.of_line(line) else { continue };
        let price = good.row.price.unwrap_or_default().times(line.row.quantity);
        let is_taxed = good.tax_status() == totals::TAXABLE;
        line.row.total = if is_taxed { shop.without_tax(price, good.tax_class()) } else { price };
        line.row.subtotal = line.row.subtotal.max(line.row.total);
        if line.row.name.is_empty() {
            line.row.name.clone_from(&good.row.name);
        }
        if line.details.tax_class.is_empty() {
            good.tax_class().clone_into(&mut line.details.tax_class);
        }
    }
    if imported.is_open {
        totals::calculate(&mut imported.order, goods, shop);
        if imported.order.lines(ItemKind::Coupon).next().is_some() {
            coupons::recalculate(conn, &mut imported.order, goods, shop)?;
        }
        for (slot, given) in &imported.sums {
            *slot(&mut imported.order) = *given;
        }
    }
    Ok(())
}

/// The coupons of the orders by their codes.
fn coupon_ids(conn: &mut dyn Conn, list: &[ImportedOrder]) -> Result<HashMap<String, i64>> {
    let lines = list.iter().flat_map(|imported| imported.order.lines(ItemKind::Coupon));
    let mut codes: Vec<&str> = lines.map(|line| line.row.name.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut ids = HashMap::new();
    for code in codes {
        if let Some(row) = coupon_store::find_by_code(conn, code)? {
            ids.insert(code.to_owned(), row.coupon_id);
        }
    }
    Ok(ids)
}
