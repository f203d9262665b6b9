//! What connected stores sold, what is unusual about them, and the rates by which amounts are
//! converted.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use types::{Error, Result};

use super::super::{Column, show};
use super::part;
use crate::args::{Listing, Portfolio, Rates};
use crate::output::Printer;
use crate::remote::Remote;

const RATES_PATH: &str = "/v1/portfolio/rates";
const SUMS: &[Column] = &[
    ("Group", "group"),
    ("Name", "name"),
    ("Currency", "currency"),
    ("Stores", "stores"),
    ("Orders", "orders"),
    ("Gross sales", "grossSales"),
    ("Refunds", "refunds"),
    ("Net sales", "netSales"),
    ("Growth (%)", "growth"),
];
const ALERTS: &[Column] = &[
    ("Store", "store"),
    ("Connection", "connectionId"),
    ("Kind", "kind"),
    ("Message", "message"),
    ("Raised", "raised"),
    ("Ended", "ended"),
];
const RATES: &[Column] =
    &[("Currency", "currency"), ("Into", "into"), ("From", "from"), ("Rate", "rate")];

pub(super) fn show_sums(remote: &Remote, args: &Portfolio, out: &Printer) -> Result<()> {
    let limit = args.limit.to_string();
    let mut query = vec![
        ("from", &*args.from),
        ("to", &*args.to),
        ("groupBy", &*args.group_by),
        ("orderBy", &*args.order_by),
        ("limit", &*limit),
        ("compare", "true"),
    ];
    query.extend(args.currency.as_deref().map(|currency| ("currency", currency)));
    let mut found = remote.get("/v1/portfolio", &query)?;
    if out.is_json() {
        out.record(&found);
        return Ok(());
    }
    let mut list = |name: &str| match found.get_mut(name).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let mut data = list("data");
    for mut total in list("totals") {
        if let Value::Object(members) = &mut total {
            members.insert(String::from("group"), json!("Total"));
        }
        data.push(total);
    }
    show(out, "portfolio", SUMS, data);
    let mut notes = String::new();
    for rate in list("rates") {
        let (from, into) = (part(&rate, "currency"), part(&rate, "into"));
        let (value, day) = (part(&rate, "rate"), part(&rate, "from"));
        let _ = writeln!(notes, "Converted: 1 {from} = {value} {into} from {day}.");
    }
    for left_out in list("leftOut") {
        let count = |name: &str| Printer::cell(left_out.get(name));
        let _ = writeln!(
            notes,
            "Left out, because there is no rate: {} orders of {} stores in {}.",
            count("orders"),
            count("stores"),
            part(&left_out, "currency"),
        );
    }
    if !notes.is_empty() {
        out.result(&Value::Null, notes.trim_end());
    }
    Ok(())
}

pub(super) fn show_alerts(remote: &Remote, listing: &Listing, out: &Printer) -> Result<()> {
    let found = remote.list("/v1/portfolio/alerts", &listing.filters, listing.limit)?;
    show(out, "alerts", ALERTS, found);
    Ok(())
}

/// The rates as they are, and their version.
fn read(remote: &Remote) -> Result<(Vec<Value>, Value)> {
    let mut found = remote.get(RATES_PATH, &[])?;
    let version = found.get("version").cloned().unwrap_or_default();
    match found.get_mut("rates").map(Value::take) {
        Some(Value::Array(rates)) => Ok((rates, version)),
        _ => Err(Error::invalid("the server did not answer with rates")),
    }
}

pub(super) fn rates(remote: &Remote, command: Rates, out: &Printer) -> Result<()> {
    let (mut rates, version) = read(remote)?;
    let is_of = |rate: &Value, (currency, into, from): (&str, &str, &str)| {
        part(rate, "currency") == currency
            && part(rate, "into") == into
            && part(rate, "from") == from
    };
    match command {
        Rates::List => {
            show(out, "rates", RATES, rates);
            return Ok(());
        }
        Rates::Set { currency, into, rate, from } => {
            rates.retain(|one| !is_of(one, (&currency, &into, &from)));
            rates.push(json!({ "currency": currency, "into": into, "rate": rate, "from": from }));
        }
        Rates::Remove { currency, into, from } => {
            let count = rates.len();
            rates.retain(|one| !is_of(one, (&currency, &into, &from)));
            if rates.len() == count {
                return Err(Error::not_found("there is no such rate"));
            }
        }
    }
    let body = Map::from_iter([
        (String::from("rates"), Value::Array(rates)),
        (String::from("expectedVersion"), version),
    ]);
    let mut after = remote.put(RATES_PATH, &Value::Object(body))?;
    let rates = match after.get_mut("rates").map(Value::take) {
        Some(Value::Array(rates)) => rates,
        _ => Vec::new(),
    };
    show(out, "rates", RATES, rates);
    Ok(())
}
