//! Putting things into a cart, changing how many there are, and taking them out.

use std::collections::HashMap;

use commerce::products::record::{VARIABLE, VARIATION};
use contract::rest::{Refusal, Stop, loose};
use frame::Call;
use frame::text::slugify;
use serde_json::Value;
use shop_rows::product::VariationAttribute;

use super::pricing::{goods_of, out_of_stock, stock_left};
use super::state::{Cart, ITEMS_MAX, Item};
use crate::products::shelf::Shown;
use crate::products::show::QUANTITY_MAX;

fn refused(code: &'static str, message: impl Into<String>) -> Refusal {
    Refusal::new(400, code, message.into())
}

/// A quantity: whole, of one at least. **A part of a piece is no quantity**, for what would be
/// charged is not what would be shown.
fn quantity(given: Option<&Value>, code: &'static str) -> Result<Option<i64>, Refusal> {
    let Some(given) = given else { return Ok(None) };
    let wrong = || refused(code, "quantity must be a whole number of at least 1.");
    let number = loose::numeric(given).ok_or_else(wrong)?;
    let is_whole = number.fract() == 0.0 && number.is_finite();
    let number = loose::to_int(given);
    if is_whole && number >= 1 { Ok(Some(number)) } else { Err(wrong()) }
}

/// Adds what the request names; the place of the item in the cart.
pub(crate) fn add(call: &mut Call<'_>, cart: &mut Cart) -> Result<usize, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let unknown =
        || refused("woocommerce_rest_cart_invalid_product", "This product cannot be added.");
    if id <= 0 {
        return Err(unknown().into());
    }
    let code = "woocommerce_rest_product_invalid_quantity";
    let wanted = quantity(call.params.get("quantity"), code)?.unwrap_or(1);
    let given = chosen_by(call);
    let Some(product) = find(call, id)? else {
        let exists = shop_rows::product::get(call.conn()?, id)?.is_some();
        let not_for_sale = refused("woocommerce_rest_product_not_purchasable", NOT_FOR_SALE);
        return Err(if exists { not_for_sale } else { unknown() }.into());
    };
    let (one, item) = chosen(call, product, &given)?;
    let purchasable = one.loaded.is_purchasable();
    if !purchasable {
        return Err(refused("woocommerce_rest_product_not_purchasable", NOT_FOR_SALE).into());
    }
    if one.is_locked {
        let message = "This product is protected by a password.";
        return Err(refused("woocommerce_rest_add_to_cart_error", message).into());
    }
    put(call, cart, &one, item, wanted)
}

const NOT_FOR_SALE: &str = "This product cannot be bought.";

fn find(call: &mut Call<'_>, id: i64) -> Result<Option<Shown>, Stop> {
    Ok(goods_of(call, &[id])?.remove(&id))
}

