//! Where certificates come from: PEM files that somebody else renews, or an authority that speaks
//! ACME. **Both at once, or half of either, is refused with a sentence**, because a server that
//! guessed would one day serve the wrong certificate.

use std::path::PathBuf;

use rustls_pki_types::DnsName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Result};
use url::Url;

/// Names that one certificate may have; the public authorities allow no more.
const DOMAINS_MAX: usize = 100;
/// Production of Let's Encrypt.
const DIRECTORY_USUAL: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Certificates for https: either two PEM files, or the section `acme`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// PEM file with the certificate chain.
    pub certificate: Option<PathBuf>,
    /// PEM file with its private key.
    pub private_key: Option<PathBuf>,
    /// Certificates that the server gets and renews itself, instead of files.
    pub acme: Option<Acme>,
}

/// Certificates from an authority that speaks ACME, such as Let's Encrypt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Acme {
    /// Host names of the certificate. Each must lead to this server's https port, at port 443.
    pub domains: Vec<String>,
    /// E-mail address for messages of the authority.
    pub contact: Option<String>,
    /// Whether you agree to the authority's terms of service; nothing is requested otherwise.
    pub terms_agreed: bool,
    /// URL of the authority's directory. Default: Let's Encrypt.
    pub directory: String,
    /// PEM file with the root certificate by which a private authority is trusted. Default: the
    /// roots that the system trusts.
    pub ca_root: Option<PathBuf>,
    /// Where the account and the certificate are kept; set by the program.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Default for Acme {
    fn default() -> Self {
        Self {
            domains: Vec::new(),
            contact: None,
            terms_agreed: false,
            directory: String::from(DIRECTORY_USUAL),
            ca_root: None,
            folder: PathBuf::new(),
        }
    }
}

/// The two files of a certificate.
#[derive(Clone, Debug)]
pub struct Files {
    pub certificate: PathBuf,
    pub private_key: PathBuf,
}

/// Where the certificate comes from, checked.
#[derive(Clone, Debug)]
pub enum Source {
    Files(Files),
    Acme(Acme),
}

impl Tls {
    /// Fails with what to change if the settings contradict each other.
    pub fn source(&self) -> Result<Source> {
        match (&self.certificate, &self.private_key, &self.acme) {
            (None, None, Some(acme)) => acme.checked().map(Source::Acme),
            (_, _, Some(_)) => Err(Error::invalid(
                "server.tls has both files and server.tls.acme; remove certificate and \
                 private_key, or the section acme",
            )),
            (Some(certificate), Some(private_key), None) => Ok(Source::Files(Files {
                certificate: certificate.clone(),
                private_key: private_key.clone(),
            })),
            (None, None, None) => Err(Error::invalid(
                "server.tls is empty; set certificate and private_key, or the section \
                 server.tls.acme",
            )),
            (certificate, ..) => {
                let missing = if certificate.is_some() { "private_key" } else { "certificate" };
                Err(Error::invalid(format!("server.tls.{missing} is missing; set it as well")))
            }
        }
    }
}

impl Acme {
    /// The settings with names in lower case, if they can be used.
    fn checked(&self) -> Result<Self> {
        let wrong = |what: String| Err(Error::invalid(format!("server.tls.acme.{what}")));
        if self.domains.is_empty() || self.domains.len() > DOMAINS_MAX {
            return wrong(format!("domains must have 1 to {DOMAINS_MAX} host names"));
        }
        let mut domains: Vec<String> =
            self.domains.iter().map(|name| name.to_ascii_lowercase()).collect();
        if let Some(name) = domains.iter().find(|name| !is_public_name(name)) {
            return wrong(format!(
                "domains has {name:?}, which is no host name; addresses and wildcards cannot be \
                 proven on the https port"
            ));
        }
        domains.sort();
        domains.dedup();
        if !self.terms_agreed {
            return wrong(format!(
                "terms_agreed is false; read the terms of service of {} and set it to true",
                self.directory
            ));
        }
        if !Url::parse(&self.directory).is_ok_and(|url| url.scheme() == "https") {
            return wrong(String::from("directory must be an https URL"));
        }
        if self.contact.as_ref().is_some_and(|contact| !is_address(contact)) {
            return wrong(String::from("contact must be an e-mail address"));
        }
        Ok(Self { domains, ..self.clone() })
    }
}

fn is_public_name(name: &str) -> bool {
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let last = name.rsplit('.').next().unwrap_or_default();
    DnsName::try_from(name).is_ok() && !name.ends_with('.') && !is_number(last)
}

/// As much as matters here: the authority checks the rest, and nothing may end the URI early.
fn is_address(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b",?&%<>\"".contains(&byte);
    text.bytes().all(is_plain)
        && text
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && DnsName::try_from(host).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acme() -> Acme {
        let domains = vec![String::from("Shop.example"), String::from("shop.example")];
        Acme { domains, terms_agreed: true, ..Acme::default() }
    }

    #[test]
    fn one_source_is_taken_and_contradictions_are_refused() {
        let files = Tls {
            certificate: Some("chain.pem".into()),
            private_key: Some("key.pem".into()),
            acme: None,
        };
        assert!(matches!(files.source(), Ok(Source::Files(_))));
        let own = Tls { acme: Some(acme()), ..Tls::default() };
        let Ok(Source::Acme(taken)) = own.source() else { panic!("refused") };
        assert_eq!(taken.domains, ["shop.example"]);
        let refused = |tls: Tls, part: &str| {
            let said = tls.source().expect_err(part).to_string();
            assert!(said.contains(part), "no {part:?} in {said}");
        };
        refused(Tls { acme: Some(acme()), ..files.clone() }, "both files and server.tls.acme");
        refused(Tls { private_key: None, ..files.clone() }, "private_key is missing");
        refused(Tls { certificate: None, ..files }, "server.tls.certificate is missing");
        refused(Tls::default(), "is empty");
    }

    #[test]
    fn what_the_authority_would_refuse_is_refused_at_once() {
        let refused = |acme: Acme, part: &str| {
            let tls = Tls { acme: Some(acme), ..Tls::default() };
            let said = tls.source().expect_err(part).to_string();
            assert!(said.contains(part), "no {part:?} in {said}");
        };
        refused(Acme { domains: Vec::new(), ..acme() }, "1 to 100");
        for name in ["*.shop.example", "192.0.2.1", "a b", "", "shop.example."] {
            refused(Acme { domains: vec![name.into()], ..acme() }, "no host name");
        }
        refused(Acme { terms_agreed: false, ..acme() }, "terms of service of https://acme-v02");
        refused(Acme { directory: "http://ca.example/dir".into(), ..acme() }, "https URL");
        for contact in ["ada", "@x.example", "a@x.example,b@x.example", "a@x.example?to=b"] {
            refused(Acme { contact: Some(contact.into()), ..acme() }, "e-mail address");
        }
    }
}
