//! From the parameters of a request to a filter of the facts.
//!
//! A filter means what its parameter says; where a shop follows the reference, see
//! [`compat`](crate::compat).

use contract::rest::{Params, Stop, loose};
use frame::Call;
use serde_json::Value;
use shop_rows::attribute;
use shop_rows::product::{self, ProductFilter};
use site_rows::post::TermCondition;
use site_rows::term;

use crate::compat::Rule;
use crate::context::QueryContext;
use crate::facts::OrderText;
use crate::query::{AttributeTest, Filter, IdSet, LineTest, RowKind};
use crate::settings::bare_status;

/// Matches no product.
const NO_PRODUCT: i64 = -1;

/// Whether one condition is enough.
pub fn is_any(params: &Params) -> bool {
    params.text("match") == Some("any")
}

/// All conditions, or any of them. No condition at all lets everything pass.
pub fn joined(conditions: Vec<Filter>, any: bool) -> Filter {
    if any && !conditions.is_empty() { Filter::Any(conditions) } else { Filter::All(conditions) }
}

/// The ids of a parameter; nothing if it filters nothing. A lone 0 stands for no choice.
pub fn ids(params: &Params, name: &str) -> Option<IdSet> {
    let ids = match params.get(name)? {
        Value::Array(_) => params.ints(name),
        other => vec![loose::to_int(other)],
    };
    (!ids.is_empty() && ids != [0]).then(|| ids.into_iter().collect())
}

/// The ids of a parameter that is a list or text; nothing if it names none. **What is no id is
/// nobody's**, so that a filter by it finds nothing.
pub fn listed_ids(params: &Params, name: &str) -> Option<IdSet> {
    let ids: Vec<i64> = match params.get(name)? {
        Value::Array(_) => params.ints(name),
        Value::String(text) => {
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(|word| loose::to_int(&Value::from(word))).collect()
        }
        other => vec![loose::to_int(other)],
    };
    (!ids.is_empty()).then(|| ids.into_iter().collect())
}

/// The products that are asked for, by themselves and by their categories.
pub fn products_in(
    params: &Params,
    context: &QueryContext,
    products: &str,
    categories: &str,
) -> Option<IdSet> {
    let listed = ids(params, products);
    let Some(categories) = ids(params, categories) else { return listed };
    let of_categories = context.view.catalog().products_in(categories.ids());
    let of_categories =
        if of_categories.is_empty() { IdSet::from_iter([NO_PRODUCT]) } else { of_categories };
    let Some(listed) = listed else { return Some(of_categories) };
    if is_any(params) {
        return Some(listed.ids().iter().chain(of_categories.ids()).copied().collect());
    }
    let both: IdSet =
        listed.ids().iter().copied().filter(|id| of_categories.contains(*id)).collect();
    if both.is_empty() {
        let is_lifted = context.follows(Rule::ProductsLiftFilter);
        return (!is_lifted).then(|| IdSet::from_iter([NO_PRODUCT]));
    }
    Some(both)
}

/// The products that are left out, by themselves or by their categories.
pub fn products_out(
    params: &Params,
    context: &QueryContext,
    products: &str,
    categories: &str,
) -> Option<IdSet> {
    let listed = ids(params, products);
    let by_category =
        ids(params, categories).map(|ids| context.view.catalog().products_in(ids.ids()));
    match (listed, by_category) {
        (Some(listed), Some(more)) => {
            Some(listed.ids().iter().chain(more.ids()).copied().collect())
        }
        (listed, by_category) => listed.or(by_category),
    }
}

/// The statuses that the request names; nothing if it names none.
pub fn statuses(params: &Params, context: &QueryContext, any: bool) -> Option<Filter> {
    let named = |name: &str| -> Vec<String> {
        params.texts(name).iter().map(|status| bare_status(status).to_owned()).collect()
    };
    let (wanted, unwanted) = (named("status_is"), named("status_is_not"));
    let mut conditions = Vec::new();
    if !wanted.is_empty() {
        let is_open =
            wanted.iter().any(|status| status == "any") && !context.follows(Rule::AnyStatusIsNone);
        conditions.push(if is_open {
            Filter::everything()
        } else {
            Filter::Text(OrderText::Status, wanted)
        });
    }
    if !unwanted.is_empty() {
        conditions.push(Filter::Text(OrderText::Status, unwanted).negated());
    }
    (!conditions.is_empty()).then(|| joined(conditions, any))
}

/// New or returning customers; a refund is with its order.
pub fn customer_type(params: &Params, context: &QueryContext) -> Option<Filter> {
    let named = params.text("customer_type").filter(|name| !name.is_empty());
    match named.or_else(|| params.text("customer"))? {
        name @ ("returning" | "new") if context.follows(Rule::RefundsReturn) => {
            Some(Filter::Returning(name == "returning"))
        }
        name @ ("returning" | "new") => Some(Filter::CustomerType(name == "returning")),
        _ => None,
    }
}

