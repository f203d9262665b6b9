//! Notes on orders: what happened, what somebody wrote, and what the customer was told.

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop, clean};
use frame::action::{read, write};
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use shop_rows::order_note::{self, OrderNoteRow};
use types::Capability;

use super::record::Order;
use super::schema::{read_only, shown};
use super::{effects, notify};
use crate::common::version::Version;
use crate::common::{events, first, moments};

struct Endpoint {
    version: Version,
    namespace: String,
    item: CompiledItem,
}

pub(super) fn routes(namespace: &str, version: Version) -> [Route<Action>; 2] {
    let item = item(version);
    let document = item.document();
    macro_rules! on_endpoint {
        ($operation:path) => {{
            let compiled = item.compile().expect("the schema is well formed");
            let endpoint = Endpoint { version, namespace: namespace.to_owned(), item: compiled };
            move |call: &mut Call<'_>| $operation(&endpoint, call)
        }};
    }
    let order_id = || Schema::integer().about("Order ID.");
    let on_order = || Args::new().arg("order_id", order_id());
    let id = || Schema::integer().about("Note ID.");
    let on_note = || Args::new().arg("id", id()).arg("order_id", order_id());
    let kind = Schema::text()
        .default("any")
        .choices(&["any", "customer", "internal"])
        .about("Type of notes to return: customer notes, internal notes or any.");
    let force = Schema::boolean()
        .default(false)
        .about("Required to be true, as notes cannot be moved to the trash.");
    let list_args = on_order().arg("context", item.context_arg()).arg("type", kind);
    let list_args = first::published(version, list_args, &["type"]);
    let create_args = first::published(version, item.create_args(), &["added_by_user"]);
    [
        Route::at(namespace, r"/orders/(?P<order_id>[\d]+)/notes")
            .on(READ, list_args, read(may_list, on_endpoint!(list)))
            .lists()
            .on(CREATE, on_order().with(create_args), write(may_create, on_endpoint!(create)))
            .creates()
            .schema(document.clone()),
        Route::at(namespace, r"/orders/(?P<order_id>[\d]+)/notes/(?P<id>[\d]+)")
            .on(
                READ,
                on_note().arg("context", item.context_arg()),
                read(may_read, on_endpoint!(get)),
            )
            .on(DELETE, on_note().arg("force", force), write(may_delete, on_endpoint!(delete)))
            .schema(document),
    ]
}

fn item(version: Version) -> Item {
    let moment = || Schema::typed("date-time");
    let flag = |about: &str| Schema::boolean().default(false).about(about);
    let both = &["view", "edit"];
    let mut fields = vec![("id", read_only(Schema::integer(), "Note ID."))];
    if version >= Version::Three {
        fields.push(("author", read_only(Schema::text(), "Note author.")));
    }
    fields.push(("date_created", read_only(moment(), "Date created, in the site's time zone.")));
    if version >= Version::Two {
        fields.push(("date_created_gmt", read_only(moment(), "Date created, in GMT.")));
    }
    fields.extend([
        ("note", shown(Schema::text(), "Note content.").required()),
        ("customer_note", flag("Whether the customer is notified.").context(both)),
        ("added_by_user", flag("Whether a user wrote the note.").context(&["edit"])),
    ]);
    Item::new("order_note", Schema::object(fields))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create resources.";
    call.need(Capability::PublishShopOrders, "woocommerce_rest_cannot_create", message)
}

/// An order that is nobody's passes; the operation says that there is none.
fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view this resource.";
    if find_order(call)?.is_none() {
        return Ok(());
    }
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to delete this resource.";
    if find_order(call)?.is_none() {
        return Ok(());
    }
    call.need(Capability::DeleteShopOrder, "woocommerce_rest_cannot_delete", message)
}

fn find_order(call: &mut Call<'_>) -> Result<Option<i64>, Stop> {
    let id = call.params.int("order_id").unwrap_or_default();
    let found = shop_rows::order::get(call.conn()?, id)?;
    Ok(found.filter(|row| row.kind == OrderKind::Order).map(|row| row.order_id))
}

fn order_of(call: &mut Call<'_>) -> Result<i64, Stop> {
    let message = "Order not found.";
    let unknown = || Refusal::new(404, "woocommerce_rest_order_invalid_id", message);
    Ok(find_order(call)?.ok_or_else(unknown)?)
}