/// The attributes that the request names, with their values.
fn chosen_by(call: &Call<'_>) -> Vec<(String, String)> {
    let entries = call.params.get("variation").and_then(Value::as_array).into_iter().flatten();
    let text = |entry: &Value, name: &str| {
        let text = entry.get(name).and_then(loose::scalar_text);
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    entries.map(|entry| (text(entry, "attribute"), text(entry, "value"))).collect()
}

/// What is meant: the product, or the variation that the attributes choose.
fn chosen(
    call: &mut Call<'_>,
    product: Shown,
    given: &[(String, String)],
) -> Result<(Shown, Item), Stop> {
    if !product.loaded.product.is(VARIABLE) && !product.loaded.product.is(VARIATION) {
        let item = Item::new(product.loaded.product.id(), 0, Vec::new(), 0);
        return Ok((product, item));
    }
    if product.loaded.product.is(VARIATION) {
        let parent_id = product.loaded.product.row.parent_id;
        let parent = find(call, parent_id)?;
        let unknown = || refused("woocommerce_rest_cart_invalid_product", NOT_FOR_SALE);
        let parent = parent.ok_or_else(unknown)?;
        let values = values(&parent, given);
        let own = product.loaded.chosen.clone();
        let chosen = completed(&parent, &own, &values)?;
        let item = Item::new(parent_id, product.loaded.product.id(), chosen, 0);
        return Ok((product, item));
    }
    let values = values(&product, given);
    let missing = keys(&product).into_iter().find(|key| !values.contains_key(key));
    if missing.is_some() {
        let message = "Every attribute of the product must be selected.";
        return Err(refused("woocommerce_rest_missing_attributes", message).into());
    }
    let fits = |own: &[VariationAttribute]| {
        own.iter().all(|own| own.value.is_empty() || values.get(&own.name) == Some(&own.value))
    };
    let matching = product.variations.iter().find(|(_, own)| fits(own));
    let Some((variation, own)) = matching else {
        let message = "No variation has the selected attributes.";
        let code = "woocommerce_rest_variation_id_from_variation_data";
        return Err(refused(code, message).into());
    };
    let chosen = completed(&product, own, &values)?;
    let item = Item::new(product.loaded.product.id(), variation.id(), chosen, 0);
    let variation_id = variation.id();
    let one = find(call, variation_id)?;
    let unknown = || refused("woocommerce_rest_product_not_purchasable", NOT_FOR_SALE);
    Ok((one.ok_or_else(unknown)?, item))
}

/// The attributes by which variations of the product differ.
fn keys(product: &Shown) -> Vec<String> {
    let own = product.loaded.product.details.attributes.iter().filter(|own| own.variation);
    own.map(commerce::products::record::Attribute::key).collect()
}

/// The values that the request chooses by attribute: attributes may be named by label or by key,
/// values by name or by slug.
fn values(product: &Shown, given: &[(String, String)]) -> HashMap<String, String> {
    let mut values = HashMap::new();
    for own in product.loaded.product.details.attributes.iter().filter(|own| own.variation) {
        let key = own.key();
        let (_, label) = product.loaded.attribute_named(&key);
        let is_meant = |name: &str| {
            let name = name.strip_prefix("attribute_").unwrap_or(name);
            name == key || name.eq_ignore_ascii_case(&label) || slugify(name) == key
        };
        let Some((_, value)) = given.iter().find(|(name, _)| is_meant(name)) else { continue };
        let value = if own.is_global {
            let mut terms = product.loaded.terms_of(&own.name);
            let found =
                terms.find(|term| term.slug == *value || term.name.eq_ignore_ascii_case(value));
            found.map_or_else(|| value.clone(), |term| term.slug.clone())
        } else {
            let found = own
                .options
                .iter()
                .find(|option| option.eq_ignore_ascii_case(value) || slugify(option) == *value);
            found.unwrap_or(value).clone()
        };
        values.insert(key, value);
    }
    values
}

/// What a variation has chosen itself, and what the buyer chose where it leaves that open.
fn completed(
    product: &Shown,
    own: &[VariationAttribute],
    values: &HashMap<String, String>,
) -> Result<Vec<(String, String)>, Refusal> {
    let mut chosen = Vec::new();
    for attribute in product.loaded.product.details.attributes.iter().filter(|own| own.variation) {
        let key = attribute.key();
        let fixed = own.iter().find(|own| own.name == key).map(|own| own.value.clone());
        let fixed = fixed.filter(|value| !value.is_empty());
        let given = values.get(&key);
        let wrong = || {
            let message = "A selected value is none of the attribute's.";
            refused("woocommerce_rest_invalid_variation_data", message)
        };
        let value = match (fixed, given) {
            (Some(fixed), Some(given)) if fixed != *given => return Err(wrong()),
            (Some(fixed), _) => fixed,
            (None, Some(given)) => {
                let is_known = if attribute.is_global {
                    product.loaded.terms_of(&attribute.name).any(|term| term.slug == *given)
                } else {
                    attribute.options.contains(given)
                };
                if !is_known {
                    return Err(wrong());
                }
                given.clone()
            }
            (None, None) => {
                let message = "Every attribute that the variation leaves open must be selected.";
                return Err(refused("woocommerce_rest_missing_variation_data", message));
            }
        };
        chosen.push((key, value));
    }
    Ok(chosen)
}

/// Puts so many more of the item into the cart.
fn put(
    call: &mut Call<'_>,
    cart: &mut Cart,
    one: &Shown,
    item: Item,
    wanted: i64,
) -> Result<usize, Stop> {
    if !one.loaded.product.is_in_stock() {
        return Err(out_of_stock(one).into());
    }
    let place = cart.state.items.iter().position(|known| known.key == item.key);
    let present = place.and_then(|place| cart.state.items.get(place)).map_or(0, |i| i.quantity);
    let is_single = one.loaded.is_sold_individually();
    if is_single && present > 0 {
        return Err(refused("readonly_quantity", "An order contains at most one of this.").into());
    }
    let wanted = if is_single { 1 } else { wanted };
    let total = present.saturating_add(wanted);
    // Variations may share the stock of their product.
    let counted = one.loaded.counted().id();
    let shared = |known: &&Item| {
        known.key != item.key && (known.product_id == counted || known.variation_id == counted)
    };
    let others: i64 = cart.state.items.iter().filter(shared).map(|known| known.quantity).sum();
    if let Some(left) = stock_left(call, one, cart.state.order_id)? {
        if left == 0 {
            return Err(out_of_stock(one).into());
        }
        if total.saturating_add(others) > left {
            let message = format!("There are only {left} left of this product.");
            return Err(refused("woocommerce_rest_product_partially_out_of_stock", message).into());
        }
    }
    if total > QUANTITY_MAX {
        let message = format!("A cart contains at most {QUANTITY_MAX} of a product.");
        return Err(refused("woocommerce_rest_product_invalid_quantity", message).into());
    }
    match place {
        Some(place) => {
            if let Some(known) = cart.state.items.get_mut(place) {
                known.quantity = total;
            }
            Ok(place)
        }
        None if cart.state.items.len() >= ITEMS_MAX => {
            let message = format!("A cart contains at most {ITEMS_MAX} different products.");
            Err(refused("woocommerce_rest_add_to_cart_error", message).into())
        }
        None => {
            cart.state.items.push(Item { quantity: total, ..item });
            Ok(cart.state.items.len() - 1)
        }
    }
}

/// The place of the item with this key.
pub(crate) fn place_of(cart: &Cart, key: &str) -> Option<usize> {
    cart.state.items.iter().position(|item| item.key == key)
}

/// Sets how many there are of an item; without a quantity, nothing changes.
pub(crate) fn update(call: &mut Call<'_>, cart: &mut Cart, place: usize) -> Result<(), Stop> {
    let code = "invalid_quantity";
    let Some(wanted) = quantity(call.params.get("quantity"), code)? else { return Ok(()) };
    let Some(item) = cart.state.items.get(place).cloned() else { return Ok(()) };
    let Some(one) = find(call, item.sold_id())? else { return Ok(()) };
    if one.loaded.is_sold_individually() && wanted != item.quantity {
        return Err(refused("readonly_quantity", "An order contains at most one of this.").into());
    }
    let left = stock_left(call, &one, cart.state.order_id)?.unwrap_or(QUANTITY_MAX);
    if wanted > left.min(QUANTITY_MAX) {
        let message = format!("quantity must be at most {}.", left.min(QUANTITY_MAX));
        return Err(refused(code, message).into());
    }
    if let Some(item) = cart.state.items.get_mut(place) {
        item.quantity = wanted;
    }
    Ok(())
}
