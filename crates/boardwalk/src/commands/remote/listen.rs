//! `boardwalk listen`: events of a server elsewhere arrive at a program on this machine, as they
//! would from a webhook, without an address that the server could reach.
//!
//! An event is sent once, in its turn; what the program answers is shown and changes nothing.

use std::time::{Duration, Instant};

use frame::outbound::Method;
use frame::signing;
use serde_json::{Value, json};
use types::{Clock, Error, Kind, Result, Secret};

use crate::args::Listen;
use crate::output::{self, Printer};
use crate::remote::Remote;

const EVENTS: &str = "/v1/events";
const POLL_EVERY: Duration = Duration::from_secs(1);
/// A server that does not answer is asked less often, but not less often than this.
const PAUSE_MAX: Duration = Duration::from_secs(30);
const PAGE: &str = "100";

pub(super) fn listen(remote: &Remote, args: Listen, out: &Printer) -> Result<()> {
    let (secret, key) = match args.secret {
        None => signing::new_secret()?,
        Some(text) => {
            let key = signing::key_of(&text);
            let key = key.ok_or_else(|| Error::invalid("--secret must start with whsec_"))?;
            (Secret::new(text), key)
        }
    };
    let mut after = match args.after {
        Some(after) => after,
        None => newest(remote)?,
    };
    let (server, target) = (remote.url(), &args.forward_to);
    let object =
        json!({ "event": "listening", "forwardTo": target.as_str(), "secret": secret.expose() });
    let text = format!(
        "Forwarding events of {server} to {target}. Verify signatures with\n{}",
        secret.expose()
    );
    out.result(&object, &text);
    let types = args.events.join(",");
    let keys = [key];
    let mut pause = POLL_EVERY;
    loop {
        let number = after.to_string();
        let mut query = vec![("after", number.as_str()), ("limit", PAGE)];
        if !types.is_empty() {
            query.push(("types", &types));
        }
        let page = match remote.get(EVENTS, &query) {
            Ok(page) => page,
            Err(error) if error.kind() == Kind::Unavailable => {
                output::notes(&format!("{}; trying again", error.report()));
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
                continue;
            }
            Err(error) => return Err(error),
        };
        pause = POLL_EVERY;
        for event in page.get("data").and_then(Value::as_array).into_iter().flatten() {
            forward(remote, &args.forward_to, &keys, event, out)?;
        }
        after = page.get("next").and_then(Value::as_u64).unwrap_or(after);
        if page.get("hasMore") != Some(&Value::Bool(true)) {
            std::thread::sleep(POLL_EVERY);
        }
    }
}

fn forward(
    remote: &Remote,
    target: &url::Url,
    keys: &[Secret<Vec<u8>>],
    event: &Value,
    out: &Printer,
) -> Result<()> {
    let body = event.to_string().into_bytes();
    let part = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let signed = signing::message_headers(keys, part("id"), &body, Clock::System.now())?;
    let json = (String::from("content-type"), String::from("application/json"));
    let headers = std::iter::once(json).chain(signed).collect();
    let began = Instant::now();
    let answer = remote.send(Method::Post, target.clone(), headers, body);
    let millis = began.elapsed().as_millis();
    let (status, said) = match &answer {
        Ok(answer) => (Some(answer.status), answer.status.to_string()),
        Err(error) => (None, error.report()),
    };
    let object = json!({
        "event": "forwarded", "id": part("id"), "type": part("type"),
        "sequence": event.get("sequence"), "status": status,
    });
    let (time, kind, id) = (part("timestamp"), part("type"), part("id"));
    out.result(&object, &format!("{time} {kind} {id}: {said} ({millis} ms)"));
    Ok(())
}

/// The number of the newest event. Numbers have no gaps, so it is found by halves.
fn newest(remote: &Remote) -> Result<u64> {
    let is_any_after = |number: u64| {
        let page = remote.get(EVENTS, &[("after", &number.to_string()), ("limit", "1")])?;
        Ok::<_, Error>(page.get("data").and_then(Value::as_array).is_some_and(|d| !d.is_empty()))
    };
    let mut above = 1;
    while is_any_after(above)? {
        above *= 2;
    }
    let mut below = 0;
    // Nothing comes after `above`; something may come after `below`.
    while below < above {
        let middle = below + (above - below) / 2;
        if is_any_after(middle)? {
            below = middle + 1;
        } else {
            above = middle;
        }
    }
    Ok(above)
}
