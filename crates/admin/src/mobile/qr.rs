//! Signing in on a phone by a code on the screen.
//!
//! The signed-in user asks for a token, which the screen shows as a code. The phone reads it and
//! tells what device it is ([`scan`]); it shows a number, and the screen offers several. Choosing
//! the phone's number ([`approve`]) lets the phone exchange its grant for an application password,
//! once. **Tokens, sessions and grants are random, and only their hashes are stored.**

use std::time::Duration;

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, clean};
use serde_json::{Value, json};
use site::action::{anyone, memory, read, write};
use site::managers::may_view;
use site::users::application_passwords::create_password;
use site::{Action, Call, Names};
use store::application_password as passwords;
use store::login_token::{self, LoginTokenRow};
use types::{Error, Timestamp};
use vault::Vault;

const KIND: &str = "qr_login";
const PENDING: &str = "pending";
const SCANNED: &str = "scanned";
const APPROVED: &str = "approved";
const REJECTED: &str = "rejected";
const EXPIRED: &str = "expired";
const CONSUMED: &str = "consumed";

const HASHING: &str = "qr login";
const RANDOM_BYTES: usize = 24;
/// For how long the code on the screen can be read.
const TOKEN_LIFE: Duration = Duration::from_mins(5);
/// For how long the user may look for the number, and the phone may come for its password.
const MATCH_LIFE: Duration = Duration::from_secs(90);
/// Codes for one user within an hour.
const PER_HOUR_MAX: i64 = 30;
const HOUR_US: i64 = 60 * 60 * 1_000_000;
/// Numbers that the screen offers.
const CHOICES: usize = 3;
const DEVICE_TEXT_CHARS_MAX: usize = 60;
const DEVICE_FIELDS: [&str; 5] = ["os", "os_version", "model", "brand", "app_version"];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/mobile-app/qr-login-{path}"));
    // The reference describes none of these, and its index is compared word by word.
    let text = Schema::text;
    let token = || Args::new().arg("token", text().required());
    let device = Schema::object(DEVICE_FIELDS.map(|name| (name, text()))).required();
    let matches = Schema::boolean().required();
    vec![
        at("token").on(CREATE, Args::new(), write(may_view, make)),
        at("exchange").on(CREATE, token().arg("exchange_grant", text()), write(anyone, exchange)),
        at("status").on(CREATE, token(), read(may_view, status)),
        at("revoke").on(
            DELETE,
            Args::new().arg("uuid", text().required()),
            write(may_view, revoke),
        ),
        at("scan").on(
            CREATE,
            token().arg("device", device).arg("supports_number_matching", matches),
            write(anyone, scan),
        ),
        at("approve").on(
            CREATE,
            token().arg("choice", text().required()),
            write(may_view, approve),
        ),
        at("session-status").on(
            READ,
            Args::new().arg("session_id", text().required()).arg("token_hash", text()),
            read(anyone, session_status),
        ),
        at("availability").on(READ, Args::new(), memory(may_view, |call| Ok(availability(call)))),
    ]
}

fn random() -> Result<String, Error> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

