//! The providers whose markup is shown as it comes, and where each answers.
//!
//! The addresses are public facts of the services. **What is fetched is always an endpoint of this
//! table**, never the address that a user gave, so a name below a listed domain may belong to
//! anybody.

use url::{Host, Url};

use super::endpoint::Endpoint;

struct Provider {
    /// Each stands for itself and every name below it.
    domains: &'static [&'static str],
    /// Of the address, in lower case; `*` is any text.
    paths: &'static [&'static str],
    /// May hold `{format}`.
    endpoint: &'static str,
}

/// The endpoint for an address, if its host is a trusted provider's.
pub fn find(url: &Url) -> Option<Endpoint> {
    let Some(Host::Domain(host)) = url.host() else {
        return None;
    };
    let path = url.path().to_ascii_lowercase();
    let is_at = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
    };
    let provider = PROVIDERS.iter().find(|provider| {
        provider.domains.iter().any(is_at)
            && provider.paths.iter().any(|pattern| path_fits(pattern, &path))
    })?;
    Some(Endpoint { template: provider.endpoint.to_owned(), is_trusted: true })
}

fn path_fits(pattern: &str, path: &str) -> bool {
    let Some((first, others)) = pattern.split_once('*') else {
        return pattern == path;
    };
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = others.rsplit_once('*').unwrap_or(("", others));
    for piece in middle.split('*') {
        let Some((_, after)) = rest.split_once(piece) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

const fn provider(
    domains: &'static [&'static str],
    paths: &'static [&'static str],
    endpoint: &'static str,
) -> Provider {
    Provider { domains, paths, endpoint }
}

const ANY: &[&str] = &["/*"];

