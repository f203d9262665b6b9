//! What happened to an ISO's objects, as clients read it: `GET /v1/events`, and what webhooks send.
//!
//! An event is thin: it names the object and its version, and holds **no personal data and no
//! secrets**. An ISO's events are numbered without gaps, so that a client which remembers the last
//! number it has seen misses nothing.

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::outbox::{self, IsoEvents, SequencedEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Error, IsoId, Result, Scope};
use vault::Vault;

use crate::event_kinds::Kinds;
use crate::fields::Word;
use crate::paging;
use crate::{Code, Cx};

/// Kinds that one list may ask for.
const TYPES_MAX: usize = 50;

/// An event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventView {
    /// What happened, such as `merchant.created`.
    #[serde(rename = "type")]
    kind: String,
    /// When it happened.
    timestamp: String,
    /// Id of the event; the same in this list and in webhooks.
    id: String,
    /// Number of the event; an ISO's numbers have no gaps.
    sequence: i64,
    /// `sandbox` or `production`.
    environment: &'static str,
    /// The object it happened to, with its version and the names of changed fields.
    data: Value,
}

impl EventView {
    /// The event of an ISO as its clients see it.
    pub(crate) fn new(vault: &Vault, event: &SequencedEvent) -> Result<Self> {
        let (Some(iso_id), Some(sequence)) = (&event.iso_id, event.iso_seq) else {
            return Err(Error::internal("an event of no ISO is nobody's to see"));
        };
        let data = serde_json::from_str(&event.payload)
            .map_err(|error| Error::internal("an event cannot be read").because(error))?;
        Ok(Self {
            kind: event.kind.clone(),
            timestamp: event.created.to_string(),
            id: event_id(vault, iso_id, sequence),
            sequence,
            environment: vault.environment().name(),
            data,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// The same for the same event, always, and nothing that could be counted.
fn event_id(vault: &Vault, iso_id: &IsoId, sequence: i64) -> String {
    let index = vault.blind_index(iso_id, "event", &sequence.to_string());
    format!("evt_{:032x}", u128::from_be_bytes(index))
}

/// List the events of the ISO, the oldest first.
///
/// Remember the last `sequence` that you have dealt with and ask for what comes after it: nothing
/// is missed, since the numbers have no gaps. Events are kept for 400 days.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EventList {
    /// Events with larger numbers only.
    #[serde(default)]
    #[schemars(range(min = 0))]
    after: i64,
    /// How many events.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// Kinds of events with commas between, such as `merchant.created,tpn.*`.
    types: Option<Word>,
}

/// A page of events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    /// The events.
    data: Vec<EventView>,
    /// What to send as `after` to go on; the same as before when there is nothing new.
    next: i64,
    /// Whether there are more already.
    has_more: bool,
    /// The oldest number that is kept. Null when there are no events.
    oldest: Option<i64>,
}

fn kinds_of(types: &str) -> Option<Kinds> {
    let names: Vec<&str> = types.split(',').collect();
    Kinds::parse(names.iter().copied()).filter(|_| names.len() <= TYPES_MAX)
}

impl Endpoint<Cx> for EventList {
    const ROUTE: Route = Route::get("/v1/events").scope(Scope::EventsRead);
    type Reply = Events;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        let types = draft.params.get("types").and_then(Value::as_str);
        if types.is_some_and(|types| kinds_of(types).is_none()) {
            let message = "Send event types such as merchant.created or merchant.*, separated \
                           by commas.";
            draft.issues.add("types", IssueKind::rule(Code::InvalidFormat.name(), message));
        }
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Events>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let types = self.types.as_ref().map(Word::as_str);
        let kinds = types.and_then(kinds_of).unwrap_or_default();
        let (names, groups, limit) = (kinds.names, kinds.groups, self.limit);
        let filter = IsoEvents { iso_id, after: self.after, since: None, kinds: names, groups };
        // Not from a replica, which may show events that a failover takes back: their numbers would
        // be given out again, and whoever has read so far would miss what has them then.
        let found = cx.platform.store.read(move |conn| {
            let oldest = outbox::oldest_of_iso(conn, &filter.iso_id)?;
            Ok((outbox::of_iso(conn, &filter, limit + 1)?, oldest))
        });
        let (mut events, oldest) = found.await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = events.len() > limit;
        events.truncate(limit);
        let next = events.last().and_then(|event| event.iso_seq).unwrap_or(self.after);
        let views = events.iter().map(|event| EventView::new(&cx.platform.vault, event));
        let data = views.collect::<Result<Vec<EventView>>>()?;
        Ok(Answer::new(Events { data, next, has_more, oldest }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_chosen_by_name_and_group() {
        let kinds = kinds_of("merchant.created,tpn.*").unwrap();
        for (kind, chosen) in [
            ("merchant.created", true),
            ("merchant.updated", false),
            ("tpn.created", true),
            ("tpn", false),
            ("tpns.created", false),
        ] {
            assert_eq!(kinds.has(kind), chosen, "{kind}");
        }
        assert!(kinds_of("*").unwrap().has("anything"));
        for wrong in ["", "a,", "mer*", "Merchant.created", "a.**", "*.created", "a b", "a%"] {
            assert_eq!(kinds_of(wrong), None, "{wrong}");
        }
        assert_eq!(kinds_of(&["a"; 51].join(",")), None);
    }
}
