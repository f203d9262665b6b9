//! What the reference leaves open in its reports, and a comparison must, too: the order of rows
//! that tie under the requested order, and fields that it fills from an arbitrary row. The list is
//! in `conformance/README.md`.

use std::collections::BTreeMap;

use serde_json::Value;

/// Fields of an arbitrary row: route, what the place of their object has in it, and their names.
const ARBITRARY: [(&str, &str, &[&str]); 2] = [
    ("/reports/orders/stats", ".intervals[", &["coupons_count", "segments"]),
    ("/reports/revenue/stats", ".intervals[", &["coupons_count", "segments"]),
];
/// Lists whose default order is by a date that no row shows: that of an arbitrary sale.
const BY_ARBITRARY_DATE: [&str; 2] = ["/reports/products", "/reports/variations"];
/// Members of rows that orders are named after otherwise.
const MEMBERS: [(&str, &str); 3] =
    [("rate", "/tax_rate"), ("sku", "/extended_info/sku"), ("date", "/date")];

/// What the answer to one request leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Undefined {
    arbitrary: Option<(&'static str, &'static [&'static str])>,
    order: Order,
}

/// What the rows of a report are sorted by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Order {
    /// Nothing that could tie.
    #[default]
    Total,
    /// A member of the row; rows with the same may come in any order.
    By(String),
    /// Something that rows do not show: they may come in any order, and others may be on the page.
    Arbitrary,
}

/// Of a request whose answer is defined to the last byte.
#[cfg(test)]
pub(super) static NOTHING_OPEN: Undefined = Undefined { arbitrary: None, order: Order::Total };

impl Undefined {
    /// Of a request for this path, with this query.
    pub(super) fn of(path: &str, query: &str) -> Self {
        let route = path.split_once("/wc-analytics").map_or("", |(_, route)| route);
        let params: BTreeMap<String, String> =
            form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let by = params.get("orderby").map_or("date", String::as_str);
        let is_over_time = route.ends_with("/stats");
        let order = match by {
            _ if !route.starts_with("/reports/") => Order::Total,
            "date" if BY_ARBITRARY_DATE.contains(&route) => Order::Arbitrary,
            "date" if is_over_time => Order::Total,
            by if is_over_time => Order::By(format!("/subtotals/{by}")),
            by => {
                let member = MEMBERS.iter().find(|(name, _)| *name == by);
                Order::By(member.map_or_else(|| format!("/{by}"), |(_, at)| (*at).to_owned()))
            }
        };
        // What a row does not show cannot be judged.
        let shown = params.get("_fields").map(|fields| fields.split(',').collect::<Vec<&str>>());
        let order = match (order, shown) {
            (Order::By(at), Some(shown)) if !shown.contains(&at.trim_start_matches('/')) => {
                Order::Arbitrary
            }
            (order, _) => order,
        };
        let of_route = ARBITRARY.iter().find(|(own, _, _)| *own == route);
        Self { arbitrary: of_route.map(|(_, place, names)| (*place, *names)), order }
    }

    /// Whether the member of the object at this place is of an arbitrary row.
    pub(super) fn is_arbitrary(&self, place: &str, name: &str) -> bool {
        let Some((within, names)) = self.arbitrary else { return false };
        place.contains(within) && names.contains(&name)
    }

    /// Whether the rows that came are the recorded ones but for ties: the same values in the same
    /// order, and other rows only where a tie reaches beyond the page.
    pub(super) fn is_tied(&self, want: &[Value], got: &[Value], others: &[&Value]) -> bool {
        let pointer = match &self.order {
            Order::Total => return false,
            Order::Arbitrary => return true,
            Order::By(pointer) => pointer,
        };
        let value = |row: &Value| row.pointer(pointer).cloned();
        let values = |rows: &[Value]| rows.iter().map(value).collect::<Option<Vec<Value>>>();
        let (Some(wanted), Some(came)) = (values(want), values(got)) else { return false };
        let edges = [wanted.first(), wanted.last()];
        let is_at_edge = |row: &&Value| {
            let own = value(row);
            edges.iter().any(|edge| edge.is_some_and(|edge| same(Some(edge), own.as_ref())))
        };
        let pairs = wanted.iter().zip(&came);
        wanted.len() == came.len()
            && pairs.into_iter().all(|(one, other)| same(Some(one), Some(other)))
            && others.iter().all(is_at_edge)
    }
}

/// Sums of fractions may differ in their last digits.
fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one.and_then(Value::as_f64), other.and_then(Value::as_f64)) {
        (Some(one), Some(other)) => (one - other).abs() < super::NUMBER_TOLERANCE,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ties_are_rows_of_one_value() {
        let open = Undefined::of("/wp-json/wc-analytics/reports/orders", "orderby=net_total");
        let row = |id: i64, net: i64| json!({ "order_id": id, "net_total": net });
        let want = [row(1, 9), row(2, 5), row(3, 5)];
        assert!(open.is_tied(&want, &[row(1, 9), row(3, 5), row(2, 5)], &[]));
        assert!(!open.is_tied(&want, &[row(2, 5), row(1, 9), row(3, 5)], &[]));
        let (lost, new) = (row(3, 5), row(4, 5));
        assert!(open.is_tied(&want, &[row(1, 9), row(2, 5), row(4, 5)], &[&lost, &new]));
        let inside = row(5, 7);
        assert!(!open.is_tied(&want, &[row(1, 9), row(2, 5), row(4, 5)], &[&inside]));
        let total = Undefined::of("/wp-json/wc-analytics/reports/orders/stats", "");
        assert!(!total.is_tied(&want, &want, &[]), "dates of intervals do not tie");
    }

    #[test]
    fn arbitrary_fields_are_those_of_intervals() {
        let open = Undefined::of("/wp-json/wc-analytics/reports/orders/stats", "interval=week");
        assert!(open.is_arbitrary("body.intervals[3].subtotals", "coupons_count"));
        assert!(!open.is_arbitrary("body.intervals[3].subtotals", "coupons"));
        assert!(!open.is_arbitrary("body.totals", "coupons_count"));
        let goods = Undefined::of("/wp-json/wc-analytics/reports/products/stats", "");
        assert!(!goods.is_arbitrary("body.intervals[3].subtotals", "segments"));
    }
}
