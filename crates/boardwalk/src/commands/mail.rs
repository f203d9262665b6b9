//! `boardwalk mail`: tries how mail is sent, on the way that all mail takes.

use std::sync::Arc;

use frame::Options;
use frame::mail::{self, Email, Sender};
use serde_json::json;
use types::Result;

use crate::args::{Common, Mail};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

pub(crate) fn mail(config: &Config, common: &Common, command: Mail, out: &Printer) -> Result<()> {
    let Mail::Test { to } = command;
    let platform = Arc::new(environment::open_existing(config, common.environment())?);
    let site = server::make_site(
        &platform,
        &config.server,
        config.site.clone(),
        &server::Reports::default(),
    )?;
    let (of_email, now, receiver) = (Arc::clone(&site), platform.clock.now(), to.clone());
    let job_id = site.store().write_blocking(move |conn| {
        let options = Options::read(conn)?;
        let home = of_email.own_address(&options);
        let sender = Sender { site_name: &options.text("blogname"), home: &home };
        let paragraphs = [String::from(
            "Boardwalk can send e-mail. This message was sent the same way as all other \
             e-mail of the site.",
        )];
        let email =
            Email { to: &receiver, subject: "Test e-mail", paragraphs: &paragraphs, link: None };
        mail::enqueue(&of_email, conn, sender, &email, now)
    })?;
    let object = json!({ "jobId": job_id, "to": to });
    out.result(&object, &format!("Queued an e-mail to {to}; a running server sends it."));
    Ok(())
}
