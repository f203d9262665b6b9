//! Secret settings of plugins. **They are sealed where they are kept**, shown as a mask, and opened
//! only to sign with.

use data_encoding::BASE64;
use frame::Site;
use serde_json::{Value, json};
use types::{Error, Result, Secret};
use vault::Aad;

use super::installed::Installed;
use crate::package::manifest::{Setting, SettingKind};

/// What stands for a secret that has a value. Who sends it back changes nothing.
const MASK: &str = "••••••••";
const SEALED: &str = "sealed";

fn aad<'a>(slug: &'a str, name: &'a str) -> Aad<'a> {
    Aad { kind: "plugin_setting", id: slug, column: name }
}

/// A value as it is kept; nothing if what is kept stays.
pub(super) fn kept(
    site: &Site,
    slug: &str,
    setting: &Setting,
    value: Value,
) -> Result<Option<Value>> {
    let secret = value.as_str().filter(|_| setting.kind == SettingKind::Secret);
    match secret {
        None | Some("") => Ok(Some(value)),
        Some(MASK) => Ok(None),
        Some(secret) => {
            let sealed = site.vault().site_seal(&aad(slug, &setting.name), secret.as_bytes())?;
            Ok(Some(json!({ SEALED: BASE64.encode(&sealed) })))
        }
    }
}

/// A value as people see it.
pub(super) fn shown(setting: &Setting, value: Value) -> Value {
    match (setting.kind, value) {
        (SettingKind::Secret, Value::Object(_)) => json!(MASK),
        (SettingKind::Secret, _) => json!(""),
        (_, value) => value,
    }
}

/// The secret itself, if it has a value.
pub(super) fn open(site: &Site, plugin: &Installed, name: &str) -> Result<Option<Secret<String>>> {
    let kept = plugin.setting(name);
    let Some(sealed) = kept.get(SEALED).and_then(Value::as_str) else { return Ok(None) };
    let damaged = || Error::internal("cannot read a plugin's secret");
    let sealed = BASE64.decode(sealed.as_bytes()).map_err(|_| damaged())?;
    let opened = site.vault().site_open(&aad(&plugin.row.slug, name), &sealed)?;
    let text = String::from_utf8(opened.expose().clone()).map_err(|_| damaged())?;
    Ok(Some(Secret::new(text)))
}
