//! A line about each operation, made of its method and its path.

use crate::rest::answers::{Answers, Shape};

/// The last part of the path of batches.
const BATCH: &str = "batch";

/// Such as `List variations of products`, for a path below its namespace.
pub(super) fn of(verb: &str, path: &str, answers: &Answers, is_list: bool) -> String {
    let is_batch = matches!(answers.shape, Shape::Batch(_));
    let path = if is_batch { path.strip_suffix(BATCH).unwrap_or(path) } else { path };
    let Some(things) = things(path) else { return String::from("Get the index of routes") };
    let is_one = path.ends_with('}');
    let deed = match verb {
        _ if is_batch => "Change several of",
        "GET" if is_list => "List",
        "GET" if is_one => "Get one of",
        "GET" => "Get",
        "DELETE" if is_one => "Delete one of",
        "DELETE" => "Delete",
        "POST" if answers.statuses.contains(&201) => "Add to",
        "POST" if !is_one => "Post to",
        _ if is_one => "Update one of",
        _ => "Update",
    };
    format!("{deed} {things}")
}

/// What the path names, the last first: `/products/{id}/variations` are variations of products.
fn things(path: &str) -> Option<String> {
    let mut runs: Vec<Vec<&str>> = vec![Vec::new()];
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        match runs.last_mut() {
            Some(run) if !segment.starts_with('{') => run.push(segment),
            _ => runs.push(Vec::new()),
        }
    }
    let words = |run: &Vec<&str>| run.join(" ").replace(['-', '_'], " ");
    let named: Vec<String> = runs.iter().rev().filter(|run| !run.is_empty()).map(words).collect();
    (!named.is_empty()).then(|| named.join(" of "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::document::Document;

    #[test]
    fn lines_say_what_is_done_to_what() {
        let made = Answers { statuses: vec![201], ..Answers::default() };
        let several =
            Answers { shape: Shape::Batch(Document::new(&().into())), ..Answers::default() };
        let other = Answers::default();
        let products = "/products/{product_id}/variations";
        for (verb, path, answers, expected) in [
            ("GET", "", &other, "Get the index of routes"),
            ("GET", "/system_status", &other, "Get system status"),
            ("POST", products, &made, "Add to variations of products"),
            (
                "POST",
                "/orders/{id}/actions/send_email",
                &other,
                "Post to actions send email of orders",
            ),
            ("PUT", "/orders/{id}", &other, "Update one of orders"),
            ("POST", "/orders/{id}", &other, "Update one of orders"),
            ("DELETE", "/orders/{id}", &other, "Delete one of orders"),
            ("GET", "/orders/{id}", &other, "Get one of orders"),
            ("PATCH", "/orders/batch", &several, "Change several of orders"),
        ] {
            assert_eq!(of(verb, path, answers, false), expected, "{verb} {path}");
        }
        assert_eq!(of("GET", products, &other, true), "List variations of products");
    }
}
