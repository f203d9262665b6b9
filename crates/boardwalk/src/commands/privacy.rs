//! `boardwalk privacy`: personal data of buyers, handed out and erased on request.

use std::sync::Arc;

use commerce::privacy;
use contract::rest::Params;
use serde_json::json;
use site_rows::user::UserRow;
use types::{Error, Result, Role};

use crate::args::{Common, Privacy};
use crate::config::Config;
use crate::environment;
use crate::output::{self, Printer};

pub(crate) fn privacy(
    config: &Config,
    common: &Common,
    command: Privacy,
    out: &Printer,
) -> Result<()> {
    let platform = Arc::new(environment::open_existing(config, common.environment())?);
    let reports = server::Reports::default();
    let site = server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    match command {
        Privacy::Export { email } => {
            let found = site.store().read_blocking(move |conn| privacy::export(conn, &email))?;
            output::document(&serde_json::to_string_pretty(&found).map_err(|error| {
                Error::internal("cannot print the personal data").because(error)
            })?);
        }
        Privacy::Erase { email } => {
            let (of_call, now) = (Arc::clone(&site), platform.clock.now());
            let erased = site.store().write_blocking(move |conn| {
                let operator = UserRow { roles: vec![Role::Administrator], ..UserRow::default() };
                let done = of_call.call_by(conn, operator, Params::default(), now, |call| {
                    privacy::erase(call, &email)
                })?;
                done.map_err(|refusal| Error::invalid(refusal.message.into_owned()))
            })?;
            let account = if erased.account { "The account is deleted. " } else { "" };
            let text = format!(
                "{account}Anonymous now: {} orders, {} reviews, {} downloads, {} customers in \
                 reports, {} coupons.",
                erased.orders, erased.reviews, erased.downloads, erased.customers, erased.coupons
            );
            out.result(&json!(erased), &text);
        }
    }
    Ok(())
}
