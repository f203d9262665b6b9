//! Signing in on a phone by a code on the screen.
//!
//! The signed-in user asks for a token, which the screen shows as a code. The phone reads it and
//! tells what device it is ([`scan`]); it shows a number, and the screen offers several. Choosing
//! the phone's number ([`approve`]) lets the phone exchange its grant for an application password,
//! once. **Tokens, sessions and grants are random, and only their hashes are stored**; all of it
//! needs a connection that nobody listens to.

mod answers;

use std::time::Duration;

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, clean};
use frame::action::{anyone, memory, read, write};
use frame::auth::application_password::create_password;
use frame::managers::may_view;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use site_rows::application_password as passwords;
use site_rows::login_token::{self, LoginTokenRow};
use types::{Error, Timestamp};
use vault::Vault;

use crate::package::hex_sha256;

const KIND: &str = "qr_login";
const PENDING: &str = "pending";
const SCANNED: &str = "scanned";
const APPROVED: &str = "approved";
const REJECTED: &str = "rejected";
const EXPIRED: &str = "expired";
const CONSUMED: &str = "consumed";
/// The status for an app that is too old.
const UPDATE_REQUIRED: u16 = 426;

const HASHING: &str = "qr login";
const RANDOM_BYTES: usize = 24;
const SESSION_BYTES: usize = 16;
/// For how long the code on the screen can be read.
const TOKEN_LIFE: Duration = Duration::from_mins(5);
/// For how long the user may look for the number, and the phone may come for its password.
const MATCH_LIFE: Duration = Duration::from_secs(90);
/// Codes for one user within an hour.
const PER_HOUR_MAX: i64 = 30;
const HOUR_US: i64 = 60 * 60 * 1_000_000;
const SECOND_US: i64 = 1_000_000;
/// Numbers that the screen offers.
const CHOICES: usize = 3;
const DEVICE_TEXT_CHARS_MAX: usize = 64;
const DEVICE_FIELDS: [&str; 5] = ["os", "os_version", "model", "brand", "app_version"];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/mobile-app/qr-login-{path}"));
    // The reference describes none of these, and its index is compared word by word.
    let text = Schema::text;
    let token = || Args::new().arg("token", text().required());
    let device = Schema::object(DEVICE_FIELDS.map(|name| (name, text()))).required();
    let matches = Schema::boolean().required();
    vec![
        at("token").on(CREATE, Args::new(), write(may_issue, make)).shows(answers::token()),
        at("exchange")
            .on(CREATE, token().arg("exchange_grant", text()), write(anyone, exchange))
            .refuses_with(&[412])
            .shows(answers::password()),
        at("status").on(CREATE, token(), read(may_view, status)).shows(answers::status()),
        at("revoke")
            .on(DELETE, Args::new().arg("uuid", text().required()), write(may_view, revoke))
            .shows(answers::revoked()),
        at("scan")
            .on(
                CREATE,
                token().arg("device", device).arg("supports_number_matching", matches),
                write(anyone, scan),
            )
            .refuses_with(&[UPDATE_REQUIRED])
            .shows(answers::scanned()),
        at("approve")
            .on(CREATE, token().arg("choice", text().required()), write(may_issue, approve))
            .refuses_with(&[410])
            .shows(answers::approved()),
        at("session-status")
            .on(
                READ,
                Args::new().arg("session_id", text().required()).arg("token_hash", text()),
                read(anyone, session_status),
            )
            .shows(answers::session()),
        at("availability")
            .on(READ, Args::new(), memory(may_view, |call| Ok(availability(call))))
            .shows(answers::availability()),
    ]
}

/// What begins here ends with an application password.
fn may_issue(call: &mut Call<'_>) -> Result<(), Stop> {
    may_view(call)?;
    call.may_issue_credentials()
}

