//! What signing in by a code answers, for the document of the interface.

use contract::rest::Schema;

use super::{APPROVED, CONSUMED, DEVICE_FIELDS, EXPIRED, PENDING, REJECTED, SCANNED};

const STATES: &[&str] = &[PENDING, SCANNED, APPROVED, REJECTED, EXPIRED, CONSUMED];

fn text(about: &str) -> Schema {
    Schema::text().about(about)
}

fn number(about: &str) -> Schema {
    Schema::integer().about(about)
}

fn state(states: &[&str]) -> Schema {
    text("Where the code stands.").choices(states)
}

pub(super) fn token() -> Schema {
    Schema::object([
        ("qr_url", text("What the code on the screen says.")),
        ("expires_at", number("When the code expires, in seconds.")),
        ("ttl", number("For how many seconds the code can be read.")),
    ])
}

pub(super) fn scanned() -> Schema {
    Schema::object([
        ("session_id", text("By which the phone asks for its state.")),
        ("real_number", text("The number that the phone shows.")),
        ("expires_in", number("Seconds until it is too late.")),
    ])
}

/// Each state has some of it.
pub(super) fn status() -> Schema {
    let device = DEVICE_FIELDS.map(|name| (name, Schema::text()));
    Schema::object([
        ("status", state(STATES)),
        ("expires_at", number("When that ends, in seconds.")),
        ("numbers", Schema::list(Schema::text()).about("Numbers to choose from.")),
        ("device", Schema::object(device).about("What the phone says about itself.")),
        ("consumed_at", number("When the phone signed in, in seconds.")),
        ("ap_uuid", text("ID of the phone's application password.")),
        ("ap_name", text("Name of that.")),
    ])
}

pub(super) fn approved() -> Schema {
    Schema::object([("state", state(&[APPROVED, REJECTED]))])
}

pub(super) fn session() -> Schema {
    Schema::object([
        ("state", state(STATES)),
        ("exchange_grant", text("For the password, once it is approved.")),
    ])
}

pub(super) fn password() -> Schema {
    Schema::object([
        ("success", Schema::boolean().about("Always true.")),
        ("user_login", text("Login of the user.")),
        ("user_email", text("E-mail address of the user.")),
        ("user_id", number("User ID.")),
        ("site_url", text("Address of the site.")),
        ("application_password", text("The password, which is shown only here.")),
        ("uuid", text("ID of the password.")),
    ])
}

pub(super) fn revoked() -> Schema {
    Schema::object([
        ("success", Schema::boolean().about("Always true.")),
        ("uuid", text("ID of the application password.")),
    ])
}

pub(super) fn availability() -> Schema {
    Schema::object([
        ("available", Schema::boolean().about("Whether phones can sign in by a code.")),
        ("reason", text("Why they cannot.").or_null()),
    ])
}
