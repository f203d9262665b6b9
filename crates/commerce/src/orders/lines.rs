//! Adding, changing and removing the lines of an order.

use contract::rest::{Refusal, Stop, clean, loose};
use frame::Call;
use serde_json::{Map, Value, json};
use shop_rows::order::ItemKind;
use shop_rows::{product, tax_class};
use types::Amount;

use super::goods::{Good, Goods};
use super::record::{Line, Order};
use super::totals::Shop;
use crate::common::amounts::{self, MONEY_MAX, QUANTITY_MAX};
use crate::common::meta;

/// Lines of one order at most.
pub(super) const LINES_MAX: usize = 5_000;
/// Fields of which a null removes the line.
const REMOVING: [&str; 5] = ["product_id", "method_id", "method_title", "name", "code"];

/// Kinds of lines by the names of their fields, in the order in which they are written.
const FIELDS: [(&str, ItemKind); 3] = [
    ("line_items", ItemKind::Line),
    ("shipping_lines", ItemKind::Shipping),
    ("fee_lines", ItemKind::Fee),
];

pub(super) type Posted = Map<String, Value>;

/// Takes over the lines of the request, and returns the goods that had to be read for that.
pub(super) fn apply(call: &mut Call<'_>, order: &mut Order, shop: &Shop) -> Result<Goods, Stop> {
    let mut goods = Goods::default();
    for (field, kind) in FIELDS {
        let Some(Value::Array(list)) = call.params.get(field).cloned() else { continue };
        if kind == ItemKind::Line {
            goods.add_ids(call.conn()?, named_ids(&list))?;
        }
        for (index, posted) in list.iter().enumerate() {
            let Some(posted) = posted.as_object() else { continue };
            check(&format!("{field}[{index}]"), posted)?;
            one(call, order, kind, posted, (shop, &mut goods))?;
        }
    }
    if order.items.len() > LINES_MAX {
        let message = format!("An order must have at most {LINES_MAX} lines.");
        return Err(Refusal::new(400, "rest_invalid_param", message).into());
    }
    Ok(goods)
}

/// The products and variations that lines of a request name by their ids, to be read at once.
fn named_ids(list: &[Value]) -> Vec<i64> {
    let named = list.iter().take(LINES_MAX).flat_map(|posted| {
        ["product_id", "variation_id"].map(|name| posted.get(name).map(loose::to_int))
    });
    named.flatten().filter(|id| *id > 0).collect()
}

/// Refuses numbers of a line that nothing can be calculated with.
pub(super) fn check(param: &str, posted: &Posted) -> Result<(), Refusal> {
    for (names, most) in [
        (&["quantity", "qty"][..], QUANTITY_MAX),
        (&["total", "subtotal", "refund_total"], MONEY_MAX),
    ] {
        for name in names {
            amounts::check(&format!("{param}[{name}]"), posted.get(*name), most)?;
        }
    }
    Ok(())
}

/// Refuses an order whose lines come to more than can be added up to the last digit, such as very
/// many of something dear.
pub(super) fn check_sums(order: &Order) -> Result<(), Refusal> {
    let most = Amount::from_whole(MONEY_MAX);
    let sums: [fn(&Line) -> Amount; 4] = [
        |line| line.row.total,
        |line| line.row.subtotal,
        |line| line.row.total_tax,
        |line| line.row.subtotal_tax,
    ];
    let is_beyond = |of: &fn(&Line) -> Amount| {
        order.items.iter().map(|line| of(line).abs()).sum::<Amount>() > most
    };
    if sums.iter().any(is_beyond) {
        let message = format!("The order's total must be at most {MONEY_MAX}.");
        return Err(amounts::wrong("line_items", message));
    }
    Ok(())
}

fn one(
    call: &mut Call<'_>,
    order: &mut Order,
    kind: ItemKind,
    posted: &Posted,
    (shop, goods): (&Shop, &mut Goods),
) -> Result<(), Stop> {
    let id = posted.get("id").map(loose::to_int).unwrap_or_default();
    let is_null = REMOVING.iter().any(|name| posted.get(*name).is_some_and(Value::is_null));
    let is_none = posted.get("quantity").is_some_and(|quantity| loose::to_int(quantity) == 0);
    if is_null || is_none {
        order.items.retain(|line| id == 0 || line.row.item_id != id || line.row.kind != kind);
        return Ok(());
    }
    let place = order.items.iter().position(|line| line.row.item_id == id && line.row.kind == kind);
    let mut line = match (id, place) {
        (0, _) => Line::of_kind(kind),
        (_, Some(place)) => order.items.remove(place),
        (_, None) => {
            let message = "The line does not belong to this order.";
            return Err(Refusal::new(400, "woocommerce_rest_invalid_item_id", message).into());
        }
    };
    match kind {
        ItemKind::Line => product_line(call, &mut line, posted, (shop, goods))?,
        ItemKind::Shipping => shipping_line(&mut line, posted)?,
        _ => fee_line(&mut line, posted)?,
    }
    tax_class(call, &mut line, posted)?;
    if let Some(Value::Array(entries)) = posted.get("meta_data") {
        meta::merge(call.conn()?, &mut line.details.meta_data, entries)?;
    }
    match place.filter(|_| id != 0) {
        Some(place) => order.items.insert(place, line),
        None => order.items.push(line),
    }
    Ok(())
}

fn text(posted: &Posted, name: &str) -> Option<String> {
    let value = posted.get(name).filter(|value| !value.is_null())?;
    Some(clean::text_field(&loose::scalar_text(value).unwrap_or_default()))
}

