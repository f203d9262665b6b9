//! What only the first version of the interface has, and what came after it. **Its clients may send
//! all that the later versions take; it just does not say so.**

use contract::rest::{Args, Schema, loose};
use frame::Call;
use serde_json::{Value, json};

use super::args::PER_PAGE_MAX;
use super::version::Version;

const FILTER: &str = "filter";
/// Words of conditions with the parameters that they mean.
const WORDS: [(&str, &str); 10] = [
    ("posts_per_page", "per_page"),
    ("paged", "page"),
    ("offset", "offset"),
    ("order", "order"),
    ("orderby", "orderby"),
    ("s", "search"),
    ("name", "slug"),
    ("post_status", "status"),
    ("post__in", "include"),
    ("post__not_in", "exclude"),
];

/// What statuses of orders begin with where older clients found them.
const STATUS_PREFIX: &str = "wc-";

/// The parameters as a version publishes them: the first one takes those that came later as well,
/// and does not say so.
pub fn published(version: Version, args: Args, later: &[&str]) -> Args {
    if version == Version::One { args.unpublished(later) } else { args }
}

/// The parameters of a list as a version publishes them: the first one takes conditions, too.
pub fn listed(version: Version, args: Args, later: &[&str]) -> Args {
    let args = published(version, args, &["modified_after", "modified_before", "dates_are_gmt"]);
    let args = published(version, args, later);
    if version != Version::One {
        return args;
    }
    let about = "Legacy filters, such as posts_per_page.";
    args.arg(FILTER, Schema::typed("object").about(about))
}

/// Lets the conditions of the request stand for the parameters that they mean. **A condition can
/// say nothing that its parameter could not**: `args` are those of the list.
pub fn take_conditions(call: &mut Call<'_>, args: impl FnOnce() -> Args) {
    let Some(Value::Object(conditions)) = call.params.get(FILTER).cloned() else { return };
    let args = args();
    for (word, parameter) in WORDS {
        let Some(arg) = args.get(parameter) else { continue };
        let meant = conditions.get(word).and_then(|value| meant(parameter, value));
        if let Some(value) = meant.filter(|value| is_choice(&arg.schema, value)) {
            call.params.set(parameter, value);
        }
    }
}

/// Whether the value is one of the parameter's choices, where it has some.
fn is_choice(schema: &Schema, value: &Value) -> bool {
    let of_items = || schema.get("items").and_then(|items| items.get("enum"));
    let choices = schema.get("enum").or_else(of_items).and_then(Value::as_array);
    choices.is_none_or(|choices| choices.contains(value))
}

/// The value as the parameter takes it; nothing if it makes no sense there.
fn meant(parameter: &str, value: &Value) -> Option<Value> {
    let text = || loose::scalar_text(value).map(|text| text.to_ascii_lowercase());
    match parameter {
        "per_page" => {
            let count = loose::to_int(value);
            Some(json!(if (1..=PER_PAGE_MAX).contains(&count) { count } else { PER_PAGE_MAX }))
        }
        "page" => Some(json!(loose::to_int(value).max(1))),
        "offset" => Some(json!(loose::to_int(value).max(0))),
        "status" => text().map(|text| json!(text.strip_prefix(STATUS_PREFIX).unwrap_or(&text))),
        "order" | "orderby" | "slug" => text().map(Value::from),
        "search" => loose::scalar_text(value).map(|text| json!(text)),
        _ => {
            let ids = match value {
                Value::Array(items) => items.iter().map(loose::to_int).collect(),
                Value::Object(members) => members.values().map(loose::to_int).collect(),
                scalar => vec![loose::to_int(scalar)],
            };
            Some(json!(ids))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_mean_what_parameters_mean() {
        for (parameter, given, expected) in [
            ("per_page", json!("20"), Some(json!(20))),
            ("per_page", json!(-1), Some(json!(PER_PAGE_MAX))),
            ("per_page", json!(100_000), Some(json!(PER_PAGE_MAX))),
            ("page", json!(0), Some(json!(1))),
            ("order", json!("ASC"), Some(json!("asc"))),
            ("status", json!("wc-Processing"), Some(json!("processing"))),
            ("status", json!("publish"), Some(json!("publish"))),
            ("orderby", json!("ID"), Some(json!("id"))),
            ("include", json!(["3", 4]), Some(json!([3, 4]))),
            ("exclude", json!(7), Some(json!([7]))),
            ("slug", json!({}), None),
        ] {
            assert_eq!(meant(parameter, &given), expected, "{parameter} {given}");
        }
    }

    #[test]
    fn conditions_keep_to_the_choices() {
        let order = Schema::text().choices(&["asc", "desc"]);
        let several = Schema::list(Schema::text().choices(&["any", "draft"]));
        for (schema, given, is_fine) in [
            (&order, "asc", true),
            (&order, "upwards", false),
            (&several, "draft", true),
            (&several, "trash", false),
            (&Schema::text(), "anything", true),
        ] {
            assert_eq!(is_choice(schema, &json!(given)), is_fine, "{given}");
        }
    }

    #[test]
    fn the_first_version_says_nothing_of_what_came_later() {
        let args =
            || Args::new().arg("dates_are_gmt", Schema::boolean()).arg("sku", Schema::text());
        let names = |version: Version| {
            let document = listed(version, args(), &["sku"]).document();
            document.as_object().map(|known| known.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(names(Version::One), Some(vec!["filter".to_owned()]));
        assert_eq!(names(Version::Two).map(|names| names.len()), Some(2));
        assert!(listed(Version::One, args(), &["sku"]).get("sku").is_some());
    }
}
