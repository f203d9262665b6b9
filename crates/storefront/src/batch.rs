//! Several requests to the shop window in one. Each shows its own token or nonce; whose cart they
//! are about, the outer request says.

use contract::rest::route::{CREATE, Route};
use contract::rest::{Refusal, Reply, Stop};
use frame::action::{anyone, write};
use frame::{Action, Call, batch};
use serde_json::Value;

use crate::cart::state::Cart;
use crate::session::{OUTER_TOKEN, Session};

pub(crate) fn route(namespace: &str) -> Route<Action> {
    Route::at(namespace, "/batch")
        .on(CREATE, batch::args(), write(anyone, run))
        .succeeds_with(&[207])
        .shows(batch::answer())
}

fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let requests = call.params.get("requests").and_then(Value::as_array).into_iter().flatten();
    let start = format!("/{}", call.site.settings().names.store);
    let is_ours = |request: &Value| {
        let path = request.get("path").and_then(Value::as_str).unwrap_or_default();
        let rest = path.get(start.len()..).unwrap_or_default();
        path.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(&start))
            && (rest.is_empty() || rest.starts_with(['/', '?']))
    };
    if !requests.into_iter().all(is_ours) {
        let message = "Only paths of the storefront can be called in this batch.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_path", message).into());
    }
    let session = Session::of(call)?;
    let token = session.token(call)?;
    let cookie = call.visit.header("cookie").unwrap_or_default().to_owned();
    let inherited = vec![(OUTER_TOKEN.to_owned(), token), (String::from("cookie"), cookie)];
    let reply = batch::run(call, &inherited)?;
    let hash = Cart::load(call, &session)?.hash();
    Ok(session.dress(call, reply, "", &hash)?)
}
