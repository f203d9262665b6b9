//! What several tests put into a database.

use db::outbox::Event;
use db::webhook_delivery::{Endpoint, NewDelivery};
use types::IsoId;

pub(crate) use testkit::database::{Stop, TestDatabase, count, number, time, together};

pub(crate) fn event(object_id: &str, payload: &str) -> Event {
    Event {
        iso_id: Some(IsoId::new("iso_1")),
        kind: "merchant.created",
        object_id: object_id.to_owned(),
        payload: payload.to_owned(),
        created: time(13),
    }
}

/// Due at the time 0.
pub(crate) fn delivery(endpoint: &Endpoint, body: &str) -> NewDelivery {
    NewDelivery {
        endpoint: endpoint.clone(),
        lane: String::new(),
        message_id: "evt_1".to_owned(),
        topic: "order.updated".to_owned(),
        body: body.as_bytes().to_vec(),
        details: r#"{"event":1}"#.to_owned(),
        due: time(0),
        created: time(-1),
    }
}
