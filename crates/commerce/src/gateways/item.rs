//! A way to pay as the interface shows it.

use contract::rest::{Item, Links, Schema};
use frame::{Call, Options};
use serde_json::{Map, Value, json};

use super::ORDER;
use super::table::{Field, Gateway};
use crate::settings::kind::{Choices, Kind, TYPES, choices_body};
use crate::shipping_methods::METHODS;

const CONTEXTS: &[&str] = &["view", "edit"];

pub(super) fn item(tells_supports: bool) -> Item {
    let text = |about: &str| Schema::text().about(about).context(CONTEXTS);
    let shown = |about: &str| text(about).readonly();
    let setting = Schema::object([
        ("id", shown("Id of the setting.")),
        ("label", shown("Name of the setting.")),
        ("description", shown("What the setting is about.")),
        ("type", text("Type of the setting.").choices(TYPES).readonly()),
        ("value", text("Value of the setting.")),
        ("default", shown("Value as long as nobody chose one.")),
        ("tip", shown("A hint.")),
        ("placeholder", shown("What an empty field shows.")),
    ]);
    let order = Schema::integer().about("Place at the checkout.").context(CONTEXTS);
    let enabled = Schema::boolean().about("Whether it is offered.").context(CONTEXTS);
    let mut fields = vec![
        ("id", shown("Id of the way to pay.")),
        ("title", text("What buyers read at the checkout.")),
        ("description", text("What buyers read below the title.")),
        ("order", order),
        ("enabled", enabled),
        ("method_title", shown("Name of the way to pay.")),
        ("method_description", shown("How it works.")),
    ];
    if tells_supports {
        let supports = Schema::list(Schema::text()).about("What it can do.");
        fields.push(("method_supports", supports.context(CONTEXTS).readonly()));
    }
    fields.push(("settings", setting.about("Its settings.").context(CONTEXTS)));
    Item::new("payment_gateway", Schema::object(fields))
}

/// The settings that somebody chose.
pub(super) fn stored(options: &Options, gateway: &Gateway) -> Map<String, Value> {
    match options.get(gateway.option) {
        Value::Object(settings) => settings,
        _ => Map::new(),
    }
}

pub(super) fn choices(field: &Field) -> Choices {
    if field.kind != Kind::Multiselect {
        return Vec::new();
    }
    METHODS.iter().map(|method| (method.id.to_owned(), method.title.to_owned())).collect()
}

pub(super) fn body(
    call: &Call<'_>,
    options: &Options,
    gateway: &Gateway,
    tells_supports: bool,
) -> Value {
    let stored = stored(options, gateway);
    let text = |name: &str, default: &str| match stored.get(name) {
        Some(value) => value.clone(),
        None => json!(default),
    };
    let order = match options.get(ORDER).get(gateway.id) {
        Some(place) => place.clone(),
        None => json!(gateway.order),
    };
    let settings = gateway
        .fields
        .iter()
        .map(|field| (field.id.to_owned(), setting(field, text(field.id, field.default))));
    let page = format!("/wp-admin/admin.php?page=wc-settings&tab=checkout&section={}", gateway.id);
    let mut body = json!({
        "id": gateway.id,
        "title": text("title", gateway.title),
        "description": text("description", gateway.description),
        "order": order,
        "enabled": stored.get("enabled").is_some_and(|enabled| enabled == "yes"),
        "method_title": gateway.name,
        "method_description": gateway.about,
        "method_supports": ["products"],
        "settings": settings.collect::<Map<_, _>>(),
        "needs_setup": false,
        "post_install_scripts": [],
        "settings_url": call.visit.page(&page),
        "connection_url": null,
        "setup_help_text": null,
        "required_settings_keys": [],
    });
    if let (false, Value::Object(members)) = (tells_supports, &mut body) {
        members.shift_remove("method_supports");
    }
    body
}

fn setting(field: &Field, value: Value) -> Value {
    let mut body = json!({
        "id": field.id,
        "label": field.label,
        "description": field.about,
        "type": field.kind.name(),
        "value": value,
        "default": field.default,
        "tip": field.about,
        "placeholder": "",
    });
    if let (Some(offered), Value::Object(members)) = (choices_body(&choices(field)), &mut body) {
        members.insert(String::from("options"), offered);
    }
    body
}

pub(super) fn links(call: &Call<'_>, namespace: &str, gateway: &Gateway) -> Links {
    let base = format!("/{namespace}/payment_gateways");
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", gateway.id)))
        .to("collection", call.visit.rest(&base))
}
