//! A way to pay as the interface shows it.

use contract::rest::{Item, Links, Schema};
use frame::{Call, Options};
use serde_json::{Map, Value, json};

use super::ORDER;
use super::table::{Field, Gateway};
use crate::settings::kind::{Choices, SettingType, TYPES, choices_body};
use crate::shipping_methods::METHODS;

const CONTEXTS: &[&str] = &["view", "edit"];

pub(super) fn item(shows_supports: bool) -> Item {
    let text = |about: &str| Schema::text().about(about).context(CONTEXTS);
    let shown = |about: &str| text(about).readonly();
    let setting = Schema::object([
        ("id", shown("Setting ID.")),
        ("label", shown("Setting name.")),
        ("description", shown("Setting description.")),
        ("type", text("Setting type.").choices(TYPES).readonly()),
        ("value", text("Setting value.")),
        ("default", shown("Default value.")),
        ("tip", shown("Help text.")),
        ("placeholder", shown("Placeholder.")),
    ]);
    let order = Schema::integer().about("Position at checkout.").context(CONTEXTS);
    let enabled =
        Schema::boolean().about("Whether the payment method is enabled.").context(CONTEXTS);
    let mut fields = vec![
        ("id", shown("Payment method ID.")),
        ("title", text("Title shown at checkout.")),
        ("description", text("Description shown at checkout.")),
        ("order", order),
        ("enabled", enabled),
        ("method_title", shown("Payment method name.")),
        ("method_description", shown("Payment method description.")),
    ];
    if shows_supports {
        let supports = Schema::list(Schema::text()).about("Supported features.");
        fields.push(("method_supports", supports.context(CONTEXTS).readonly()));
    }
    fields.push(("settings", setting.about("Payment method settings.").context(CONTEXTS)));
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
    if field.kind != SettingType::Multiselect {
        return Vec::new();
    }
    METHODS.iter().map(|method| (method.id.to_owned(), method.title.to_owned())).collect()
}

pub(super) fn body(
    call: &Call<'_>,
    options: &Options,
    gateway: &Gateway,
    shows_supports: bool,
) -> Value {
    let stored = stored(options, gateway);
    let text = |name: &str, default: &str| match stored.get(name) {
        Some(value) => value.clone(),
        None => json!(default),
    };
    let order = match options.get(ORDER).get(gateway.id) {
        Some(endpoint) => endpoint.clone(),
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
    if let (false, Value::Object(members)) = (shows_supports, &mut body) {
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