/// Orders, refunds, or a kind of refunds.
pub fn refunds(params: &Params) -> Option<Filter> {
    let kind = match params.text("refunds")? {
        "all" => RowKind::Refund,
        "none" => RowKind::Order,
        "full" => RowKind::FullRefund,
        "partial" => RowKind::PartialRefund,
        _ => return None,
    };
    Some(Filter::Kind(kind))
}

/// Whose sales count, where the request says so.
pub fn scope(params: &Params) -> Vec<Filter> {
    let named = |(name, field): (&str, OrderText)| {
        let texts = Some(params.texts(name)).filter(|texts| !texts.is_empty());
        texts.map(|texts| Filter::Text(field, texts))
    };
    let fields = [
        ("merchant_includes", OrderText::Merchant),
        ("store_includes", OrderText::Store),
        ("tpn_includes", OrderText::Tpn),
    ];
    fields.into_iter().filter_map(named).collect()
}

/// Orders with an item that has the attributes, or others. A refund of a whole order has those of
/// its order.
pub fn orders_by_attributes(
    call: &mut Call<'_>,
    context: &QueryContext,
) -> Result<Option<Filter>, Stop> {
    let Some(test) = attributes(call)? else { return Ok(None) };
    let filter = Filter::HasLine(test);
    if context.follows(Rule::AttributesSkipRefunds) {
        return Ok(Some(filter.and(Filter::Kind(RowKind::FullRefund).negated())));
    }
    Ok(Some(filter))
}

/// What an item must be like to have the attributes, or others; nothing if no pair means anything.
pub fn attributes(call: &mut Call<'_>) -> Result<Option<LineTest>, Stop> {
    let mut tests = Vec::new();
    for (name, equal) in [("attribute_is", true), ("attribute_is_not", false)] {
        let pairs = call.params.get(name).cloned().unwrap_or_default();
        for pair in pairs.as_array().into_iter().flatten() {
            if let Some(test) = attribute_test(call, pair, equal)? {
                tests.push(LineTest::Attribute(test));
            }
        }
    }
    if tests.is_empty() {
        return Ok(None);
    }
    let any = is_any(&call.params);
    Ok(Some(if any { LineTest::Any(tests) } else { LineTest::All(tests) }))
}

/// A pair of numbers names an attribute and a term of the shop; other pairs are taken as they are.
fn attribute_test(
    call: &mut Call<'_>,
    pair: &Value,
    equal: bool,
) -> Result<Option<AttributeTest>, Stop> {
    let items: Vec<Value> = match pair {
        Value::Array(items) => items.clone(),
        Value::Object(members) => members.values().cloned().collect(),
        _ => return Ok(None),
    };
    let [attribute, term] = items.as_slice() else { return Ok(None) };
    if loose::numeric(attribute).is_none() || loose::numeric(term).is_none() {
        let text = |value: &Value| loose::scalar_text(value).map(std::borrow::Cow::into_owned);
        let (Some(name), Some(value)) = (text(attribute), text(term)) else { return Ok(None) };
        let known = term::find_by_slug(call.conn()?, &name, &value)?;
        let products = match known {
            Some(term) => products_with(call, &name, term.term_id)?,
            None => IdSet::default(),
        };
        return Ok(Some(AttributeTest { name, value, equal, products }));
    }
    let Some(known) = attribute::get(call.conn()?, loose::to_int(attribute))? else {
        return Ok(None);
    };
    let taxonomy = attribute::taxonomy(&known.name);
    let Some(term) = term::get(call.conn()?, loose::to_int(term))? else { return Ok(None) };
    if term.taxonomy != taxonomy {
        return Ok(None);
    }
    let products = products_with(call, &taxonomy, term.term_id)?;
    Ok(Some(AttributeTest { name: taxonomy, value: term.slug, equal, products }))
}

/// Products that bear the term without being offered in variations of it.
fn products_with(call: &mut Call<'_>, taxonomy: &str, term_id: i64) -> Result<IdSet, Stop> {
    let wanted = ProductFilter {
        kinds_exclude: vec![String::from("variation")],
        terms: vec![TermCondition::AnyOf(vec![term_id])],
        ..ProductFilter::default()
    };
    let (found, _) = product::list(call.conn()?, &wanted)?;
    let is_fixed = |row: &product::ProductRow| !varies_by(row, taxonomy);
    Ok(found.iter().filter(|row| is_fixed(row)).map(|row| row.product_id).collect())
}

fn varies_by(row: &product::ProductRow, taxonomy: &str) -> bool {
    let details: Value = serde_json::from_str(&row.details).unwrap_or_default();
    let attributes = details.get("attributes").and_then(Value::as_array);
    attributes.into_iter().flatten().any(|attribute| {
        attribute.get("name").and_then(Value::as_str) == Some(taxonomy)
            && attribute.get("variation").and_then(Value::as_bool) == Some(true)
    })
}
