//! Tells whether reports would say something new: the place of the facts in the feed of changes.
//! The number says nothing of what changed, so everybody who may see reports may see it.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema};
use frame::action::memory;
use frame::{Action, Call, Names};
use serde_json::json;

use crate::context::may_view;
use crate::current::Facts;

/// What a request accepts to which the server goes on telling.
pub const STREAM: &str = "text/event-stream";
/// Where it is, below the namespace.
pub const PATH: &str = "/live";

pub(crate) fn route(names: &Names, facts: &Arc<Facts>) -> Route<Action> {
    let about = "Sequence number of the last change included in the reports; null until they \
                 are ready.";
    let item = Item::new(
        "live",
        Schema::object([("position", Schema::types(&["integer", "null"]).about(about))]),
    );
    let facts = Arc::clone(facts);
    let show = move |_: &mut Call<'_>| Ok(Reply::new(json!({ "position": facts.position() })));
    Route::at(&names.docs, PATH)
        .on(READ, Args::new(), memory(may_view, show))
        .or_text(STREAM)
        .schema(item.document())
}