fn hash(vault: &Vault, what: &str, text: &str) -> Vec<u8> {
    vault.site_hash(HASHING, text, what).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// Where a token stands at this moment.
fn state_at(row: &LoginTokenRow, now: Timestamp) -> &str {
    let is_over = row.expires <= now && matches!(&*row.state, PENDING | SCANNED | APPROVED);
    if is_over { EXPIRED } else { &row.state }
}

fn detail(row: &LoginTokenRow) -> Value {
    serde_json::from_str(&row.detail).unwrap_or_default()
}

fn unknown() -> Stop {
    let message = "There is no such code; make a new one and read it again.";
    Refusal::new(404, "woocommerce_rest_qr_login_unknown", message).into()
}

fn out_of_turn(state: &str) -> Stop {
    let message = format!("The code is {state}; make a new one and read it again.");
    Refusal::new(409, "woocommerce_rest_qr_login_state", message).with("state", state).into()
}

/// The token of the call. Somebody else's is as good as none to a signed-in user.
fn token_of(call: &mut Call<'_>, is_own: bool) -> Result<LoginTokenRow, Stop> {
    let token = call.params.text("token").unwrap_or_default().to_owned();
    let (site, user_id) = (call.site, call.user_id());
    let found = login_token::get(call.conn()?, &hash(site.vault(), "token", &token))?;
    let found = found.filter(|row| row.kind == KIND && (!is_own || row.user_id == user_id));
    found.ok_or_else(unknown)
}

fn make(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now, user_id) = (call.site, call.now(), call.user_id());
    let since = Timestamp::from_micros(now.as_micros().saturating_sub(HOUR_US));
    if login_token::count_since(call.conn()?, user_id, KIND, since)? >= PER_HOUR_MAX {
        let message = "Too many codes were made within the hour; wait a while.";
        return Err(Refusal::new(429, "woocommerce_rest_qr_login_too_many", message).into());
    }
    let token = random()?;
    let row = LoginTokenRow {
        token_hash: hash(site.vault(), "token", &token),
        kind: KIND.to_owned(),
        state: PENDING.to_owned(),
        user_id,
        session_hash: None,
        detail: String::from("{}"),
        created: now,
        expires: now.plus(TOKEN_LIFE),
    };
    login_token::insert(call.conn()?, &row)?;
    let home = &call.visit.home;
    Ok(Reply::new(json!({
        "token": token,
        "qr_data": format!("boardwalk://qr-login?site={home}&token={token}"),
        "site_url": home,
        "state": PENDING,
        "expires_in": TOKEN_LIFE.as_secs(),
    })))
}

/// The phone has read the code, and is given a number to show and a session to ask by.
fn scan(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now) = (call.site, call.now());
    let mut row = token_of(call, false)?;
    if state_at(&row, now) != PENDING {
        return Err(out_of_turn(state_at(&row, now)));
    }
    if !call.params.flag("supports_number_matching") {
        let message = "Update the app: it must show a number that you compare.";
        return Err(Refusal::new(400, "woocommerce_rest_qr_login_old_app", message).into());
    }
    let session = random()?;
    let numbers @ [number, ..] = numbers()?;
    let mut choices = numbers;
    choices.sort_unstable();
    row.state = String::from(SCANNED);
    row.session_hash = Some(hash(site.vault(), "session", &session));
    row.expires = now.plus(MATCH_LIFE);
    let device = device_of(call);
    row.detail = json!({ "device": device, "number": number, "choices": choices }).to_string();
    if !login_token::advance(call.conn()?, &row, PENDING)? {
        return Err(out_of_turn(SCANNED));
    }
    Ok(Reply::new(json!({
        "session_id": session,
        "number": number.to_string(),
        "state": SCANNED,
        "expires_in": MATCH_LIFE.as_secs(),
    })))
}

/// Different numbers of two digits, the phone's own first: each lies in a part of the circle of
/// all of them that the others stay out of.
fn numbers() -> Result<[u8; CHOICES], Error> {
    const SPAN: u8 = 90;
    let mut bytes = [0_u8; CHOICES];
    vault::fill_random(&mut bytes)?;
    let [first, second, third] = bytes;
    let turned = |by: u8| 10 + (first % SPAN + by) % SPAN;
    Ok([turned(0), turned(1 + second % 44), turned(45 + third % 45)])
}

fn device_of(call: &Call<'_>) -> Value {
    let given = call.params.get("device");
    let text = |name: &str| {
        let text = given.and_then(|device| device.get(name)?.as_str()).unwrap_or_default();
        clean::text_field(text).chars().take(DEVICE_TEXT_CHARS_MAX).collect::<String>()
    };
    DEVICE_FIELDS.into_iter().map(|name| (name.to_owned(), json!(text(name)))).collect()
}

/// What the screen shows meanwhile.
fn status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let now = call.now();
    let row = token_of(call, true)?;
    let state = state_at(&row, now).to_owned();
    let detail = detail(&row);
    let choices = detail.get("choices").filter(|_| state == SCANNED);
    let texts = choices.and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<String> = texts.map(Value::to_string).collect();
    Ok(Reply::new(json!({
        "state": state,
        "device": detail.get("device"),
        "choices": texts,
        "uuid": detail.get("uuid"),
        "expires_in": row.expires.since(now).as_secs(),
    })))
}

