//! `boardwalk import`: records that come from elsewhere.

mod orders;
mod woocommerce;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use contract::card_data::Policy;
use frame::bundle::Bundle;
use serde_json::json;
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
            let bundle = read_bundle(&file, config.security.card_data)?;
            let platform = environment::open(config, common.environment())?;
            let (now, vault) = (platform.clock.now(), Arc::clone(&platform.vault));
            let (mut totals, records) = platform.store.write_blocking(move |conn| {
                let totals = bundle.import(conn, &vault)?;
                let mut records = content::bundle::import(conn, bundle.others())?;
                records.append(&mut commerce::bundle::import(conn, bundle.others(), now)?);
                records.append(&mut admin::bundle::import(conn, bundle.others())?);
                Ok((totals, records))
            })?;
            totals.left_out.retain(|name| !records.contains_key(name.as_str()));
            let own = [("options", totals.options), ("users", totals.users)];
            let counts: Vec<(&str, usize)> = own.into_iter().chain(records).collect();
            let named: Vec<String> =
                counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let mut lines = vec![format!("Imported {}.", named.join(", "))];
            if !totals.left_out.is_empty() {
                let names = totals.left_out.join(", ");
                lines.push(format!("Not supported by this version: {names}."));
            }
            if !totals.unknown_options.is_empty() {
                let names = totals.unknown_options.join(", ");
                lines.push(format!("Unknown options, not imported: {names}."));
            }
            let mut object = json!({
                "left_out": totals.left_out,
                "unknown_options": totals.unknown_options,
            });
            if let Some(members) = object.as_object_mut() {
                members.extend(counts.into_iter().map(|(name, count)| (name.into(), json!(count))));
            }
            out.result(&object, &lines.join("\n"));
            Ok(())
        }
        Import::Orders(args) => orders::import(config, common, &args, out),
        Import::Woocommerce(args) => woocommerce::import(config, common, args, out),
    }
}

fn read_bundle(file: &Path, policy: Policy) -> Result<Bundle> {
    let unreadable = |error: std::io::Error| {
        Error::invalid(format!("cannot read {}", file.display())).because(error)
    };
    let length = fs::metadata(file).map_err(unreadable)?.len();
    if length > BUNDLE_BYTES_MAX {
        return Err(Error::invalid(format!(
            "{} exceeds the bundle size limit of {BUNDLE_BYTES_MAX} bytes",
            file.display()
        )));
    }
    let bundle = Bundle::parse(&fs::read_to_string(file).map_err(unreadable)?)?;
    let found = bundle.card_data();
    if let Some(first) = found.first() {
        let refused = policy == Policy::Refuse;
        tracing::warn!(fields = found.join(", "), refused, "bundle has card data");
        if refused {
            return Err(Error::invalid(format!(
                "the bundle has what looks like card data, at {first}{}; remove it there",
                if found.len() > 1 { " and elsewhere" } else { "" }
            )));
        }
    }
    Ok(bundle)
}
