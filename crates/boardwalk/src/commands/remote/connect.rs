//! `boardwalk connect`: stores that a server copies and follows.

mod portfolio;

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::{Map, Value, json};
use types::{Error, Result};

use super::{Column, show};
use crate::args::{Connect, ConnectUpdate, ConnectWoocommerce, StoreKeyArgs, StoreOwnerArgs};
use crate::output::Printer;
use crate::progress::{Bar, Unit};
use crate::remote::Remote;

const CONNECTIONS: &[Column] = &[
    ("Connection", "connectionId"),
    ("Name", "name"),
    ("URL", "url"),
    ("Status", "status"),
    ("Merchant", "merchantId"),
    ("Last success", "lastSuccess"),
    ("Error", "errorCode"),
];
/// How often the server is asked how far it is.
const LOOK: Duration = Duration::from_millis(500);

pub(super) fn connect(remote: &Remote, command: Connect, out: &Printer) -> Result<()> {
    match command {
        Connect::Woocommerce(args) => woocommerce(remote, args, out)?,
        Connect::List(listing) => {
            let found = remote.list("/v1/connections", &listing.filters, listing.limit)?;
            show(out, "connections", CONNECTIONS, found);
        }
        Connect::Show { connection_id } => {
            out.record(&remote.get(&format!("/v1/connections/{connection_id}"), &[])?);
        }
        Connect::Update(args) => update(remote, args, out)?,
        Connect::Pause { connection_id } => {
            change(remote, &connection_id, &json!({ "status": "paused" }), out)?;
        }
        Connect::Resume { connection_id } => {
            change(remote, &connection_id, &json!({ "status": "active" }), out)?;
        }
        Connect::ReplaceKey { connection_id } => {
            let path = format!("/v1/connections/{connection_id}");
            let changed = remote.patch(&path, &json!({ "replaceReportsKey": true }))?;
            out.result(&changed, &key_of(remote, &changed));
        }
        Connect::Remove { connection_id } => {
            let removed = remote.delete(&format!("/v1/connections/{connection_id}"))?;
            out.result(&removed, &format!("Disconnected {connection_id}."));
        }
        Connect::Portfolio(args) => portfolio::show_sums(remote, &args, out)?,
        Connect::Alerts(listing) => portfolio::show_alerts(remote, &listing, out)?,
        Connect::Rates(command) => portfolio::rates(remote, command, out)?,
    }
    Ok(())
}

fn woocommerce(remote: &Remote, args: ConnectWoocommerce, out: &Printer) -> Result<()> {
    let mut body = Map::from_iter([(String::from("url"), json!(args.url.as_str()))]);
    put_given(&mut body, args.key, args.owner)?;
    let has_key = body.contains_key("consumerKey");
    // Nobody answers without a terminal, and nobody waits for what an owner grants later.
    let asks = !args.yes && !args.no_wait && has_key;
    let asks = asks && io::stdin().is_terminal() && io::stderr().is_terminal();
    body.insert(String::from("review"), json!(asks));
    let made = remote.post("/v1/connections", &Value::Object(body))?;
    let id = part(&made, "connectionId");
    let key = made.get("reportsKey").cloned().unwrap_or_default();
    let told = format!("Created {id}. {}", key_of(remote, &made));
    if let Some(page) = made.get("authorizeUrl").and_then(Value::as_str) {
        let text =
            format!("{told}\nThe store is copied once its owner has granted access at\n{page}");
        out.result(&made, &text);
        return Ok(());
    }
    if args.no_wait {
        out.result(&made, &told);
        return Ok(());
    }
    // Whoever does not wait for the end has the key nevertheless.
    crate::output::notes(&told);
    if asks && !is_agreed(remote, id)? {
        let removed = remote.delete(&format!("/v1/connections/{id}"))?;
        out.result(&removed, "The store was not connected.");
        return Ok(());
    }
    let mut state = wait(remote, id, "live")?;
    if let Value::Object(members) = &mut state {
        members.insert(String::from("reportsKey"), key);
    }
    let copied = state.get("counts").and_then(|counts| counts.get("orders"));
    let copied = copied.and_then(Value::as_i64).unwrap_or_default();
    let warnings = check_lines(&state, |check| part(check, "result") == "warning");
    let lines = [format!("Copied {copied} orders.")].into_iter().chain(warnings);
    out.result(&state, &lines.collect::<Vec<String>>().join("\n"));
    Ok(())
}

