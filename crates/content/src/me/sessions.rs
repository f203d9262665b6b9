//! `/me/sessions`: where the caller is signed in with a browser, and how to sign out there. What is
//! shown of a session signs nobody in.

use contract::rest::route::{DELETE, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use data_encoding::HEXLOWER;
use frame::action::{Action, read, write};
use frame::{Call, Names, Via};
use serde_json::{Value, json};
use site_rows::session::{self, SessionRow};

use super::signed_in;
use crate::users::date_time;

/// Sessions that a list shows; nobody has more than a few.
const SHOWN_MAX: i64 = 100;
/// Bytes of a session's hash that tell it from the user's others.
const ID_BYTES: usize = 12;

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let id = Args::new().arg("id", Schema::text().about("Id of the session."));
    vec![
        Route::at(&names.docs, "/me/sessions")
            .schema(item().document())
            .on(READ, Args::new(), read(signed_in, list))
            .lists()
            .on(DELETE, Args::new(), write(in_session, end_others))
            .shows(ended()),
        Route::at(&names.docs, r"/me/sessions/(?P<id>[0-9a-f]+)")
            .schema(item().document())
            .on(DELETE, id, write(in_session, end))
            .shows(ended()),
    ]
}

fn ended() -> Schema {
    Schema::object([("ended", Schema::integer().about("Number of sessions that were ended."))])
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let moment = |about: &str| Schema::date_time().about(about).context(&["view"]).readonly();
    let current = Schema::boolean().about("Whether it is the session of this request.");
    Item::new(
        "session",
        Schema::object([
            ("id", text("Id of the session.")),
            ("created", moment("Date signed in, in UTC.")),
            ("expires", moment("Date it ends, in UTC.")),
            ("ip", text("IP address it began from.")),
            ("user_agent", text("Browser it began in, as that describes itself.")),
            ("current", current.context(&["view"]).readonly()),
        ]),
    )
}

/// **Who ends sessions has one**: a program with a password of its own ends nobody's.
pub(super) fn in_session(call: &mut Call<'_>) -> Result<(), Stop> {
    signed_in(call)?;
    if matches!(call.visit.identity.via, Via::Session { .. }) {
        return Ok(());
    }
    let message = "Sign in with a browser to do this.";
    Err(Refusal::new(403, "rest_session_required", message).into())
}

fn id_of(row: &SessionRow) -> String {
    HEXLOWER.encode(row.token_hash.get(..ID_BYTES).unwrap_or_default())
}

fn own(call: &mut Call<'_>) -> Result<Vec<SessionRow>, Stop> {
    let (user_id, now) = (call.user_id(), call.now());
    Ok(session::of_user(call.conn()?, user_id, now, SHOWN_MAX)?)
}

fn is_current(call: &Call<'_>, row: &SessionRow) -> bool {
    match &call.visit.identity.via {
        Via::Session { token_hash } => *token_hash == row.token_hash,
        _ => false,
    }
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let rows = own(call)?;
    let shown: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": id_of(row),
                "created": date_time(row.created),
                "expires": date_time(row.expires),
                "ip": row.ip,
                "user_agent": row.user_agent,
                "current": is_current(call, row),
            })
        })
        .collect();
    Ok(Reply::new(shown))
}

fn end_others(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let kept = match &call.visit.identity.via {
        Via::Session { token_hash } => Some(token_hash.clone()),
        _ => None,
    };
    let user_id = call.user_id();
    let count = session::delete_of_user(call.conn()?, user_id, kept.as_deref())?;
    Ok(Reply::new(json!({ "ended": count })))
}

fn end(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let wanted = call.params.text("id").unwrap_or_default().to_owned();
    let found = own(call)?.into_iter().find(|row| id_of(row) == wanted);
    let Some(row) = found else {
        return Err(Refusal::new(404, "rest_session_not_found", "Session not found.").into());
    };
    session::delete(call.conn()?, &row.token_hash)?;
    Ok(Reply::new(json!({ "ended": 1 })))
}