/// The user has compared the numbers. A wrong one ends it: somebody else's phone has read the code.
fn approve(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now) = (call.site, call.now());
    let mut row = token_of(call, true)?;
    if state_at(&row, now) != SCANNED {
        return Err(out_of_turn(state_at(&row, now)));
    }
    let mut kept = detail(&row);
    let number = kept.get("number").map(Value::to_string).unwrap_or_default();
    let is_right = call.params.text("choice") == Some(number.as_str());
    row.state = String::from(if is_right { APPROVED } else { REJECTED });
    row.expires = now.plus(MATCH_LIFE);
    if let (true, Value::Object(members)) = (is_right, &mut kept) {
        // The grant follows from the session, which only the phone knows.
        let session = row.session_hash.as_deref().map(hex).unwrap_or_default();
        members.insert(String::from("grant"), json!(hex(&hash(site.vault(), "grant", &session))));
    }
    row.detail = kept.to_string();
    if !login_token::advance(call.conn()?, &row, SCANNED)? {
        return Err(out_of_turn(REJECTED));
    }
    Ok(Reply::new(json!({ "state": row.state })))
}

/// What the phone asks for meanwhile; it is given its grant once it is let in.
fn session_status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now) = (call.site, call.now());
    let session = call.params.text("session_id").unwrap_or_default().to_owned();
    let session_hash = hash(site.vault(), "session", &session);
    let found = login_token::by_session(call.conn()?, &session_hash)?;
    let row = found.filter(|row| row.kind == KIND).ok_or_else(unknown)?;
    let state = state_at(&row, now).to_owned();
    let detail = detail(&row);
    let grant = detail.get("grant").filter(|_| state == APPROVED);
    Ok(Reply::new(json!({ "state": state, "exchange_grant": grant })))
}

/// Gives the phone its application password, once.
fn exchange(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now) = (call.site, call.now());
    if !call.visit.application_passwords {
        let message = "Application passwords need a connection over https.";
        return Err(Refusal::new(409, "application_passwords_disabled", message).into());
    }
    let mut row = token_of(call, false)?;
    if state_at(&row, now) != APPROVED {
        return Err(out_of_turn(state_at(&row, now)));
    }
    let mut kept = detail(&row);
    let given = call.params.text("exchange_grant").unwrap_or_default();
    if given.is_empty() || kept.get("grant").and_then(Value::as_str) != Some(given) {
        let message = "This phone was not let in; read a new code.";
        return Err(Refusal::new(403, "woocommerce_rest_qr_login_grant", message).into());
    }
    let Some(user) = store::user::get(call.conn()?, row.user_id)? else { return Err(unknown()) };
    let model = kept.pointer("/device/model").and_then(Value::as_str).unwrap_or_default();
    let name = format!("Mobile app {model}").trim().to_owned();
    let (password, secret) =
        create_password(call.conn()?, site.vault(), user.user_id, (&name, ""), now)?;
    if let Value::Object(members) = &mut kept {
        members.shift_remove("grant");
        members.insert(String::from("uuid"), json!(password.uuid));
    }
    row.state = String::from(CONSUMED);
    row.detail = kept.to_string();
    if !login_token::advance(call.conn()?, &row, APPROVED)? {
        return Err(out_of_turn(CONSUMED));
    }
    Ok(Reply::new(json!({
        "user_login": user.login,
        "password": secret.expose(),
        "uuid": password.uuid,
        "site_url": call.visit.home,
    })))
}

/// Takes a phone's password away again.
fn revoke(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let uuid = call.params.text("uuid").unwrap_or_default().to_owned();
    let user_id = call.user_id();
    if !passwords::delete(call.conn()?, user_id, &uuid)? {
        let message = "You have no such application password.";
        let code = "rest_application_password_not_found";
        return Err(Refusal::new(404, code, message).into());
    }
    Ok(Reply::new(json!({ "revoked": true, "uuid": uuid })))
}

fn availability(call: &Call<'_>) -> Reply {
    Reply::new(json!({ "available": call.visit.application_passwords }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits_and_differ() {
        for _ in 0..1_000 {
            let [a, b, c] = numbers().unwrap();
            assert!(a != b && b != c && a != c, "{a} {b} {c}");
            assert!([a, b, c].iter().all(|number| (10..100).contains(number)), "{a} {b} {c}");
        }
    }
}
