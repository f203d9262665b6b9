//! A way to pay as the interface shows it.

use contract::rest::{Item, Links, Schema, Stop};
use frame::{Call, Options};
use serde_json::{Map, Value, json};
use shop_rows::shipping::{self, ZoneRow};

use super::table::{Field, Gateway, Kept};
use super::{ORDER, hosted};
use crate::setting_types::{Choices, SettingType, TYPES, choices_body};
use crate::shipping_methods::{METHODS, Method};

const CONTEXTS: &[&str] = &["view", "edit"];

pub(super) fn item(shows_supports: bool) -> Item {
    let text = |about: &str| Schema::text().about(about).context(CONTEXTS);
    let shown = |about: &str| text(about).readonly();
    let types: Vec<&str> = TYPES.iter().copied().chain([SettingType::SafeText.name()]).collect();
    let setting = Schema::object([
        ("id", shown("Setting ID.")),
        ("label", shown("Setting name.")),
        ("description", shown("Setting description.")),
        ("type", text("Setting type.").choices(&types).readonly()),
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
    let settings = match gateway.kept {
        Kept::Option(name) => options.get(name),
        Kept::Hosted => hosted::settings(options, &gateway.id),
    };
    match settings {
        Value::Object(settings) => settings,
        _ => Map::new(),
    }
}

pub(super) fn is_enabled(settings: &Map<String, Value>) -> bool {
    settings.get("enabled").is_some_and(|enabled| enabled == "yes")
}

/// What a choice offers, by the way of shipping: all of that way, and each as a zone has it.
pub(super) fn offered(
    call: &mut Call<'_>,
    field: &Field,
) -> Result<Vec<(&'static str, Choices)>, Stop> {
    if field.kind != SettingType::Multiselect {
        return Ok(Vec::new());
    }
    let everywhere = ZoneRow { zone_id: 0, name: String::from("Rest of the world"), position: 0 };
    let mut zones = shipping::zone_list(call.conn()?)?;
    zones.push(everywhere);
    let mut in_zones = Vec::new();
    for zone in zones {
        let methods = shipping::methods_of(call.conn()?, zone.zone_id)?;
        in_zones.extend(methods.into_iter().map(|method| (zone.name.clone(), method)));
    }
    let of_method = |method: &'static Method| {
        let mut choices = vec![(method.id.to_owned(), format!("Any {} method", method.title))];
        let own = in_zones.iter().filter(|(_, one)| one.method_id == method.id);
        choices.extend(own.map(|(zone, one)| {
            let id = one.instance_id;
            (format!("{}:{id}", method.id), format!("{zone} – {} (#{id})", method.title))
        }));
        (method.title, choices)
    };
    Ok(METHODS.iter().map(of_method).collect())
}

pub(super) fn body(
    call: &mut Call<'_>,
    options: &Options,
    gateway: &Gateway,
    shows_supports: bool,
) -> Result<Value, Stop> {
    let stored = stored(options, gateway);
    let text = |name: &str, default: &str| match stored.get(name) {
        Some(value) => value.clone(),
        None => json!(default),
    };
    let order = match options.get(ORDER).get(&*gateway.id) {
        Some(endpoint) => endpoint.clone(),
        None => json!(gateway.order),
    };
    let mut settings = Map::new();
    for field in gateway.fields {
        let body = setting(call, field, text(field.id, field.default))?;
        settings.insert(field.id.to_owned(), body);
    }
    let page = format!("/wp-admin/admin.php?page=wc-settings&tab=checkout&section={}", gateway.id);
    let mut body = json!({
        "id": gateway.id,
        "title": text("title", &gateway.title),
        "description": text("description", &gateway.description),
        "order": order,
        "enabled": is_enabled(&stored),
        "method_title": gateway.name,
        "method_description": gateway.about,
        "method_supports": gateway.supports,
        "settings": settings,
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
    Ok(body)
}

fn setting(call: &mut Call<'_>, field: &Field, value: Value) -> Result<Value, Stop> {
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
    let groups = offered(call, field)?;
    if let (false, Value::Object(members)) = (groups.is_empty(), &mut body) {
        let group = |(name, choices): (&str, Choices)| {
            (name.to_owned(), choices_body(&choices).unwrap_or_default())
        };
        let groups: Map<String, Value> = groups.into_iter().map(group).collect();
        members.insert(String::from("options"), Value::Object(groups));
    }
    Ok(body)
}

pub(super) fn links(call: &Call<'_>, namespace: &str, gateway: &Gateway) -> Links {
    let base = format!("/{namespace}/payment_gateways");
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{}", gateway.id)))
        .to("collection", call.visit.rest(&base))
}
