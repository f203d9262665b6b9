//! `/me/second-factor`: the caller turns two-factor authentication on and off; and administrators
//! turn it off for people who lost their phone.
//!
//! **A secret is shown once, while it does not count yet, and recovery codes once**, when it does.
//! Turning it on takes the password and turning it off a code: who finds a browser open can do
//! neither. The owner gets an e-mail about either.

use std::fmt::Write as _;

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{Action, Later, later, read, write};
use frame::auth::login::SignIn;
use frame::auth::notices::{self, Notice};
use frame::auth::second_factor::{self, Taken};
use frame::auth::too_many_guesses;
use frame::users::end_other_sessions;
use frame::{Call, Names};
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::json;
use site_rows::second_factor::count_codes;
use site_rows::user::UserRow;
use types::{Capability, Error, Secret};

use super::sessions::in_session;
use super::signed_in;
use crate::users::{self, existing};
use crate::web::encoded;

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let code = || {
        let code = Schema::text().about("Code of the authenticator app, or a recovery code.");
        Args::new().arg("code", code.required())
    };
    let password = Schema::text().about("Current password of the user.").required();
    let password = Args::new().arg("password", password);
    let user = || Args::new().arg("id", Schema::integer().about("User ID."));
    vec![
        Route::at(&names.docs, "/me/second-factor")
            .on(READ, Args::new(), read(signed_in, show))
            .shows(state())
            .on(CREATE, password, later(in_session, begin))
            .shows(secret())
            .refuses_with(&[429]),
        Route::at(&names.docs, "/me/second-factor/confirm")
            .on(CREATE, code(), write(in_session, confirm))
            .shows(codes())
            .refuses_with(&[429]),
        Route::at(&names.docs, "/me/second-factor/disable")
            .on(CREATE, code(), write(in_session, disable))
            .shows(state())
            .refuses_with(&[429]),
        Route::at(&names.docs, r"/users/(?P<id>[\d]+)/second-factor")
            .on(READ, user(), read(may_administer, show_of))
            .shows(state())
            .on(DELETE, user(), write(may_administer, reset))
            .shows(state()),
    ]
}

fn state() -> Schema {
    let left = Schema::integer().about("Number of recovery codes that were not used yet.");
    Schema::object([
        ("enabled", Schema::boolean().about("Whether a code is required to sign in.")),
        ("recovery_codes", left),
    ])
}

fn secret() -> Schema {
    Schema::object([
        ("secret", Schema::text().about("The secret for the authenticator app, shown only once.")),
        ("uri", Schema::text().about("The same as an address that such apps open.")),
        ("qr", Schema::text().about("The same as a QR code: path data of an SVG image.")),
        ("size", Schema::integer().about("Width and height of the QR code, in its own units.")),
    ])
}

fn codes() -> Schema {
    let codes = Schema::list(Schema::text()).about("Recovery codes, shown only once.");
    Schema::object([("recovery_codes", codes)])
}

fn reply(call: &mut Call<'_>, user_id: i64) -> Result<Reply, Stop> {
    let enabled = second_factor::is_on(call.conn()?, user_id)?;
    let left = count_codes(call.conn()?, user_id)?;
    Ok(Reply::new(json!({ "enabled": enabled, "recovery_codes": left })))
}

fn show(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user_id = call.user_id();
    reply(call, user_id)
}

async fn begin(later: Later) -> Result<Reply, Stop> {
    let given = later.params.text("password").unwrap_or_default().to_owned();
    let Some(user_id) = later.visit.identity.user.as_ref().map(|user| user.row.user_id) else {
        return Err(users::not_logged_in().into());
    };
    let client = later.visit.client;
    match later.site.confirm_password(client, user_id, Secret::new(given)).await? {
        SignIn::Welcome(_) => later.attempt(begin_known).await,
        SignIn::Wrong => {
            let message = "The password is wrong.";
            Err(Refusal::new(400, "rest_incorrect_password", message).into())
        }
        SignIn::Wait(wait) => Err(too_many_guesses(wait).into()),
    }
}