fn amount(posted: &Posted, name: &str) -> Option<Amount> {
    let value = posted.get(name).filter(|value| !value.is_null())?;
    Some(amounts::read(value).unwrap_or_default())
}

fn product_line(
    call: &mut Call<'_>,
    line: &mut Line,
    posted: &Posted,
    (shop, goods): (&Shop, &mut Goods),
) -> Result<(), Stop> {
    let is_new = line.row.item_id == 0;
    let quantity = posted.get("quantity").map(loose::to_int).map(Amount::from_whole);
    if is_new {
        line.row.quantity = Amount::ONE;
    }
    let product_id = requested_product_id(call, posted, is_new)?;
    if product_id != 0 && product_id != line.sold_id() {
        goods.add_ids(call.conn()?, vec![product_id])?;
        if let Some(good) = goods.get(product_id) {
            set_product(call, line, good)?;
            if is_new {
                set_price(line, good, quantity.unwrap_or(Amount::ONE), shop);
            }
        }
    }
    if let Some(name) = text(posted, "name") {
        line.row.name = name;
    }
    if let Some(quantity) = quantity {
        line.row.quantity = quantity;
    }
    if let Some(total) = amount(posted, "total") {
        line.row.total = total;
        line.row.subtotal = line.row.subtotal.max(total);
    }
    if let Some(subtotal) = amount(posted, "subtotal") {
        line.row.subtotal = subtotal;
    }
    Ok(())
}

/// What the line is to be about: by SKU, by variation or by product; 0 to leave it as it is.
fn requested_product_id(call: &mut Call<'_>, posted: &Posted, is_new: bool) -> Result<i64, Stop> {
    let id = |name: &str| posted.get(name).map(loose::to_int).unwrap_or_default();
    if let Some(sku) = text(posted, "sku").filter(|sku| !sku.is_empty()) {
        return Ok(product::id_of_sku(call.conn()?, &sku, 0)?.unwrap_or_default());
    }
    let (product_id, variation_id) = (id("product_id"), id("variation_id"));
    if variation_id == 0 && product_id == 0 && is_new {
        let code = "woocommerce_rest_required_product_reference";
        let message = "A product_id or sku is required.";
        return Err(Refusal::new(400, code, message).into());
    }
    Ok(if variation_id == 0 { product_id } else { variation_id })
}

fn set_product(call: &mut Call<'_>, line: &mut Line, good: Good<'_>) -> Result<(), Stop> {
    set_good(line, good);
    if good.parent.is_none() {
        return Ok(());
    }
    for (_, chosen) in product::attributes_of(call.conn()?, &[good.row.product_id])? {
        if chosen.value.is_empty() {
            continue;
        }
        let entry = json!({ "key": chosen.name, "value": chosen.value });
        meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
    }
    Ok(())
}

/// Lets the line be about the good, without what was chosen of a variation.
pub(super) fn set_good(line: &mut Line, good: Good<'_>) {
    let row = good.row;
    let is_variation = good.parent.is_some();
    line.row.product_id = if is_variation { row.parent_id } else { row.product_id };
    line.row.variation_id = if is_variation { row.product_id } else { 0 };
    line.row.name.clone_from(&row.name);
    good.tax_class().clone_into(&mut line.details.tax_class);
}

/// What so many of the good cost.
pub(super) fn set_price(line: &mut Line, good: Good<'_>, count: Amount, shop: &Shop) {
    let price = good.row.price.unwrap_or_default().times(count);
    let price = match good.tax_status() {
        super::totals::TAXABLE => shop.without_tax(price, good.tax_class()),
        _ => price,
    };
    line.row.total = price;
    line.row.subtotal = price;
}

fn shipping_line(line: &mut Line, posted: &Posted) -> Result<(), Refusal> {
    if let Some(method_id) = text(posted, "method_id") {
        line.details.method_id = method_id;
    }
    if line.row.item_id == 0 && line.details.method_id.is_empty() {
        let message = "A method_id is required.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_shipping_item", message));
    }
    if let Some(title) = text(posted, "method_title") {
        line.row.name = title;
    }
    if let Some(instance_id) = text(posted, "instance_id") {
        line.details.instance_id = instance_id;
    }
    if let Some(total) = amount(posted, "total") {
        line.row.total = total;
    }
    Ok(())
}

fn fee_line(line: &mut Line, posted: &Posted) -> Result<(), Refusal> {
    if let Some(name) = text(posted, "name") {
        line.row.name = name;
    }
    if line.row.item_id == 0 && line.row.name.is_empty() {
        let message = "A fee name is required.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_fee_item", message));
    }
    if let Some(tax_status) = text(posted, "tax_status") {
        line.details.tax_status = tax_status;
    }
    if let Some(total) = amount(posted, "total") {
        line.row.total = total;
    }
    Ok(())
}

fn tax_class(call: &mut Call<'_>, line: &mut Line, posted: &Posted) -> Result<(), Stop> {
    let Some(class) = text(posted, "tax_class") else { return Ok(()) };
    let class = if class == "standard" { String::new() } else { class };
    if !class.is_empty() && tax_class::get(call.conn()?, &class)?.is_none() {
        let message = "Tax class not found.";
        let code = "order_item_product_invalid_tax_class";
        return Err(Refusal::new(400, code, message).into());
    }
    line.details.tax_class = class;
    Ok(())
}
