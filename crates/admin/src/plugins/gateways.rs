//! Payment gateways of plugins: those with a payment page of their own are offered at the checkout
//! while the plugin is active and knows where they are. **What people changed about one stays**
//! when the plugin's settings change.

use contract::rest::Verb;
use db::Conn;
use serde_json::{Value, json};
use types::{Error, Result};

use super::doing::Doing;
use super::installed::Installed;
use super::secrets;

fn path(doing: &Doing<'_>) -> String {
    format!("/{}/payment-gateways", doing.site.settings().names.docs)
}

/// The gateways that a plugin has at the checkout: the id that it declares, and the shop's own.
pub(super) type Offered = Vec<(String, String)>;

/// Offers the gateways whose settings have values, and no others.
pub(super) fn connect(
    conn: &mut dyn Conn,
    plugin: &Installed,
    made: &mut Offered,
    doing: &Doing<'_>,
) -> Result<()> {
    let path = path(doing);
    let before = std::mem::take(made);
    for gateway in &plugin.manifest.contributes.payment_gateways {
        let Some(hosted) = &gateway.hosted else { continue };
        let secret = secrets::open(doing.site, plugin, &hosted.secret_setting)?;
        let Some(secret) = secret.filter(|_| plugin.has_value(&hosted.url_setting)) else {
            continue;
        };
        let mut body = json!({
            "id": gateway.id,
            "url": plugin.setting(&hosted.url_setting),
            "secret": secret.expose(),
        });
        let is_new = !before.iter().any(|(declared, _)| *declared == gateway.id);
        if let (true, Some(members)) = (is_new, body.as_object_mut()) {
            members.insert(String::from("name"), json!(gateway.title));
            members.insert(String::from("title"), json!(gateway.title));
            members.insert(String::from("description"), json!(gateway.content));
            members.insert(String::from("enabled"), json!(true));
            // Another one's address and secret are not a plugin's to change.
            members.insert(String::from("only_new"), json!(true));
        }
        let request = (Verb::Post, path.as_str());
        let answer = doing.site.done_by(conn, doing.user.clone(), request, body, doing.now)?;
        let id = answer.get("id").and_then(Value::as_str);
        let id = id.ok_or_else(|| Error::internal("a payment gateway was made without an id"))?;
        made.push((gateway.id.clone(), id.to_owned()));
    }
    let mut deleted = before;
    deleted.retain(|offered| !made.contains(offered));
    disconnect(conn, &mut deleted, doing)
}

/// Takes the gateways back that are still there.
pub(super) fn disconnect(conn: &mut dyn Conn, made: &mut Offered, doing: &Doing<'_>) -> Result<()> {
    if made.is_empty() {
        return Ok(());
    }
    let path = path(doing);
    let seen = doing.site.seen_by(conn, doing.user.clone(), &path, doing.now)?;
    let known = seen.unwrap_or_default();
    let is_known =
        |id: &str| known.as_array().into_iter().flatten().any(|gateway| gateway["id"] == *id);
    for (_, id) in std::mem::take(made) {
        if is_known(&id) {
            let one = format!("{path}/{id}");
            let (request, body) = ((Verb::Delete, one.as_str()), json!({}));
            doing.site.done_by(conn, doing.user.clone(), request, body, doing.now)?;
        }
    }
    Ok(())
}