fn begin_known(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (user_id, site) = (call.user_id(), call.site);
    let login = call.user().map(|user| user.row.login.clone()).unwrap_or_default();
    let Some(secret) = second_factor::begin(call.conn()?, site.vault(), user_id)? else {
        let message = "Two-factor authentication is already on; turn it off first.";
        return Err(Refusal::new(409, "rest_second_factor_enabled", message).into());
    };
    let issuer = encoded(&call.options().text("blogname"));
    let secret = secret.expose();
    let account = encoded(&login);
    let how = "algorithm=SHA1&digits=6&period=30";
    let uri = format!("otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&{how}");
    let code = QrCode::encode_text(&uri, QrCodeEcc::Medium)
        .map_err(|error| Error::internal("the QR code is too long").because(error))?;
    Ok(Reply::new(json!({
        "secret": secret, "uri": uri, "qr": path_data(&code), "size": code.size(),
    })))
}

/// The dark squares as path data of SVG.
fn path_data(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    path
}

fn attempt(call: &Call<'_>) -> Result<(), Stop> {
    call.site.attempt_code(call.user_id()).map_err(|wait| too_many_guesses(wait).into())
}

fn wrong_code() -> Refusal {
    let message = "The code is wrong or was already used; enter the next one.";
    Refusal::new(400, "rest_invalid_code", message)
}

fn confirm(call: &mut Call<'_>) -> Result<Reply, Stop> {
    attempt(call)?;
    let (user_id, now, site) = (call.user_id(), call.now(), call.site);
    let code = call.params.text("code").unwrap_or_default().to_owned();
    let shown = (user_id, &*code);
    let codes = second_factor::confirm(call.conn()?, site.vault(), shown, now)?;
    let codes = codes.ok_or_else(wrong_code)?;
    site.forgive_code(user_id);
    // Whoever knew the password alone is signed out.
    let user = existing(call, user_id)?;
    end_other_sessions(call, &user)?;
    notices::tell(call.conn()?, site, &user, Notice::SecondFactorOn, now)?;
    Ok(Reply::new(json!({ "recovery_codes": codes })))
}

fn disable(call: &mut Call<'_>) -> Result<Reply, Stop> {
    attempt(call)?;
    let (user_id, now, site) = (call.user_id(), call.now(), call.site);
    let code = call.params.text("code").unwrap_or_default().to_owned();
    match second_factor::take(call.conn()?, site, (user_id, &code), now)? {
        Taken::Right => {}
        // Answered without an error, which would take back that it was counted.
        Taken::Wrong => return Ok(Reply::from(&wrong_code())),
        Taken::Refused => {
            let message = "Too many wrong codes were entered today; enter a recovery code.";
            return Err(Refusal::new(429, "too_many_attempts", message).into());
        }
    }
    site.forgive_code(user_id);
    site_rows::second_factor::delete(call.conn()?, user_id)?;
    let user = existing(call, user_id)?;
    notices::tell(call.conn()?, site, &user, Notice::SecondFactorOff, now)?;
    reply(call, user_id)
}

fn named(call: &mut Call<'_>) -> Result<UserRow, Stop> {
    let user_id = call.params.int("id").unwrap_or_default();
    existing(call, user_id)
}

/// Administrators of the site only.
fn may_administer(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to edit this user.";
    call.need(Capability::ManageOptions, "rest_cannot_edit", message)
}

fn show_of(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = named(call)?;
    reply(call, user.user_id)
}

fn reset(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = named(call)?;
    if user.user_id == call.user_id() {
        let message = "Turn off your own two-factor authentication with a code.";
        return Err(Refusal::new(403, "rest_code_required", message).into());
    }
    if site_rows::second_factor::delete(call.conn()?, user.user_id)? {
        let (site, now) = (call.site, call.now());
        notices::tell(call.conn()?, site, &user, Notice::SecondFactorReset, now)?;
    }
    reply(call, user.user_id)
}
