//! Stored markup as plain text, for titles and summaries.

use contract::rest::clean;
use site_rows::post::PostRow;

use crate::{oembed, posts};

/// Markup without its tags, with its references resolved, on one line.
pub fn plain(html: &str) -> String {
    oembed::decoded(&clean::text_field(html))
}

/// A title as pages and feeds show it: of what has a password it says so.
pub fn shown_title(title: String, is_protected: bool) -> String {
    if is_protected { format!("Protected: {title}") } else { title }
}

/// What a post is about. What a password protects is not told.
pub(super) fn summary(row: &PostRow) -> String {
    oembed::decoded(&posts::shown_summary(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        for (html, expected) in [
            ("Fish &amp; <em>chips</em>", "Fish & chips"),
            ("1 &lt; 2 <script>alert(1)</script>", "1 < 2"),
            ("a &#8211; b &hellip;\n&nope; <b", "a – b … &nope; <b"),
            ("", ""),
        ] {
            assert_eq!(plain(html), expected, "{html}");
        }
    }
}