fn random<const BYTES: usize>() -> Result<String, Error> {
    let mut bytes = [0_u8; BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

fn hash(vault: &Vault, what: &str, text: &str) -> Vec<u8> {
    vault.site_hash(HASHING, text, what).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

fn seconds(time: Timestamp) -> i64 {
    time.as_micros() / SECOND_US
}

/// Where a token stands at this moment.
fn state_at(row: &LoginTokenRow, now: Timestamp) -> &str {
    let is_over = row.expires <= now && matches!(&*row.state, PENDING | SCANNED | APPROVED);
    if is_over { EXPIRED } else { &row.state }
}

fn detail(row: &LoginTokenRow) -> Map<String, Value> {
    serde_json::from_str(&row.detail).unwrap_or_default()
}

fn refuse(status: u16, code: &'static str, message: &'static str) -> Stop {
    Refusal::new(status, code, message).into()
}

fn invalid_token() -> Stop {
    refuse(401, "invalid_token", "This code is invalid or has expired; create a new one.")
}

/// Neither codes nor passwords go over a connection that others read.
fn need_https(call: &Call<'_>) -> Result<(), Stop> {
    if call.visit.secure {
        return Ok(());
    }
    Err(refuse(403, "ssl_required", "Sign-in codes require HTTPS; open the site with https://."))
}

/// The site's address for the phone, which is refused without https.
fn safe_address(call: &Call<'_>) -> String {
    let home = &call.visit.home;
    home.strip_prefix("http://").map_or_else(|| home.clone(), |rest| format!("https://{rest}"))
}

/// The token of the call; somebody else's is as good as none to a signed-in user.
fn token_of(call: &mut Call<'_>, is_own: bool) -> Result<Option<LoginTokenRow>, Stop> {
    let token = call.params.text("token").unwrap_or_default().to_owned();
    let (site, user_id) = (call.site, call.user_id());
    let found = login_token::get(call.conn()?, &hash(site.vault(), "token", &token))?;
    Ok(found.filter(|row| row.kind == KIND && (!is_own || row.user_id == user_id)))
}

fn make(call: &mut Call<'_>) -> Result<Reply, Stop> {
    need_https(call)?;
    let (site, now, user_id) = (call.site, call.now(), call.user_id());
    let since = Timestamp::from_micros(now.as_micros().saturating_sub(HOUR_US));
    if login_token::count_since(call.conn()?, user_id, KIND, since)? >= PER_HOUR_MAX {
        let message = "Too many codes were created in the past hour; try again later.";
        return Err(refuse(429, "rate_limit_exceeded", message));
    }
    let token = random::<RANDOM_BYTES>()?;
    let row = LoginTokenRow {
        token_hash: hash(site.vault(), "token", &token),
        kind: KIND.to_owned(),
        state: PENDING.to_owned(),
        user_id,
        session_hash: None,
        // By this the phone shows that it knows the token whenever it asks.
        detail: json!({ "digest": hex_sha256(token.as_bytes()) }).to_string(),
        created: now,
        expires: now.plus(TOKEN_LIFE),
    };
    login_token::insert(call.conn()?, &row)?;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("token", &token)
        .append_pair("siteUrl", &safe_address(call))
        .finish();
    Ok(Reply::new(json!({
        // The scheme that the reference's own app opens.
        "qr_url": format!("woocommerce://qr-login?{query}"),
        "expires_at": seconds(row.expires),
        "ttl": TOKEN_LIFE.as_secs(),
    })))
}

/// The phone has read the code, and is given a number to show and a session to ask by.
fn scan(call: &mut Call<'_>) -> Result<Reply, Stop> {
    need_https(call)?;
    let (site, now) = (call.site, call.now());
    if !call.params.flag("supports_number_matching") {
        let message = "Update the app: this version cannot confirm the number shown on the screen.";
        return Err(refuse(UPDATE_REQUIRED, "mobile_app_update_required", message));
    }
    let found = call.look_up_secret(|call| token_of(call, false))?;
    let mut row = found.ok_or_else(invalid_token)?;
    let device = device_of(call);
    if !device.contains_key("model") && !device.contains_key("os") {
        return Err(refuse(400, "invalid_device", "Describe the device: model or os is required."));
    }
    let scanned = || {
        let message = "This code was already scanned; create a new one.";
        refuse(409, "qr_login_already_scanned", message)
    };
    match state_at(&row, now) {
        PENDING => {}
        EXPIRED => return Err(invalid_token()),
        _ => return Err(scanned()),
    }
    let session = random::<SESSION_BYTES>()?;
    let mut choices = numbers()?;
    let [number, ..] = choices.clone();
    choices.sort_unstable();
    let until = now.plus(MATCH_LIFE).min(row.expires);
    let mut kept = detail(&row);
    kept.insert(String::from("device"), Value::Object(device));
    kept.insert(String::from("number"), json!(number));
    kept.insert(String::from("choices"), json!(choices));
    row.state = String::from(SCANNED);
    row.session_hash = Some(hash(site.vault(), "session", &session));
    row.expires = until;
    row.detail = Value::Object(kept).to_string();
    if !login_token::advance(call.conn()?, &row, PENDING)? {
        return Err(scanned());
    }
    Ok(Reply::new(json!({
        "session_id": session,
        "real_number": number,
        "expires_in": until.since(now).as_secs(),
    })))
}

/// Different numbers of three digits, the phone's own first. They lie a hundred apart on the circle
/// of all of them, so that nobody takes one for another.
fn numbers() -> Result<[String; CHOICES], Error> {
    const ALL: u16 = 1_000;
    let mut bytes = [[0_u8; 2]; CHOICES];
    for pair in &mut bytes {
        vault::fill_random(pair)?;
    }
    let [first, second, third] = bytes.map(u16::from_le_bytes);
    let turned = |by: u16| format!("{:03}", (first % ALL + by) % ALL);
    Ok([turned(0), turned(100 + second % 351), turned(550 + third % 351)])
}

/// What the phone says about itself; fields without a text are left out.
fn device_of(call: &Call<'_>) -> Map<String, Value> {
    let given = call.params.get("device");
    let field = |name: &str| {
        let text = given?.get(name)?.as_str()?;
        let text: String = clean::text_field(text).chars().take(DEVICE_TEXT_CHARS_MAX).collect();
        (!text.is_empty()).then(|| (name.to_owned(), json!(text)))
    };
    DEVICE_FIELDS.into_iter().filter_map(field).collect()
}

/// What the screen shows meanwhile.
fn status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let now = call.now();
    let Some(row) = token_of(call, true)? else {
        return Ok(Reply::new(json!({ "status": EXPIRED })));
    };
    let kept = detail(&row);
    let member = |name: &str| kept.get(name).cloned().unwrap_or_default();
    let state = state_at(&row, now);
    Ok(Reply::new(match state {
        PENDING => json!({ "status": state, "expires_at": seconds(row.expires) }),
        SCANNED => json!({
            "status": state,
            "numbers": member("choices"),
            "device": member("device"),
            "expires_at": seconds(row.expires),
        }),
        CONSUMED => json!({
            "status": state,
            "consumed_at": member("consumed_at"),
            "ap_uuid": member("uuid"),
            "ap_name": member("name"),
            "device": member("device"),
        }),
        _ => json!({ "status": state }),
    }))
}

/// The user has compared the numbers. A wrong one ends it: somebody else's phone has read the code.
fn approve(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, now) = (call.site, call.now());
    let mut row = token_of(call, true)?.ok_or_else(invalid_token)?;
    let not_scanned = || {
        let message = "No phone is waiting to sign in; scan the code first.";
        refuse(409, "qr_login_not_scanned", message)
    };
    match state_at(&row, now) {
        SCANNED => {}
        EXPIRED => {
            let message = "The code has expired; create a new one.";
            return Err(refuse(410, "qr_login_expired", message));
        }
        _ => return Err(not_scanned()),
    }
    let mut kept = detail(&row);
    let number = kept.get("number").and_then(Value::as_str).unwrap_or_default();
    let is_right = call.params.text("choice") == Some(number);
    row.state = String::from(if is_right { APPROVED } else { REJECTED });
    row.expires = now.plus(MATCH_LIFE);
    if is_right {
        // The grant follows from the session, which only the phone knows.
        let session = row.session_hash.as_deref().map(hex).unwrap_or_default();
        kept.insert(String::from("grant"), json!(hex(&hash(site.vault(), "grant", &session))));
    } else {
        tracing::warn!(
            user.id = row.user_id,
            "a wrong number was chosen to confirm a phone's sign-in"
        );
    }
    row.detail = Value::Object(kept).to_string();
    if !login_token::advance(call.conn()?, &row, SCANNED)? {
        return Err(not_scanned());
    }
    Ok(Reply::new(json!({ "state": row.state })))
}

/// What the phone asks for meanwhile; it is given its grant once it is let in. Who knows the
/// session and not the token learns nothing.
fn session_status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    need_https(call)?;
    let (site, now) = (call.site, call.now());
    let text = |name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let (session, digest) = (text("session_id"), text("token_hash"));
    let session_hash = hash(site.vault(), "session", &session);
    let knows = |row: &LoginTokenRow| {
        let compared = |text: &str| hash(site.vault(), "compare", text);
        let own = detail(row).get("digest").and_then(Value::as_str).map(compared);
        row.kind == KIND && own == Some(compared(&digest))
    };
    let found = call.look_up_secret(|call| {
        Ok(login_token::by_session(call.conn()?, &session_hash)?.filter(knows))
    })?;
    let Some(row) = found else {
        return Ok(Reply::new(json!({ "state": EXPIRED })));
    };
    let state = state_at(&row, now);
    let grant = detail(&row).get("grant").filter(|_| state == APPROVED).cloned();
    Ok(Reply::new(match grant {
        Some(grant) => json!({ "state": state, "exchange_grant": grant }),
        None => json!({ "state": state }),
    }))
}

