//! `boardwalk import`: records that come from elsewhere.

use std::fs;
use std::path::Path;

use serde_json::json;
use site::bundle::Bundle;
use types::{Error, Result};

use crate::args::{Common, Import};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

/// A bundle is read into memory whole.
const BUNDLE_BYTES_MAX: u64 = 512 * 1024 * 1024;

pub(crate) fn import(
    config: &Config,
    common: &Common,
    command: Import,
    out: &Printer,
) -> Result<()> {
    match command {
        Import::Bundle { file } => {
            let bundle = read_bundle(&file)?;
            let platform = environment::open(config, common.environment())?;
            let totals = platform.store.write_blocking(move |conn| bundle.import(conn))?;
            let mut text = format!(
                "Imported {} options, {} users and {} posts.",
                totals.options, totals.users, totals.posts
            );
            if !totals.left_out.is_empty() {
                let names = totals.left_out.join(", ");
                text.push_str(&format!("\nThis version does not import: {names}."));
            }
            if !totals.unknown_options.is_empty() {
                let names = totals.unknown_options.join(", ");
                text.push_str(&format!("\nThis site has no such options: {names}."));
            }
            out.result(&json!(totals), &text);
        }
    }
    Ok(())
}

fn read_bundle(file: &Path) -> Result<Bundle> {
    let unreadable = |error: std::io::Error| {
        Error::invalid(format!("cannot read {}", file.display())).because(error)
    };
    let length = fs::metadata(file).map_err(unreadable)?.len();
    if length > BUNDLE_BYTES_MAX {
        return Err(Error::invalid(format!(
            "{} is larger than a bundle may be ({BUNDLE_BYTES_MAX} bytes)",
            file.display()
        )));
    }
    Bundle::parse(&fs::read_to_string(file).map_err(unreadable)?)
}
