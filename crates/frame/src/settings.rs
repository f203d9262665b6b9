//! What an operator may choose about the site.

use contract::card_data;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::Names;
use crate::media::MediaSettings;

/// The site: its address, its names, and how it treats browsers of other sites.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Address of the site, such as `https://shop.example`, for links. Empty: the address
    /// among the site's settings, else as each request names it.
    pub url: Option<String>,
    /// Answer JSONP (`_jsonp=`) to anonymous readers.
    pub jsonp: bool,
    /// Origins whose pages may read answers with the reader's own session, besides the site itself.
    /// `*` allows every origin, as the reference product does.
    pub credential_origins: Vec<String>,
    /// Names of promotions that clients may mark as acted on in the shop's notes.
    pub promo_notes: Vec<String>,
    /// The media library: how large files may be, and how much work pictures may make.
    pub media: MediaSettings,
    /// Path of the REST interface and names of its namespaces.
    pub names: Names,
    /// What is done about card data in a request. The configuration has another section for it,
    /// because it holds for both interfaces.
    #[serde(skip)]
    pub card_data: card_data::Policy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            jsonp: true,
            credential_origins: vec![String::from("*")],
            promo_notes: Vec::new(),
            media: MediaSettings::default(),
            names: Names::default(),
            card_data: card_data::Policy::default(),
        }
    }
}

impl Settings {
    /// Says what cannot work, before it does not.
    pub fn check(&self) -> Result<(), String> {
        self.names.check()?;
        if let Some(url) = self.url.as_deref().filter(|url| !is_site_address(url)) {
            return Err(format!("site.url is `{url}`; use a URL like https://shop.example"));
        }
        let is_origin = |origin: &&String| *origin == "*" || is_site_address(origin);
        match self.credential_origins.iter().find(|origin| !is_origin(origin)) {
            Some(wrong) => Err(format!(
                "site.credential_origins has `{wrong}`; use origins like https://shop.example"
            )),
            None => Ok(()),
        }
    }
}

/// Whether a site can be called by this: http or https, and a host that others know.
pub fn is_site_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let known = match url.host() {
        Some(Host::Domain(name)) => name.contains('.') || name == "localhost",
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    };
    known && matches!(url.scheme(), "http" | "https") && url.username().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_refused() {
        assert_eq!(Settings::default().check(), Ok(()));
        for (url, fine) in [
            ("https://shop.example", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost:8080/shop", true),
            ("nonsense", false),
            ("http://nonsense", false),
            ("ftp://shop.example", false),
            ("https://me@shop.example", false),
        ] {
            let settings = Settings { url: Some(url.to_owned()), ..Settings::default() };
            assert_eq!(settings.check().is_ok(), fine, "{url}");
        }
        let origins = vec![String::from("nonsense")];
        assert!(Settings { credential_origins: origins, ..Settings::default() }.check().is_err());
    }
}
