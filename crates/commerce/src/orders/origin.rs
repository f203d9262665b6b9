//! Where an order came from, in the words of people, from what the shop window noted about it.

use serde_json::Value;

const SOURCE_TYPE: &str = "_wc_order_attribution_source_type";
const SOURCE: &str = "_wc_order_attribution_utm_source";

/// Such as `Organic: Google`, from the entries of an order.
pub(crate) fn origin(meta_data: &[Value]) -> String {
    let entry = |key: &str| {
        let found = meta_data.iter().find(|entry| entry.get("key").is_some_and(|k| k == key));
        found.and_then(|entry| entry.get("value")).and_then(Value::as_str).unwrap_or_default()
    };
    let source = entry(SOURCE).trim_matches(|c| c == '(' || c == ')');
    let source = capitalised(source);
    match entry(SOURCE_TYPE) {
        "utm" => format!("Source: {source}"),
        "organic" => format!("Organic: {source}"),
        "referral" => format!("Referral: {source}"),
        "typein" => String::from("Direct"),
        "mobile_app" => String::from("Mobile app"),
        "admin" => String::from("Web admin"),
        "pos" => String::from("Point of Sale"),
        _ => String::from("Unknown"),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn origins_are_told_in_words() {
        for (kind, source, expected) in [
            ("utm", "newsletter", "Source: Newsletter"),
            ("organic", "google", "Organic: Google"),
            ("referral", "(blog.example)", "Referral: Blog.example"),
            ("typein", "(direct)", "Direct"),
            ("mobile_app", "", "Mobile app"),
            ("", "", "Unknown"),
        ] {
            let entries = [
                json!({ "key": SOURCE_TYPE, "value": kind }),
                json!({ "key": SOURCE, "value": source }),
            ];
            assert_eq!(origin(&entries), expected);
        }
        assert_eq!(origin(&[]), "Unknown");
    }
}
