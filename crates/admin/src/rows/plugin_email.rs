//! E-mails that plugins had sent. **Whom they went to is a keyed hash**, enough to tell whether
//! somebody got one, and nothing else.

use db::{Conn, SITE, statements};
use types::{Result, Timestamp};

statements! {
    PLUGIN_EMAIL_INSERT =
        "INSERT INTO plugin_emails (site_id, plugin, name, object_id, recipient_hash, sent_us)
         VALUES ($1, $2, $3, $4, $5, $6)";
    PLUGIN_EMAIL_GET =
        "SELECT 1 FROM plugin_emails
         WHERE site_id = $1 AND plugin = $2 AND name = $3 AND object_id = $4";
    PLUGIN_EMAIL_LAST =
        "SELECT MAX(sent_us) FROM plugin_emails
         WHERE site_id = $1 AND recipient_hash = $2 AND plugin = $3";
}

/// An e-mail of a plugin about a record.
#[derive(Clone, Copy, Debug)]
pub struct PluginEmailKey<'a> {
    pub plugin: &'a str,
    pub name: &'a str,
    pub object_id: i64,
}

pub fn insert(
    conn: &mut dyn Conn,
    key: PluginEmailKey<'_>,
    recipient_hash: &[u8],
    sent: Timestamp,
) -> Result<()> {
    let PluginEmailKey { plugin, name, object_id } = key;
    let params = [
        SITE.into(),
        plugin.into(),
        name.into(),
        object_id.into(),
        recipient_hash.into(),
        sent.into(),
    ];
    conn.execute_one(&PLUGIN_EMAIL_INSERT, &params)
}

pub fn was_sent(conn: &mut dyn Conn, key: PluginEmailKey<'_>) -> Result<bool> {
    let PluginEmailKey { plugin, name, object_id } = key;
    let params = [SITE.into(), plugin.into(), name.into(), object_id.into()];
    Ok(conn.row(&PLUGIN_EMAIL_GET, &params, |row| row.get::<i64>(0))?.is_some())
}

/// When the plugin last had an e-mail sent to somebody.
pub fn last_sent(
    conn: &mut dyn Conn,
    recipient_hash: &[u8],
    plugin: &str,
) -> Result<Option<Timestamp>> {
    let params = [SITE.into(), recipient_hash.into(), plugin.into()];
    let found = conn.row(&PLUGIN_EMAIL_LAST, &params, |row| row.get::<Option<Timestamp>>(0))?;
    Ok(found.flatten())
}
