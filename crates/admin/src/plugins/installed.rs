//! The plugins that are installed, with what they declare.

use db::Conn;
use serde_json::{Map, Value};
use types::{Error, Result};

use crate::package::{Manifest, PluginManifest};
use crate::rows::package::{self, PackageKind, PackageRow};

/// A plugin that is installed, with what it declares.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) row: PackageRow,
    pub(crate) manifest: PluginManifest,
}

impl Installed {
    fn read(row: PackageRow) -> Result<Self> {
        match Manifest::read(PackageKind::Plugin, row.manifest.as_bytes())? {
            Manifest::Plugin(manifest) => Ok(Self { row, manifest: *manifest }),
            Manifest::Theme(_) => Err(Error::internal("a theme is kept as a plugin")),
        }
    }

    /// The value of a setting: what people chose, else what the plugin says.
    pub(crate) fn setting(&self, name: &str) -> Value {
        let chosen: Map<String, Value> =
            serde_json::from_str(&self.row.settings).unwrap_or_default();
        let declared = self.manifest.contributes.settings.iter().find(|one| one.name == name);
        let default = declared.map(|setting| setting.default.clone());
        chosen.get(name).cloned().or(default).unwrap_or(Value::Null)
    }

    /// Whether a setting says anything.
    pub(crate) fn has_value(&self, name: &str) -> bool {
        match self.setting(name) {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            _ => true,
        }
    }
}

/// All plugins that are installed, by name.
pub(crate) fn all(conn: &mut dyn Conn) -> Result<Vec<Installed>> {
    package::list(conn, PackageKind::Plugin)?.into_iter().map(Installed::read).collect()
}

/// The plugins whose contributions count.
pub(crate) fn active(conn: &mut dyn Conn) -> Result<Vec<Installed>> {
    Ok(all(conn)?.into_iter().filter(|plugin| plugin.row.is_active).collect())
}

pub(crate) fn get(conn: &mut dyn Conn, slug: &str) -> Result<Option<Installed>> {
    package::get(conn, PackageKind::Plugin, slug)?.map(Installed::read).transpose()
}

pub(super) fn get_known(conn: &mut dyn Conn, slug: &str) -> Result<Installed> {
    get(conn, slug)?.ok_or_else(|| Error::not_found("this plugin is not installed"))
}
