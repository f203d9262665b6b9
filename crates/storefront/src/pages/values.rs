//! What templates show of the Store API's answers: texts, prices, pictures.

use content::web::plain;
use contract::rest::Stop;
use serde_json::Value;

use crate::money;

/// An answer of the Store API.
#[derive(Debug)]
pub(super) struct StoreAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) json: Value,
}

impl StoreAnswer {
    pub(super) fn is_fine(&self) -> bool {
        self.status < 400
    }

    /// What a refusal tells people.
    pub(super) fn message(&self) -> String {
        sentence(text(&self.json, "message"))
    }

    /// A number in a header.
    pub(super) fn number(&self, header: &str) -> i64 {
        let found = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header));
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or_default()
    }
}

/// Parameters have names for programs; people read words.
fn sentence(message: &str) -> String {
    match message.strip_prefix("quantity ") {
        Some(rest) => format!("The quantity {rest}"),
        None => message.to_owned(),
    }
}

/// What was found; nothing where the reader may not know of it.
pub(super) fn settled<T>(outcome: Result<T, Stop>) -> types::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Refused(_)) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// A member, or null.
pub(super) fn part<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&Value::Null)
}

/// A member that is a text, or nothing.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A member that may have markup in it, as plain text.
pub(super) fn plain_text(value: &Value, name: &str) -> String {
    plain(text(value, name))
}

pub(super) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn number(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_i64).unwrap_or_default()
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Somewhere to go, or what is chosen from.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// A link with its words.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) text: String,
    pub(super) href: String,
}

#[derive(Debug)]
pub(super) struct Picture {
    pub(super) src: String,
    /// Forms of other widths, as browsers read them; may be empty.
    pub(super) sources: String,
    pub(super) alt: String,
}

/// Pictures of a product; the small forms for lists.
pub(super) fn pictures(product: &Value, is_small: bool) -> Vec<Picture> {
    let names = if is_small { ["thumbnail", "thumbnail_srcset"] } else { ["src", "srcset"] };
    let each = list(product, "images").iter().map(|image| {
        let [src, sources] = names.map(|name| text(image, name).to_owned());
        let alt = match plain_text(image, "alt") {
            empty if empty.is_empty() => plain_text(product, "name"),
            alt => alt,
        };
        Picture { src, sources, alt }
    });
    each.filter(|picture| is_web_address(&picture.src)).collect()
}

fn is_web_address(src: &str) -> bool {
    src.starts_with("https://") || src.starts_with("http://") || src.starts_with('/')
}

/// What something costs, in words.
#[derive(Debug, Default)]
pub(super) struct Price {
    pub(super) now: String,
    /// Before the sale; empty outside of one.
    pub(super) before: String,
}

/// The price of a product of the Store API; nothing for one that has none.
pub(super) fn price(product: &Value) -> Price {
    let Some(prices) = product.get("prices") else { return Price::default() };
    let range = prices.get("price_range").filter(|range| range.is_object());
    if let Some(range) = range {
        let [least, most] =
            ["min_amount", "max_amount"].map(|name| money::written(prices, text(range, name)));
        return Price { now: format!("{least} – {most}"), before: String::new() };
    }
    if !flag(product, "is_purchasable") && text(prices, "price") == "0" {
        return Price::default();
    }
    let (now, regular) = (text(prices, "price"), text(prices, "regular_price"));
    let before = if flag(product, "on_sale") && now != regular {
        money::written(prices, regular)
    } else {
        String::new()
    };
    Price { now: money::written(prices, now), before }
}

/// An amount of a body that says how its amounts are written; nothing for one that is not known.
pub(super) fn amount(body: &Value, name: &str) -> String {
    match text(body, name) {
        "" => String::new(),
        minor => money::written(body, minor),
    }
}

/// Whether the amount is neither absent nor nothing.
pub(super) fn is_some_amount(body: &Value, name: &str) -> bool {
    !matches!(text(body, name), "" | "0")
}
