//! Where a provider of oEmbed answers, and in which format.

use url::Url;

use super::markup;

/// The two formats of oEmbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Xml,
}

impl Format {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Xml => "xml",
        }
    }
}

/// Where a provider answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// May hold `{format}`.
    pub(super) template: String,
    pub(super) is_trusted: bool,
}

impl Endpoint {
    /// One that a page named for itself.
    pub(super) fn discovered(url: &Url) -> Self {
        Self { template: url.to_string(), is_trusted: false }
    }

    pub fn origin(&self) -> markup::Origin {
        if self.is_trusted { markup::Origin::Trusted } else { markup::Origin::Discovered }
    }

    /// The address to ask, with these parameters in place of its own of the same names.
    pub(super) fn address(&self, format: Format, parameters: &[(&str, &str)]) -> Option<Url> {
        let text = if self.is_trusted {
            self.template.replace("{format}", format.name())
        } else {
            self.template.clone()
        };
        let mut address = Url::parse(&text).ok()?;
        let is_ours = |name: &str| parameters.iter().any(|(other, _)| *other == name);
        let kept: Vec<(String, String)> =
            address.query_pairs().filter(|(name, _)| !is_ours(name)).map(owned).collect();
        address.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(parameters);
        address.set_fragment(None);
        Some(address)
    }
}

fn owned<A: Into<String>, B: Into<String>>((name, value): (A, B)) -> (String, String) {
    (name.into(), value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_our_parameters() {
        let check = |template: &str, is_trusted: bool, expected: &str| {
            let endpoint = Endpoint { template: template.to_owned(), is_trusted };
            let parameters = [("url", "https://a.example/?b&c"), ("format", "xml")];
            let address = endpoint.address(Format::Xml, &parameters).unwrap();
            assert_eq!(address.as_str(), expected);
        };
        let ours = "url=https%3A%2F%2Fa.example%2F%3Fb%26c&format=xml";
        check("https://v.example/o.{format}", true, &format!("https://v.example/o.xml?{ours}"));
        check("https://v.example/o?for=us", true, &format!("https://v.example/o?for=us&{ours}"));
        check(
            "https://d.example/o?url=x&format=json&key=%26#frag",
            false,
            &format!("https://d.example/o?key=%26&{ours}"),
        );
    }
}