/// Puts the key to a store and its owner into a request.
fn put_given(body: &mut Map<String, Value>, key: StoreKeyArgs, of: StoreOwnerArgs) -> Result<()> {
    if let (Some(key), Some(secret)) = (key.consumer_key, key.consumer_secret) {
        body.insert(String::from("consumerKey"), json!(key));
        body.insert(String::from("consumerSecret"), json!(given_or_read(secret)?));
    }
    for (name, given) in [("merchantId", of.merchant), ("storeId", of.store)] {
        body.extend(given.map(|given| (name.to_owned(), json!(given))));
    }
    Ok(())
}

fn update(remote: &Remote, args: ConnectUpdate, out: &Printer) -> Result<()> {
    let mut body = Map::new();
    body.extend(args.url.map(|url| (String::from("url"), json!(url.as_str()))));
    put_given(&mut body, args.key, args.owner)?;
    if body.is_empty() {
        return Err(Error::invalid("say what to change: --url, --consumer-key or --merchant"));
    }
    change(remote, &args.connection_id, &Value::Object(body), out)
}

fn change(remote: &Remote, id: &str, body: &Value, out: &Printer) -> Result<()> {
    let changed = remote.patch(&format!("/v1/connections/{id}"), body)?;
    out.result(&changed, &format!("{id} is {}.", part(&changed, "status")));
    Ok(())
}

/// Tells the key that an answer shows.
fn key_of(remote: &Remote, shown: &Value) -> String {
    let key = shown.get("reportsKey").unwrap_or(&Value::Null);
    format!(
        "Its reports are at {}{} with the key\n{}\n{}\nSave it now: it is not shown again.",
        remote.url().as_str().trim_end_matches('/'),
        part(shown, "restPath"),
        part(key, "consumerKey"),
        part(key, "consumerSecret"),
    )
}

/// Shows what the store is like, and asks whether to copy it.
fn is_agreed(remote: &Remote, id: &str) -> Result<bool> {
    let state = wait(remote, id, "checked")?;
    let mut lines = check_lines(&state, |_| true);
    lines.push(String::from(
        "Boardwalk reads orders, products, customers, coupons, taxes and settings, and adds \
         webhooks if the key allows it.",
    ));
    lines.push(String::from("Copy the store? [y/N] "));
    let text = lines.join("\n");
    let failed = |error| Error::invalid("cannot ask on this terminal; use --yes").because(error);
    io::stderr().write_all(text.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(failed)?;
    let agrees = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if agrees {
        remote.patch(&format!("/v1/connections/{id}"), &json!({ "status": "active" }))?;
    }
    Ok(agrees)
}

/// What the checks found, a line each.
fn check_lines(state: &Value, is_shown: impl Fn(&Value) -> bool) -> Vec<String> {
    let line = |check: &Value| {
        let mark = if part(check, "result") == "passed" { "ok" } else { "warning" };
        format!("{mark:>8}  {}", part(check, "message"))
    };
    let checks = state.get("checks").and_then(Value::as_array).map(Vec::as_slice);
    checks.unwrap_or_default().iter().filter(|check| is_shown(check)).map(line).collect()
}

/// Shows how far the copy is until the connection is in a state. An interrupted wait interrupts
/// nothing else.
fn wait(remote: &Remote, id: &str, wanted: &str) -> Result<Value> {
    let mut bar = Bar::new();
    loop {
        let state = remote.get(&format!("/v1/connections/{id}"), &[])?;
        match part(&state, "status") {
            status if status == wanted => return Ok(state),
            "failing" => {
                return Err(Error::conflict(format!(
                    "the store cannot be copied: {} It is tried again; change it with `connect \
                     update {id}`, or give it up with `connect remove {id}`",
                    part(&state, "errorMessage")
                )));
            }
            _ => {}
        }
        let count = |name: &str| {
            let count = state.get("counts").and_then(|counts| counts.get(name));
            count.and_then(Value::as_u64).unwrap_or_default()
        };
        let (done, all) = (count("orders"), count("ordersTotal"));
        let (products, of) = (count("products"), count("productsTotal"));
        if done > 0 {
            bar.show("Orders", Unit::Records, done, all.max(done));
        } else if of > 0 {
            bar.show("Products", Unit::Records, products, of.max(products));
        }
        std::thread::sleep(LOOK);
    }
}

fn part<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The secret as it was given, or from standard input.
fn given_or_read(given: String) -> Result<String> {
    if given != "-" {
        return Ok(given);
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| {
        Error::invalid("cannot read the secret from standard input").because(error)
    })?;
    Ok(line.trim().to_owned())
}
