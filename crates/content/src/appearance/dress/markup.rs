//! Stored blocks as HTML that every page may show: what people wrote is cleaned, what the site
//! makes of blocks is put in its place after that.

use std::cell::Cell;

use frame::Call;
use frame::text::{self, blocks};
use serde_json::Value;
use site_rows::post::PostRow;
use types::{Error, Result};

use crate::appearance::blocks::made;

/// Bytes of stored markup that one page shows; what is beyond is left out. A menu counts as often
/// as it is shown.
const MARKUP_BYTES_MAX: usize = 100 * 1024;
/// Blocks that the site makes for one page.
const MADE_MAX: usize = 20;
/// Menus within what they are shown in.
const DEPTH_MAX: usize = 2;
/// Mark the place of what the site makes; nobody else may use them.
const PLACE: [char; 2] = ['\u{e000}', '\u{e001}'];

/// Shows stored blocks, with the menus that they may name, the latest first.
pub(super) struct Markup<'a> {
    pub(super) menus: Vec<&'a PostRow>,
    bytes_left: Cell<usize>,
    made_left: Cell<usize>,
}

impl<'a> Markup<'a> {
    /// For one page: **what it costs has an end**, however often its parts name each other.
    pub(super) fn new(menus: Vec<&'a PostRow>) -> Self {
        Self { menus, bytes_left: Cell::new(MARKUP_BYTES_MAX), made_left: Cell::new(MADE_MAX) }
    }
}

impl Markup<'_> {
    pub(super) fn shown(&self, call: &mut Call<'_>, content: &str) -> Result<String> {
        self.at_depth(call, content, 0)
    }

    /// A menu as a list of links.
    pub(super) fn menu(&self, call: &mut Call<'_>, row: &PostRow) -> Result<String> {
        let entries = self.at_depth(call, &row.content, 1)?;
        Ok(listed(&entries))
    }

    fn at_depth(&self, call: &mut Call<'_>, content: &str, depth: usize) -> Result<String> {
        let Some(left) = self.bytes_left.get().checked_sub(content.len()) else {
            return Ok(String::new());
        };
        self.bytes_left.set(left);
        let content = content.replace(PLACE, "");
        let (mut pieces, mut failure): (Vec<String>, Option<Error>) = (Vec::new(), None);
        let held = blocks::rendered_with(&content, &mut |name, attributes| {
            let html = match self.made(call, (name, attributes), depth) {
                Ok(html) => html?,
                Err(error) => {
                    failure.get_or_insert(error);
                    return None;
                }
            };
            pieces.push(html);
            Some(format!("{}{}{}", PLACE[0], pieces.len() - 1, PLACE[1]))
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        Ok(filled(&text::clean_shown(&held), &pieces))
    }

    /// What the site makes of a block; nothing for one that is shown as it is stored.
    fn made(
        &self,
        call: &mut Call<'_>,
        (name, attributes): (&str, &Value),
        depth: usize,
    ) -> Result<Option<String>> {
        let Some(left) = self.made_left.get().checked_sub(1) else {
            return Ok(Some(String::new()));
        };
        self.made_left.set(left);
        if name != "navigation" {
            return made(call, name, attributes);
        }
        let number = attributes.get("ref").and_then(Value::as_i64);
        let named = self.menus.iter().find(|row| Some(row.post_id) == number);
        let menu = if number.is_some() { named } else { self.menus.first() };
        let Some(menu) = menu.filter(|_| depth < DEPTH_MAX) else { return Ok(Some(String::new())) };
        let entries = self.at_depth(call, &menu.content, depth + 1)?;
        Ok(Some(format!("<nav aria-label=\"Menu\">{}</nav>", listed(&entries))))
    }
}

/// Entries of a menu as a list, unless they are one.
fn listed(entries: &str) -> String {
    let entries = entries.trim();
    match entries {
        "" => String::new(),
        list if list.starts_with("<ul") => list.to_owned(),
        entries => format!("<ul class=\"own\">{entries}</ul>"),
    }
}

/// The cleaned markup with the pieces in their places; a place within a tag is nobody's.
fn filled(cleaned: &str, pieces: &[String]) -> String {
    let mut filled = String::with_capacity(cleaned.len());
    let mut rest = cleaned;
    while let Some((before, after)) = rest.split_once(PLACE[0]) {
        filled.push_str(before);
        let Some((number, after)) = after.split_once(PLACE[1]) else { return filled };
        let is_within_tag = filled.rfind('<') > filled.rfind('>');
        let piece = number.parse::<usize>().ok().and_then(|number| pieces.get(number));
        filled.push_str(piece.filter(|_| !is_within_tag).map_or("", String::as_str));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_into_their_places_and_never_into_a_tag() {
        let pieces = [String::from("<b>x</b>")];
        for (cleaned, expected) in [
            ("<p>\u{e000}0\u{e001}</p>", "<p><b>x</b></p>"),
            ("<p title=\"\u{e000}0\u{e001}\">y</p>", "<p title=\"\">y</p>"),
            ("a\u{e000}7\u{e001}b", "ab"),
            ("a\u{e000}0", "a"),
        ] {
            assert_eq!(filled(cleaned, &pieces), expected, "{cleaned}");
        }
    }

    #[test]
    fn entries_are_a_list() {
        assert_eq!(listed(" "), "");
        assert_eq!(listed("<li>a</li>"), "<ul class=\"own\"><li>a</li></ul>");
        assert_eq!(listed("<ul class=\"x\"></ul>"), "<ul class=\"x\"></ul>");
    }
}
