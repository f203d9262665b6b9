//! Creating and changing coupons. Parameters may come unchecked, in a batch: whatever their types
//! are, they are read as far as they mean something.

use contract::rest::params::invalid_params;
use contract::rest::{ParamError, Params, Refusal, Stop, clean, formats, loose};
use frame::text::{clean_content, slugify};
use frame::{Call, Options};
use serde_json::Value;
use types::{Amount, Timestamp};

use super::schema::{KINDS, PERCENT};
use super::shape;
use super::{Coupon, PUBLISHED, TRASH, TRASH_SLUG, TRASH_STATUS, TRASH_TIME};
use crate::common::version::Version;
use crate::common::{amounts, meta, moments};

/// The statuses with the words of the published interface, where these are others.
const STATUSES: &[(&str, &str)] = &[
    (PUBLISHED, "published"),
    ("pending", "pending review"),
    ("draft", "draft"),
    ("private", "private"),
    ("future", "scheduled"),
    (TRASH, TRASH),
];

/// The parameters of a call by the names of today's fields.
struct Given<'c> {
    version: Version,
    params: &'c Params,
    options: &'c Options,
}

impl<'c> Given<'c> {
    fn of(version: Version, call: &'c Call<'_>) -> Self {
        Self { version, params: &call.params, options: call.options() }
    }

