//! Notices that a user can put away for good, each by its name. Who dismisses one shows a token of
//! our own page, which [`list`] hands out.

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::auth::nonce::{self, Holder};
use frame::{Action, Call, Names, Via, moments};
use serde_json::{Map, Value, json};
use types::{Capability, Timestamp};

use crate::answers::success;

/// What a token is made for.
const ACTION: &str = "dismiss_notice";
/// Where a user's dismissals are kept among their further fields.
const META: &str = "woocommerce_admin_notices_dismissed";

const NOTICES: &[&str] = &[
    "woo-subscription-expired-notice",
    "woo-subscription-expiring-notice",
    "woo-disconnect-notice",
    "woo-connect-notice",
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let dismiss = write(may_manage, dismiss);
    let list = read(may_manage, list);
    vec![
        Route::at(&names.admin, "/notice/dismiss")
            .on(CREATE, Args::new(), dismiss)
            .shows(success("Whether there is such a notice.")),
        Route::at(&names.docs, "/notices")
            .on(READ, Args::new(), list)
            .lists()
            .schema(item().document()),
    ]
}

fn item() -> Item {
    let dismissed =
        Schema::types(&["string", "null"]).about("When the user dismissed the notice, in GMT.");
    Item::new(
        "notice",
        Schema::object([
            ("id", Schema::text().about("Notice name.")),
            ("dismissed", dismissed),
            ("nonce", Schema::text().about("Token for dismissing the notice.")),
        ]),
    )
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    call.need(Capability::ManageWoocommerce, "rest_forbidden", "You are not allowed to do that.")
}

/// Whom a token is for: the caller in their session, if they have one.
pub(crate) fn with_holder<T>(call: &Call<'_>, run: impl FnOnce(Holder<'_>) -> T) -> T {
    let session = match &call.visit.identity.via {
        Via::Session { token_hash } => token_hash.as_slice(),
        _ => &[],
    };
    run(Holder { user_id: call.user_id(), session })
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (vault, now) = (call.site.vault(), call.now());
    let nonce = with_holder(call, |holder| nonce::make(vault, ACTION, holder, now));
    let dismissed = dismissed_by(call)?;
    let shown = NOTICES.iter().map(|id| {
        let at = dismissed.get(*id).and_then(Value::as_i64).map(Timestamp::from_micros);
        let [_, at] = moments::pair(call.options(), at);
        json!({ "id": id, "dismissed": at, "nonce": nonce })
    });
    Ok(Reply::new(shown.collect::<Vec<_>>()))
}

fn dismiss(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let given = call.params.text("dismiss_notice_nonce").unwrap_or_default();
    let (vault, now) = (call.site.vault(), call.now());
    let is_own = with_holder(call, |holder| nonce::is_valid(vault, ACTION, holder, now, given));
    if !is_own {
        let message = "The page has expired; reload it and try again.";
        return Err(Refusal::new(401, "unauthorized", message).into());
    }
    let id = call.params.text("notice_id").unwrap_or_default().to_owned();
    if !NOTICES.contains(&id.as_str()) {
        return Ok(Reply::new(json!({ "success": false })));
    }
    let mut dismissed = dismissed_by(call)?;
    dismissed.insert(id, json!(now.as_micros()));
    keep(call, dismissed)?;
    Ok(Reply::new(json!({ "success": true })))
}

/// The further fields of the caller, as they are stored.
fn meta_of(call: &mut Call<'_>) -> Result<Map<String, Value>, Stop> {
    let user_id = call.user_id();
    let row = site_rows::user::get(call.conn()?, user_id)?;
    let meta = row.and_then(|row| serde_json::from_str(&row.meta).ok());
    Ok(meta.unwrap_or_default())
}

fn dismissed_by(call: &mut Call<'_>) -> Result<Map<String, Value>, Stop> {
    let dismissed = meta_of(call)?.get(META).and_then(Value::as_object).cloned();
    Ok(dismissed.unwrap_or_default())
}

fn keep(call: &mut Call<'_>, dismissed: Map<String, Value>) -> Result<(), Stop> {
    let user_id = call.user_id();
    let mut meta = meta_of(call)?;
    meta.insert(META.to_owned(), Value::Object(dismissed));
    if let Some(mut row) = site_rows::user::get(call.conn()?, user_id)? {
        row.meta = Value::Object(meta).to_string();
        site_rows::user::update(call.conn()?, &row)?;
    }
    Ok(())
}
