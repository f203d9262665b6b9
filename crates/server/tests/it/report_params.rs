//! Every parameter of every report, as the routes themselves declare them: each choice is taken,
//! what is no choice is refused, and paging, sorting and ranges do what they say.

use std::sync::Arc;

use analytics::feed::Feed;
use contract::rest::Verb;
use serde_json::{Map, Value};
use site_rows::user::{self, UserRow};
use types::Timestamp;

use crate::facts::Recorded;

const NAMESPACE: &str = "/wc-analytics";
const RANGE: &str = "after=2025-09-01T00:00:00&before=2026-11-14T23:59:59";

struct Shop {
    recorded: Recorded,
    admin: UserRow,
}

impl Shop {
    fn new() -> Self {
        let recorded = Recorded::new();
        let find = |conn: &mut dyn db::Conn| user::find_by_login(conn, "admin");
        let admin = recorded.store().read_blocking(find).unwrap().unwrap();
        Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
        Self { recorded, admin }
    }

    /// The answer, or nothing where it is refused.
    fn ask(&self, path: &str, query: &str) -> Option<Value> {
        let path = format!("{path}?{query}");
        let (site, user) = (Arc::clone(&self.recorded.site), self.admin.clone());
        let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
        let read = move |conn: &mut dyn db::Conn| site.seen_by(conn, user.clone(), &path, now);
        self.recorded.store().read_blocking(read).unwrap()
    }

    /// The reports that can be read, with their parameters.
    fn reports(&self) -> Vec<(String, Map<String, Value>)> {
        let routes = self.recorded.site.table().routes();
        let reports = routes.filter(|route| {
            let path = route.pattern.strip_prefix(NAMESPACE).unwrap_or_default();
            let is_report = path.starts_with("/reports/") || path == "/customers";
            is_report && !path.contains(['(']) && route.endpoint(Verb::Get).is_some()
        });
        let with_args = reports.map(|route| {
            let document = route.description();
            let args = document["endpoints"][0]["args"].as_object().cloned().unwrap_or_default();
            (route.pattern.clone(), args)
        });
        with_args.filter(|(path, _)| !path.contains("/import")).collect()
    }
}

/// The rows of a list, or the intervals of a report over time.
fn rows(body: &Value) -> Option<&Vec<Value>> {
    body.as_array().or_else(|| body["intervals"].as_array())
}

fn base(path: &str) -> String {
    let stats =
        if path.ends_with("performance-indicators") { "&stats=revenue/total_sales" } else { "" };
    format!("{RANGE}{stats}")
}

#[test]
fn every_choice_of_every_parameter_is_taken() {
    let shop = Shop::new();
    let mut tried = 0;
    for (path, args) in shop.reports() {
        for (name, arg) in &args {
            let choices: Vec<String> = match (arg["enum"].as_array(), arg["type"].as_str()) {
                (Some(choices), _) => {
                    choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned)).collect()
                }
                (None, Some("boolean")) => vec![String::from("true"), String::from("false")],
                _ => continue,
            };
            for choice in choices {
                let asked = format!("{name}={choice}");
                let answer = shop.ask(&path, &format!("{}&{asked}", base(&path)));
                assert!(answer.is_some(), "{path}?{asked} is refused");
                tried += 1;
            }
            let wrong = format!("{}&{name}=no-such-thing", base(&path));
            assert_eq!(shop.ask(&path, &wrong), None, "{path} takes any {name}");
        }
    }
    assert!(tried > 300, "{tried} choices");
}

#[test]
fn pages_are_parts_of_the_whole() {
    let shop = Shop::new();
    for (path, args) in shop.reports() {
        let Some(most) = args.get("per_page").and_then(|arg| arg["maximum"].as_i64()) else {
            continue;
        };
        let base = base(&path);
        let whole = shop.ask(&path, &format!("{base}&per_page={most}")).unwrap();
        let Some(whole) = rows(&whole) else { continue };
        let mut parts = Vec::new();
        let size = whole.len().div_ceil(3).max(1);
        for page in 1..=3 {
            let part = shop.ask(&path, &format!("{base}&per_page={size}&page={page}"));
            // A page behind the last may be refused.
            let part = part.as_ref().and_then(rows).cloned().unwrap_or_default();
            assert!(part.len() <= size, "{path}");
            parts.extend(part);
        }
        parts.truncate(whole.len());
        assert_eq!(&parts, whole, "{path}");
        for wrong in ["per_page=-1", "per_page=x", &format!("per_page={}", most + 1), "page=0"] {
            assert_eq!(shop.ask(&path, &format!("{base}&{wrong}")), None, "{path}?{wrong}");
        }
    }
}

#[test]
fn a_range_of_nothing_has_nothing_in_it() {
    let shop = Shop::new();
    for (path, args) in shop.reports() {
        // What may be asked for does not depend on the range.
        if !args.contains_key("after") || path.ends_with("/allowed") {
            continue;
        }
        let stats = base(&path).replace(RANGE, "");
        let query = format!("after=2001-01-01T00:00:00&before=2001-01-02T00:00:00{stats}");
        let body = shop.ask(&path, &query).unwrap_or_else(|| panic!("{path} is refused"));
        let sum = |member: &Value| -> f64 {
            let members = member.as_object().into_iter().flat_map(Map::values);
            members.filter_map(Value::as_f64).map(f64::abs).sum()
        };
        match &body {
            Value::Array(rows) if path.ends_with("indicators") => {
                assert!(rows.iter().all(|row| row["value"] == 0), "{path}: {body}");
            }
            Value::Array(rows) => assert_eq!(rows.len(), 0, "{path}: {body}"),
            _ => assert!(sum(&body["totals"]) == 0.0, "{path}: {body}"),
        }
        for wrong in ["after=soon", "before=2026-13-01T00:00:00"] {
            assert_eq!(shop.ask(&path, &format!("{wrong}{stats}")), None, "{path}?{wrong}");
        }
    }
}