static PROVIDERS: &[Provider] = &[
    provider(
        &["youtube.com"],
        &["/watch", "/playlist", "/shorts/*", "/live/*"],
        "https://www.youtube.com/oembed",
    ),
    provider(&["youtu.be"], ANY, "https://www.youtube.com/oembed"),
    provider(&["vimeo.com"], ANY, "https://vimeo.com/api/oembed.{format}"),
    provider(&["dailymotion.com", "dai.ly"], ANY, "https://www.dailymotion.com/services/oembed"),
    provider(&["flickr.com", "flic.kr"], ANY, "https://www.flickr.com/services/oembed/"),
    provider(&["smugmug.com"], ANY, "https://api.smugmug.com/services/oembed/"),
    provider(&["scribd.com"], &["/doc/*", "/document/*"], "https://www.scribd.com/services/oembed"),
    provider(&["wordpress.tv"], ANY, "https://wordpress.tv/oembed/"),
    provider(
        &["crowdsignal.net", "polldaddy.com", "poll.fm", "survey.fm"],
        ANY,
        "https://api.crowdsignal.com/oembed",
    ),
    provider(&["twitter.com", "x.com"], ANY, "https://publish.twitter.com/oembed"),
    provider(&["soundcloud.com"], ANY, "https://soundcloud.com/oembed"),
    provider(&["open.spotify.com", "play.spotify.com"], ANY, "https://open.spotify.com/oembed"),
    provider(&["imgur.com"], ANY, "https://api.imgur.com/oembed"),
    provider(&["issuu.com"], &["/*/docs/*"], "https://issuu.com/oembed"),
    provider(&["mixcloud.com"], ANY, "https://www.mixcloud.com/oembed/"),
    provider(&["ted.com"], &["/talks/*"], "https://www.ted.com/services/v1/oembed.{format}"),
    provider(&["animoto.com", "video214.com"], &["/play/*"], "https://animoto.com/oembeds/create"),
    provider(&["tumblr.com"], ANY, "https://www.tumblr.com/oembed/1.0"),
    provider(&["kickstarter.com"], &["/projects/*"], "https://www.kickstarter.com/services/oembed"),
    provider(&["kck.st"], ANY, "https://www.kickstarter.com/services/oembed"),
    provider(&["cloudup.com"], ANY, "https://cloudup.com/oembed"),
    provider(&["reverbnation.com"], ANY, "https://www.reverbnation.com/oembed"),
    // VideoPress wants to know which service asks.
    provider(
        &["videopress.com"],
        &["/v/*"],
        "https://public-api.wordpress.com/oembed/?for=boardwalk",
    ),
    provider(&["reddit.com"], &["/r/*/comments/*"], "https://www.reddit.com/oembed"),
    provider(&["speakerdeck.com"], ANY, "https://speakerdeck.com/oembed.{format}"),
    provider(
        &["amazon.com", "amazon.com.mx", "amazon.com.br", "amazon.ca", "a.co", "amzn.to"],
        ANY,
        "https://read.amazon.com/kp/api/oembed",
    ),
    provider(
        &[
            "amazon.co.uk",
            "amazon.de",
            "amazon.fr",
            "amazon.it",
            "amazon.es",
            "amazon.nl",
            "amzn.eu",
        ],
        ANY,
        "https://read.amazon.co.uk/kp/api/oembed",
    ),
    provider(&["amazon.in", "amzn.in"], ANY, "https://read.amazon.in/kp/api/oembed"),
    provider(
        &["amazon.co.jp", "amazon.com.au", "amzn.asia"],
        ANY,
        "https://read.amazon.com.au/kp/api/oembed",
    ),
    provider(&["amazon.cn", "z.cn"], ANY, "https://read.amazon.cn/kp/api/oembed"),
    provider(
        &["someecards.com"],
        &["/*-cards/*", "/usercards/viewcard/*"],
        "https://www.someecards.com/v2/oembed/",
    ),
    provider(&["some.ly"], ANY, "https://www.someecards.com/v2/oembed/"),
    provider(&["tiktok.com"], &["/*/video/*", "/@*"], "https://www.tiktok.com/oembed"),
    provider(
        &["pinterest.com", "pinterest.com.au", "pinterest.com.mx"],
        ANY,
        "https://www.pinterest.com/oembed.json",
    ),
    provider(&["wolframcloud.com"], &["/obj/*"], "https://www.wolframcloud.com/oembed"),
    provider(&["pca.st"], ANY, "https://pca.st/oembed.json"),
    provider(
        &["anghami.com"],
        &["/song/*", "/album/*", "/playlist/*", "/artist/*", "/podcast/*", "/episode/*"],
        "https://api.anghami.com/rest/v1/oembed.view",
    ),
    provider(&["bsky.app"], &["/profile/*/post/*"], "https://embed.bsky.app/oembed"),
    provider(&["canva.com"], &["/design/*/view*"], "https://www.canva.com/_oembed"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_their_provider() {
        let check = |url: &str, expected: Option<&str>| {
            let found = find(&Url::parse(url).unwrap()).map(|endpoint| endpoint.template);
            assert_eq!(found.as_deref(), expected, "{url}");
        };
        let youtube = Some("https://www.youtube.com/oembed");
        check("https://www.youtube.com/watch?v=abc", youtube);
        check("http://m.youtube.com/shorts/abc", youtube);
        check("https://youtu.be/abc", youtube);
        check("https://www.youtube.com/about", None);
        check("https://notyoutube.com/watch?v=abc", None);
        check("https://youtube.com.evil.example/watch?v=abc", None);
        check("https://youtu.be@evil.example/abc", None);
        check("https://VIMEO.com/1234", Some("https://vimeo.com/api/oembed.{format}"));
        check("https://bsky.app/profile/a.example/post/3k", Some("https://embed.bsky.app/oembed"));
        check("https://bsky.app/profile/a.example", None);
        check("https://www.reddit.com/r/rust/comments/1/x/", Some("https://www.reddit.com/oembed"));
        check("https://www.amazon.de/dp/1", Some("https://read.amazon.co.uk/kp/api/oembed"));
        check("https://example.com/", None);
        check("http://127.0.0.1/watch", None);
    }

    #[test]
    fn every_endpoint_is_an_https_address() {
        for provider in PROVIDERS {
            let endpoint = Url::parse(&provider.endpoint.replace("{format}", "json")).unwrap();
            assert_eq!(endpoint.scheme(), "https", "{endpoint}");
            for domain in provider.domains {
                assert_eq!(domain.to_ascii_lowercase(), **domain);
            }
            for path in provider.paths {
                assert!(path.starts_with('/') && path.to_ascii_lowercase() == **path, "{path}");
            }
        }
    }

    #[test]
    fn stars_stand_for_any_text() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(path_fits(pattern, path), expected, "{pattern} {path}");
        };
        check("/watch", "/watch", true);
        check("/watch", "/watched", false);
        check("/a/*", "/a/", true);
        check("/a/*", "/b/", false);
        check("/*/b/*", "/x/y/b/z", true);
        check("/*/b", "/x/b", true);
        check("/*/b", "/x/b/b", true);
        check("/*/b", "/x/b/c", false);
        check("/*/b/*/c", "/x/b/y/c", true);
        check("/*/b/*/c", "/x/b/c", false);
    }
}