/// Gives the phone its application password, once.
fn exchange(call: &mut Call<'_>) -> Result<Reply, Stop> {
    need_https(call)?;
    let (site, now) = (call.site, call.now());
    let found = call.look_up_secret(|call| token_of(call, false))?;
    let mut row = found.ok_or_else(invalid_token)?;
    match state_at(&row, now) {
        APPROVED => {}
        CONSUMED => return Err(invalid_token()),
        EXPIRED => {
            let message = "The code has expired; create a new one.";
            return Err(refuse(401, "token_expired", message));
        }
        _ => {
            let message = "Choose the number that the phone shows on the screen first.";
            return Err(refuse(412, "qr_login_not_approved", message));
        }
    }
    let mut kept = detail(&row);
    let given = call.params.text("exchange_grant").unwrap_or_default().to_owned();
    let compared = |text: &str| hash(site.vault(), "compare", text);
    let granted = kept.get("grant").and_then(Value::as_str).map(compared);
    let is_granted = granted == Some(compared(&given));
    if call.look_up_secret(|_| Ok(is_granted.then_some(())))?.is_none() {
        let message = "Sign-in was denied for this phone; scan a new code.";
        return Err(refuse(412, "invalid_exchange_grant", message));
    }
    let Some(user) = site_rows::user::get(call.conn()?, row.user_id)? else {
        return Err(refuse(404, "user_not_found", "The user of this code was deleted."));
    };
    let name = password_name(&kept, now);
    let (password, secret) =
        create_password(call.conn()?, site.vault(), user.user_id, (&name, ""), now)?;
    kept.shift_remove("grant");
    kept.insert(String::from("uuid"), json!(password.uuid));
    kept.insert(String::from("name"), json!(name));
    kept.insert(String::from("consumed_at"), json!(seconds(now)));
    row.state = String::from(CONSUMED);
    row.detail = Value::Object(kept).to_string();
    if !login_token::advance(call.conn()?, &row, APPROVED)? {
        return Err(invalid_token());
    }
    Ok(Reply::new(json!({
        "success": true,
        "user_login": user.login,
        "user_email": user.email,
        "user_id": user.user_id,
        "site_url": safe_address(call),
        "application_password": secret.expose(),
        "uuid": password.uuid,
    })))
}

