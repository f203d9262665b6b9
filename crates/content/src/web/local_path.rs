//! Where a browser goes after a form: **never away from this site**, whatever the request says.

use url::Url;

/// Bytes of such an address at most.
const LENGTH_MAX: usize = 8 * 1024;

/// Path and query of an address on this site, as a browser would read it; nothing for any other
/// address. `home` is the site's address without a slash at its end.
pub fn local_path(home: &str, text: &str) -> Option<String> {
    let path = match text.strip_prefix(home) {
        Some("") => "/",
        Some(rest) => rest,
        None => text,
    };
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    let is_path = path.starts_with('/') && !path.starts_with("//");
    if !is_path || text.len() > LENGTH_MAX || text.chars().any(is_odd) {
        return None;
    }
    let base = Url::parse(home).ok()?;
    let target = base.join(path).ok()?;
    if target.origin() != base.origin() || target.path().starts_with("//") {
        return None;
    }
    let query = target.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", target.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_away() {
        let home = "https://shop.example";
        for (text, expected) in [
            ("/", "/"),
            ("/docs/?q=a%20b&c#d", "/docs/?q=a%20b&c"),
            ("https://shop.example", "/"),
            ("https://shop.example/a", "/a"),
            ("/a/../b", "/b"),
            ("/é?ü", "/%C3%A9?%C3%BC"),
            ("/?next=https://other.example/", "/?next=https://other.example/"),
            ("/@other.example", "/@other.example"),
            ("/a;b=c", "/a;b=c"),
        ] {
            assert_eq!(local_path(home, text).as_deref(), Some(expected), "{text}");
        }
        let long = format!("/{}", "a".repeat(LENGTH_MAX));
        for text in [
            "",
            "a",
            "//other.example",
            "///other.example",
            "/\\other.example",
            "\\\\other.example",
            "/\t/other.example",
            "/\n/other.example",
            "\u{1}//other.example",
            " /a",
            "/a b",
            "/.//other.example",
            "/a/..//other.example",
            "/%2e//other.example",
            "https://other.example/",
            "https:other.example",
            "https:/other.example",
            "http://shop.example/",
            "https://shop.example@other.example/",
            "https://shop.example.other.example/",
            "https://shop.example:8443/",
            "https://shop.example//other.example",
            "https://shop.example\\@other.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "?a",
            &long,
        ] {
            assert_eq!(local_path(home, text), None, "{text:?}");
        }
    }
}