fn note_of(call: &mut Call<'_>) -> Result<OrderNoteRow, Stop> {
    let order_id = order_of(call)?;
    let id = call.params.int("id").unwrap_or_default();
    let found = order_note::get(call.conn()?, id)?.filter(|note| note.order_id == order_id);
    let message = "Order note not found.";
    Ok(found.ok_or_else(|| Refusal::new(404, "woocommerce_rest_invalid_id", message))?)
}

fn body(endpoint: &Endpoint, call: &Call<'_>, note: &OrderNoteRow, context: &str) -> Value {
    let [created, created_gmt] = moments::pair(call.options(), Some(note.created));
    let mut body = json!({
        "id": note.note_id,
        "date_created": created,
        "note": note.text,
        "customer_note": note.customer_note,
    });
    if let Value::Object(members) = &mut body {
        if endpoint.version >= Version::Two {
            members.insert(String::from("date_created_gmt"), created_gmt);
        }
        if endpoint.version >= Version::Three {
            members.insert(String::from("author"), json!(note.author));
        }
    }
    endpoint.item.filter_by_context(body, context)
}

fn links(endpoint: &Endpoint, call: &Call<'_>, note: &OrderNoteRow) -> Links {
    let order = format!("/{}/orders/{}", endpoint.namespace, note.order_id);
    let to = |path: String| call.visit.rest(&path);
    Links::new()
        .to("self", to(format!("{order}/notes/{}", note.note_id)))
        .to("collection", to(format!("{order}/notes")))
        .to("up", to(order))
}

fn list(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let order_id = order_of(call)?;
    let mut notes = order_note::list(call.conn()?, order_id)?;
    match call.params.text("type") {
        Some("customer") => notes.retain(|note| note.customer_note),
        Some("internal") => notes.retain(|note| !note.customer_note),
        _ => {}
    }
    let context = call.context();
    let items = notes.iter().map(|note| {
        let body = body(endpoint, call, note, &context);
        crate::managers::linked(body, links(endpoint, call, note))
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

fn get(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let note = note_of(call)?;
    let context = call.context();
    Ok(Reply::new(body(endpoint, call, &note, &context)).links(links(endpoint, call, &note)))
}

fn create(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) && call.kept_id().is_none() {
        let message = "The ID of a new note cannot be set.";
        return Err(Refusal::new(400, "woocommerce_rest_order_note_exists", message).into());
    }
    let order_id = order_of(call)?;
    let by_user = call.params.flag("added_by_user");
    let author = call.user().map(|user| user.row.display_name.clone()).filter(|_| by_user);
    let mut note = OrderNoteRow {
        note_id: 0,
        order_id,
        author: author.unwrap_or_else(|| effects::SYSTEM.to_owned()),
        text: frame::text::clean_content(call.params.text("note").unwrap_or_default()),
        customer_note: call.params.flag("customer_note"),
        added_by_user: by_user,
        created: moments::now(call),
    };
    if call.visit.is_import {
        note.created = moments::created(call).unwrap_or(note.created);
        note.author = call.params.text("author").map_or(note.author, clean::text_field);
    }
    if let Some(id) = call.kept_id() {
        note.note_id = id;
        order_note::insert_with_id(call.conn()?, &note)?;
    } else {
        note.note_id = order_note::insert(call.conn()?, &note)?;
    }
    if !call.visit.is_import {
        append_event(call, order_id)?;
        if note.customer_note
            && let Some(order) = Order::get(call.conn()?, order_id, OrderKind::Order)?
        {
            notify::tell_note(call, &order, &note.text)?;
        }
    }
    let links = links(endpoint, call, &note);
    let location = format!("/{}/orders/{order_id}/notes/{}", endpoint.namespace, note.note_id);
    let location = call.visit.rest(&location);
    Ok(Reply::created(body(endpoint, call, &note, "edit"), location).links(links))
}

fn delete(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if !call.params.flag("force") {
        let message = "Notes cannot be moved to the trash; set force to delete it.";
        return Err(Refusal::new(400, "woocommerce_rest_trash_not_supported", message).into());
    }
    let note = note_of(call)?;
    order_note::delete(call.conn()?, note.note_id)?;
    events::append(
        call,
        "order_note.deleted",
        note.note_id,
        &json!({ "order_id": note.order_id }),
    )?;
    append_event(call, note.order_id)?;
    let links = links(endpoint, call, &note);
    Ok(Reply::new(body(endpoint, call, &note, "edit")).links(links))
}

fn append_event(call: &mut Call<'_>, order_id: i64) -> Result<(), Stop> {
    if let Some(order) = Order::get(call.conn()?, order_id, OrderKind::Order)? {
        effects::append_event(call, "order.updated", &order)?;
    }
    Ok(())
}