    fn name(&self, field: &'static str) -> Option<&'static str> {
        shape::name(self.version, field)
    }

    fn value(&self, field: &'static str) -> Option<&Value> {
        self.params.get(self.name(field)?)
    }

    /// Whether the field was given, be it null.
    fn is_named(&self, field: &'static str) -> bool {
        self.name(field).is_some_and(|name| self.params.given(name))
    }

    fn text(&self, field: &'static str) -> Option<String> {
        self.value(field).and_then(loose::scalar_text).map(std::borrow::Cow::into_owned)
    }

    fn set_flag(&self, field: &'static str, flag: &mut bool) {
        if let Some(value) = self.value(field) {
            *flag = loose::to_bool(value);
        }
    }

    /// Ids of other records, each once.
    fn set_ids(&self, field: &'static str, ids: &mut Vec<i64>) {
        let Some(name) = self.name(field).filter(|_| self.value(field).is_some()) else {
            return;
        };
        let mut seen = std::collections::HashSet::from([0]);
        let given = self.params.ints(name).into_iter().map(i64::saturating_abs);
        *ids = given.filter(|id| seen.insert(*id)).collect();
    }

    /// A limit; zero is none.
    fn set_limit(&self, field: &'static str, limit: &mut Option<i64>) {
        if let Some(value) = self.value(field) {
            *limit = Some(loose::to_int(value).saturating_abs()).filter(|limit| *limit != 0);
        }
    }

    fn set_amount(&self, field: &'static str, amount: &mut Amount) -> Result<(), Refusal> {
        if let Some(value) = self.value(field) {
            amounts::check(self.name(field).unwrap_or(field), Some(value), amounts::MONEY_MAX)?;
            *amount = amounts::read(value).unwrap_or_default();
        }
        Ok(())
    }
}

/// Sets what the call gives. Refuses what no coupon can have.
pub(super) fn apply(
    version: Version,
    call: &mut Call<'_>,
    coupon: &mut Coupon,
) -> Result<(), Stop> {
    let before = coupon.clone();
    set_code(version, call, coupon)?;
    set_fields(&Given::of(version, call), coupon)?;
    check_code(call, coupon, &before)?;
    if let Some(Value::Array(entries)) =
        shape::name(version, "meta_data").and_then(|name| call.params.get(name)).cloned()
    {
        meta::apply(call, &mut coupon.details.meta_data, &entries)?;
    }
    if before.row.status == TRASH && coupon.row.status != TRASH {
        let notes = [TRASH_STATUS, TRASH_TIME, TRASH_SLUG];
        let is_note = |entry: &Value| notes.iter().any(|key| entry["key"] == **key);
        coupon.details.meta_data.retain(|entry| !is_note(entry));
        coupon.row.trashed_status = None;
    }
    let text = |coupon: &Coupon| {
        let row = &coupon.row;
        [row.code.clone(), row.description.clone(), row.status.clone()]
    };
    // A change of the conditions alone does not count as a change of the text.
    if text(&before) != text(coupon) {
        coupon.row.modified = moments::now(call);
    }
    Ok(())
}

/// Sets what a coupon that was in use elsewhere brings along.
pub(super) fn apply_past(call: &Call<'_>, coupon: &mut Coupon) {
    if let Some(created) = moments::created(call) {
        coupon.row.created = created;
    }
    if let Some(count) = call.params.int("usage_count") {
        coupon.row.usage_count = count.max(0);
    }
    if let Some(modified) = moments::modified_elsewhere(call) {
        coupon.row.modified = modified;
    }
    coupon.details.used_by = call.params.texts("used_by");
}

fn refuse(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

/// A new coupon must have a code, and none may lose it.
fn set_code(version: Version, call: &Call<'_>, coupon: &mut Coupon) -> Result<(), Stop> {
    let given = Given::of(version, call);
    let is_new = coupon.row.coupon_id == 0;
    let Some(code) = given.text("code").or(is_new.then(String::new)) else { return Ok(()) };
    let code = clean::code(&code);
    // Clients of the reference cannot make a coupon of this code, which it takes for none.
    if code.is_empty() || is_new && code == "0" {
        let message = "A coupon code is required.";
        return Err(refuse("woocommerce_rest_empty_coupon_code", message));
    }
    if is_new {
        coupon.details.slug = slugify(&code);
    }
    coupon.row.code = code;
    Ok(())
}

/// Of several coupons with the same code, one at most is published.
fn check_code(call: &mut Call<'_>, coupon: &Coupon, before: &Coupon) -> Result<(), Stop> {
    let is_other_code = coupon.row.code != before.row.code;
    let gets_published = coupon.row.status == PUBLISHED && before.row.status != PUBLISHED;
    if !is_other_code && !gets_published {
        return Ok(());
    }
    let row = &coupon.row;
    if shop_rows::coupon::published_id(call.conn()?, &row.code, row.coupon_id)?.is_some() {
        let message = "This coupon code is already in use; choose another one.";
        return Err(refuse("woocommerce_rest_coupon_code_already_exists", message));
    }
    Ok(())
}

fn set_fields(given: &Given<'_>, coupon: &mut Coupon) -> Result<(), Stop> {
    set_discount(given, coupon)?;
    let Coupon { row, details, .. } = coupon;
    if let Some(status) = given.text("status").filter(|status| !status.is_empty()) {
        status_of(&status)?.clone_into(&mut row.status);
    }
    if let Some(description) = given.text("description") {
        row.description = clean_content(&description);
    }
    set_expiry(given, &mut row.expires);
    given.set_limit("usage_limit", &mut row.usage_limit);
    given.set_limit("usage_limit_per_user", &mut row.usage_limit_per_user);
    given.set_limit("limit_usage_to_x_items", &mut details.items_limit);
    given.set_flag("individual_use", &mut details.individual_use);
    given.set_flag("free_shipping", &mut details.free_shipping);
    given.set_flag("exclude_sale_items", &mut details.exclude_sale_items);
    given.set_ids("product_ids", &mut details.product_ids);
    given.set_ids("excluded_product_ids", &mut details.excluded_product_ids);
    given.set_ids("product_categories", &mut details.product_categories);
    given.set_ids("excluded_product_categories", &mut details.excluded_product_categories);
    if let Some(name) = given.name("email_restrictions")
        && given.value("email_restrictions").is_some()
    {
        let addresses = given.params.texts(name);
        details.email_restrictions = addresses.iter().filter_map(|text| address(text)).collect();
    }
    set_bounds(given, coupon)
}

/// The status that a word means: the name of one, or what the published interface calls it.
fn status_of(word: &str) -> Result<&'static str, Refusal> {
    let word = word.trim().to_lowercase();
    let found = STATUSES.iter().find(|(status, other)| word == *status || word == *other);
    found.map(|(status, _)| *status).ok_or_else(|| {
        let names: Vec<&str> = STATUSES.iter().map(|(status, _)| *status).collect();
        let message = format!("status must be one of {}.", names.join(", "));
        let error = ParamError::new("rest_not_in_enum", message);
        invalid_params(vec![(String::from("status"), Some(error))])
    })
}

/// The expiry by either clock. Clients send back what they were shown, so the one counts that says
/// something new.
fn set_expiry(given: &Given<'_>, expires: &mut Option<Timestamp>) {
    let before = *expires;
    let gmt = |value: &Value| moments::read_gmt(given.options, value);
    if given.is_named("date_expires_gmt") {
        *expires = given.value("date_expires_gmt").and_then(gmt);
    }
    if given.is_named("date_expires") {
        let local = |value: &Value| moments::read(given.options, value);
        let local = given.value("date_expires").and_then(local);
        if local != before || !given.is_named("date_expires_gmt") {
            *expires = local;
        }
    }
}

fn set_discount(given: &Given<'_>, coupon: &mut Coupon) -> Result<(), Stop> {
    if let Some(kind) = given.text("discount_type") {
        if !KINDS.contains(&&*kind) {
            let message = "Unknown discount type.";
            return Err(refuse("coupon_invalid_discount_type", message));
        }
        coupon.row.discount_kind = kind;
    }
    given.set_amount("amount", &mut coupon.row.amount)?;
    let too_much = coupon.row.discount_kind == PERCENT && coupon.row.amount > Amount::HUNDRED;
    if coupon.row.amount.is_negative() || too_much {
        let message = "The amount must not be negative, and a percentage must not exceed 100.";
        return Err(refuse("coupon_invalid_amount", message));
    }
    Ok(())
}

/// The amounts between which an order may be. When one of them is given it has to fit the other.
fn set_bounds(given: &Given<'_>, coupon: &mut Coupon) -> Result<(), Stop> {
    let details = &mut coupon.details;
    given.set_amount("minimum_amount", &mut details.minimum_amount)?;
    given.set_amount("maximum_amount", &mut details.maximum_amount)?;
    let (least, most) = (details.minimum_amount, details.maximum_amount);
    let (has_least, has_most) =
        (given.value("minimum_amount").is_some(), given.value("maximum_amount").is_some());
    let is_crossed = !most.is_zero() && least > most;
    if has_least && (least.is_negative() || is_crossed) {
        let message = "The minimum amount must not be negative or exceed the maximum.";
        return Err(refuse("coupon_invalid_minimum_amount", message));
    }
    if has_most && (most.is_negative() || is_crossed) {
        let message = "The maximum amount must not be negative or less than the minimum.";
        return Err(refuse("coupon_invalid_maximum_amount", message));
    }
    Ok(())
}

/// An address, or a pattern of addresses, without what no address has; nothing if it is none.
fn address(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.split_once('@')?;
    let local: String = local
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(*c))
        .collect();
    let domain: String =
        domain.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    Some(format!("{local}@{domain}")).filter(|address| formats::is_email(address))
}
