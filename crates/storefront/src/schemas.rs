//! What the items look like, from the files of the folder `schemas`.
//!
//! A line is a field: its name, its type and what it is about, such as
//! `low_stock_remaining: integer|null = Stock left.`; the fields of an object are below it, two
//! blanks further in. `array<object>` is a list of such objects, `string:uri` a text of that
//! format, and `(1)` behind a type the default. A word alone stands for fields that several items
//! have. Fields are shown and never taken, in every context; a type with `!` behind it is that of a
//! field which a checkout wants, one with `?` that of a field which may be null although clients
//! know it otherwise. Of two types with a slash between them the first is published, and answers
//! have the second.

use contract::rest::{Item, Schema};
use serde_json::Value;

const CONTEXTS: &[&str] = &["view", "edit", "embed"];
/// Blanks by which the fields of an object are further in than its own line.
const INDENT: usize = 2;

/// Fields that several items have, by the word that stands for them.
const GROUPS: &[(&str, &str)] = &[
    ("address", include_str!("schemas/address.txt")),
    ("cart_coupon", include_str!("schemas/cart_coupon.txt")),
    ("cart_item", include_str!("schemas/cart_item.txt")),
    ("currency", include_str!("schemas/currency.txt")),
    ("image", include_str!("schemas/image.txt")),
    ("product", include_str!("schemas/product.txt")),
];

/// The item that a file describes.
pub(crate) fn item(title: &str, text: &str) -> Item {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    Item::new(title, Schema::object(fields(&lines, 0)))
}

fn depth(line: &str) -> usize {
    (line.len() - line.trim_start().len()) / INDENT
}

/// The fields of one depth, each with what is below it.
fn fields(lines: &[&str], level: usize) -> Vec<(String, Schema)> {
    let mut fields = Vec::new();
    let mut rest = lines;
    while let Some((line, below)) = rest.split_first() {
        let count = below.iter().take_while(|line| depth(line) > level).count();
        let (own, others) = below.split_at_checked(count).unwrap_or((below, &[]));
        rest = others;
        match GROUPS.iter().find(|(word, _)| *word == line.trim()) {
            Some((_, text)) => {
                fields.extend(self::fields(&text.lines().collect::<Vec<_>>(), 0));
            }
            None => fields.extend(field(line.trim(), own, level)),
        }
    }
    fields
}

fn field(line: &str, below: &[&str], level: usize) -> Option<(String, Schema)> {
    let (name, rest) = line.split_once(": ")?;
    let (kind, about) = rest.split_once(" = ")?;
    let (kind, is_required) = match kind.strip_suffix('!') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let (kind, default) = match kind.strip_suffix(')').and_then(|kind| kind.split_once('(')) {
        Some((kind, default)) => (kind, serde_json::from_str::<Value>(default).ok()),
        None => (kind, None),
    };
    let (kind, may_be_null) = match kind.strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let (kind, shown) = match kind.split_once('/') {
        Some((kind, shown)) => (kind, Some(shown)),
        None => (kind, None),
    };
    let inner = || Schema::typed("object").properties(fields(below, level + 1));
    let schema = match kind {
        "object" => inner(),
        "object|null" => inner().keyword("type", &["object", "null"][..]),
        "array<object>" => Schema::list(inner()),
        list if list.starts_with("array<") => {
            let item = list.trim_start_matches("array<").trim_end_matches('>');
            Schema::list(Schema::typed(item).about(about).context(CONTEXTS).readonly())
        }
        kinds if kinds.contains('|') => {
            let kinds = kinds.split('|').filter(|kind| !kind.is_empty());
            Schema::types(&kinds.collect::<Vec<_>>())
        }
        kind => match kind.split_once(':') {
            Some((kind, format)) => Schema::typed(kind).format(format),
            None => Schema::typed(kind),
        },
    };
    let schema = match default {
        Some(default) => schema.default(default),
        None => schema,
    };
    let schema = schema.about(about).context(CONTEXTS).readonly();
    let schema = if is_required { schema.required() } else { schema };
    let schema = if may_be_null { schema.or_null() } else { schema };
    let schema = match shown {
        Some(shown) => schema.shown_as(Schema::typed(shown)),
        None => schema,
    };
    Some((name.to_owned(), schema))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_read_by_its_depth() {
        let text = "id: integer = Its ID.\nprices: object = Prices.\n  price: string = Price.\n  \
                    currency\nterms: array<object> = Terms.\n  id: integer|null = ID.\n";
        let document = item("thing", text).document();
        assert_eq!(document["properties"]["id"]["type"], "integer");
        let prices = &document["properties"]["prices"]["properties"];
        assert_eq!(prices["price"]["description"], "Price.");
        assert_eq!(prices["currency_minor_unit"]["type"], "integer");
        let id = &document["properties"]["terms"]["items"]["properties"]["id"];
        assert_eq!(id["type"], json!(["integer", "null"]));
        assert_eq!(id["readonly"], true);
    }
}
