//! The circumstances of each request: who asks, when, with which options, and by which address the
//! site is called.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use types::{Result, Timestamp};

use crate::password::Hashes;
use crate::request::Client;
use crate::{Identity, Options, Request, Site, Visit, signing};

/// The address of a site that nobody has named.
const HOME_UNKNOWN: &str = "http://localhost";

impl Site {
    /// The circumstances of a request.
    pub async fn visit(
        &self,
        request: &Request,
        identity: Identity,
        now: Timestamp,
    ) -> Result<Visit> {
        let options = self.options().await?;
        let mut visit = Visit { identity, ..self.visit_without_options(request, now) };
        // An address that the site itself was given counts, unless the operator set another.
        let own = options.text("siteurl");
        if self.settings().url.is_none() && !own.is_empty() {
            own.trim_end_matches('/').clone_into(&mut visit.home);
            visit.rest_url = format!("{}/{}", visit.home, self.settings().names.rest_root);
        }
        visit.options = options;
        Ok(visit)
    }

    pub(crate) fn visit_without_options(&self, request: &Request, now: Timestamp) -> Visit {
        let own = self.home_of(request);
        Visit {
            identity: Identity::ANONYMOUS,
            now,
            rest_url: [&own, "/", &self.settings().names.rest_root].concat(),
            home: self.settings().pages_url.clone().unwrap_or(own),
            secure: request.secure,
            client: request.client,
            requested: match request.query_text.as_str() {
                "" => request.url_path.clone(),
                query => [&request.url_path, "?", query].concat(),
            },
            headers: Arc::clone(&request.headers),
            signed_body: request
                .header(signing::MESSAGE_SIGNATURE)
                .map(|_| Arc::from(request.body.as_slice())),
            options: Arc::default(),
            application_passwords: self.takes_application_passwords(request),
            hashes: Hashes::default(),
            is_import: false,
        }
    }

    /// Address of the site without a slash at its end: as the operator set it, else as the request
    /// names it.
    pub fn home_of(&self, request: &Request) -> String {
        if let Some(url) = &self.settings().url {
            return url.trim_end_matches('/').to_owned();
        }
        let host = host_or_loopback(&request.host);
        // A proxy speaks TLS for the site's public name, not for this machine's own.
        let secure = request.encrypted_here || (request.secure && !is_loopback(host));
        [if secure { "https" } else { "http" }, "://", host].concat()
    }

    /// Address of the site as far as it is known without a request, without a slash at its end.
    pub fn own_address(&self, options: &Options) -> String {
        let own = options.text("siteurl");
        let known = self.settings().url.clone().or((!own.is_empty()).then_some(own));
        let home = known.unwrap_or_else(|| HOME_UNKNOWN.to_owned());
        home.trim_end_matches('/').to_owned()
    }

    /// Where people find the site, for e-mails: as the operator or the site itself says, else where
    /// this process serves it. **Never what a request claims**: a caller who names another host
    /// would have the site send its readers there.
    pub fn address_for_emails(&self, options: &Options) -> String {
        let is_told = self.settings().url.is_some() || !options.text("siteurl").is_empty();
        let here = self.neighbours().iter().find(|at| at.environment == self.environment());
        match here.filter(|_| !is_told) {
            Some(here) => here.url.clone(),
            None => self.own_address(options),
        }
    }

    pub(crate) fn visit_from_within(
        &self,
        identity: Identity,
        options: Options,
        now: Timestamp,
    ) -> Visit {
        let home = self.own_address(&options);
        Visit {
            identity,
            now,
            rest_url: format!("{home}/{}", self.settings().names.rest_root),
            secure: home.starts_with("https:"),
            home,
            client: Client {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                throttled: false,
                local: true,
            },
            requested: String::new(),
            headers: Arc::default(),
            signed_body: None,
            options: Arc::new(options),
            application_passwords: false,
            hashes: Hashes::default(),
            is_import: false,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A host that can stand in a URL; anything else could smuggle markup into links.
fn host_or_loopback(host: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let fine = !host.is_empty() && host.len() <= 255 && host.chars().all(plain);
    if fine { host } else { "localhost" }
}
