//! What an operator may choose about the site.

use contract::card_data;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::Secret;
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
    /// Sign-in with accounts of a company.
    pub openid: OpenIdSettings,
    /// Path of the REST interface and names of its namespaces.
    pub names: Names,
    /// What is done about card data in a request. The configuration has another section for it,
    /// because it holds for both interfaces.
    #[serde(skip)]
    pub card_data: card_data::Policy,
    /// Where the pages of the records are, if that is another site: the copy of a store answers
    /// for it, and its products are still bought there. Without a slash at its end.
    #[serde(skip)]
    pub pages_url: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            jsonp: true,
            credential_origins: vec![String::from("*")],
            promo_notes: Vec::new(),
            media: MediaSettings::default(),
            openid: OpenIdSettings::default(),
            names: Names::default(),
            card_data: card_data::Policy::default(),
            pages_url: None,
        }
    }
}

impl Settings {
    /// Says what cannot work, before it does not.
    pub fn check(&self) -> Result<(), String> {
        self.names.check()?;
        self.openid.check()?;
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

/// A provider of `OpenID` Connect, such as Keycloak or Microsoft Entra ID, whose users sign in here
/// without another password.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenIdSettings {
    /// Issuer URL of the provider, such as `https://login.example/realms/pier`. Empty: people sign
    /// in with their passwords only.
    pub issuer: Option<String>,
    /// Client ID that the provider gave to this site.
    pub client_id: String,
    /// Client secret; never shown. Empty for a public client.
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>")]
    pub client_secret: Option<Secret<String>>,
    /// What the sign-in page calls the provider.
    pub name: String,
}

impl Default for OpenIdSettings {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: String::new(),
            client_secret: None,
            name: String::from("your company account"),
        }
    }
}

impl OpenIdSettings {
    /// The provider's address, if there is one.
    pub fn provider(&self) -> Option<&str> {
        self.issuer.as_deref().filter(|issuer| !issuer.is_empty())
    }

    fn check(&self) -> Result<(), String> {
        let Some(issuer) = self.provider() else { return Ok(()) };
        if !is_trustworthy(issuer) {
            return Err(format!(
                "site.openid.issuer is `{issuer}`; use the provider's https URL, without a query"
            ));
        }
        if self.client_id.is_empty() {
            return Err(String::from(
                "site.openid.client_id is empty; set the client ID that the provider gave you",
            ));
        }
        Ok(())
    }
}

/// Whether what comes from there comes from nobody else: by TLS, or from this machine.
fn is_trustworthy(issuer: &str) -> bool {
    let Ok(url) = Url::parse(issuer) else { return false };
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
    is_safe && url.username().is_empty() && url.query().is_none() && url.fragment().is_none()
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
        for (issuer, client_id, fine) in [
            ("https://login.example/realms/pier", "boardwalk", true),
            ("http://127.0.0.1:3000", "boardwalk", true),
            ("https://login.example", "", false),
            ("http://login.example", "boardwalk", false),
            ("https://me@login.example", "boardwalk", false),
            ("nonsense", "boardwalk", false),
        ] {
            let (issuer, client_id) = (Some(issuer.to_owned()), client_id.to_owned());
            let openid = OpenIdSettings { issuer, client_id, ..OpenIdSettings::default() };
            let settings = Settings { openid, ..Settings::default() };
            assert_eq!(settings.check().is_ok(), fine, "{settings:?}");
        }
        let origins = vec![String::from("nonsense")];
        assert!(Settings { credential_origins: origins, ..Settings::default() }.check().is_err());
    }
}