/// What the phone's password is called among the user's others.
fn password_name(kept: &Map<String, Value>, now: Timestamp) -> String {
    let device = kept.get("device");
    let reply = |name: &str| device?.get(name)?.as_str();
    let device = reply("model").or_else(|| reply("os")).unwrap_or("phone");
    let day: String = now.to_string().chars().take(10).collect();
    format!("Mobile app · {device} · {day}")
}

/// Takes a phone's password away again.
fn revoke(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let uuid = call.params.text("uuid").unwrap_or_default().to_owned();
    let user_id = call.user_id();
    if !passwords::delete(call.conn()?, user_id, &uuid)? {
        let message = "Application password not found.";
        return Err(refuse(404, "application_password_not_found", message));
    }
    Ok(Reply::new(json!({ "success": true, "uuid": uuid })))
}

fn availability(call: &Call<'_>) -> Reply {
    let reason = match (call.visit.secure, call.visit.application_passwords) {
        (false, _) => Some("https_required"),
        (true, false) => Some("application_passwords_unsupported"),
        (true, true) => None,
    };
    Reply::new(json!({ "available": reason.is_none(), "reason": reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_lie_apart() {
        for _ in 0..1_000 {
            let numbers = numbers().unwrap();
            assert!(numbers.iter().all(|number| number.len() == 3), "{numbers:?}");
            let [a, b, c] = numbers.map(|number| number.parse::<i32>().unwrap());
            let apart = |x: i32, y: i32| (x - y).abs() >= 100;
            assert!(apart(a, b) && apart(b, c) && apart(a, c), "{a} {b} {c}");
        }
    }
}
