//! What people made of the look of the pages, where the pages have a place for it: colours and
//! fonts of the global styles, the parts `header` and `footer`, the menu, and widgets.
//!
//! **Markup is cleaned here as if nobody were trusted with it**, because it is part of every page,
//! those with a password to type included. What the site makes of blocks itself is put in after
//! that. Nothing of it is a script, and no style is more than a colour or a family of fonts.

mod looks;
mod markup;
mod sidebars;

use db::filter::{Direction, Page};
use frame::Call;
use frame::appearance::{STYLES_KIND, active_stylesheet, styles_slug};
use frame::pages::{THEME_OPTION, Theme};
use serde_json::{Map, Value, json};
use site_rows::post::{self, PostFilter, PostOrder, PostRow};
use types::Result;

use self::markup::Markup;
use super::template::{self, THEME};
use super::theme;
use crate::posts::first_menu;
use crate::posts::kind::{NAVIGATION, TEMPLATE_PART};
use crate::posts::status::PUBLISH;

/// Styles, parts and menus that are looked at.
const ROWS_MAX: i64 = 200;
const HEADER: &str = "header";
const FOOTER: &str = "footer";

/// What all pages show of it, as HTML; empty where nobody made anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dress {
    /// Instead of the site's name.
    pub header: String,
    /// Links beside the header.
    pub menu: String,
    /// Instead of the site's name at the end.
    pub footer: String,
    pub widgets: String,
}

/// How the pages look, and what they show, by what is stored.
#[derive(Debug)]
pub(crate) struct Dressed {
    /// Nothing where they look as usual.
    pub(crate) theme: Option<Theme>,
    pub(crate) dress: Dress,
    /// By the names of the palette.
    pub(super) colours: Map<String, Value>,
    /// Families of texts and headings, where somebody chose them.
    pub(super) fonts: Value,
}

pub(crate) fn read(call: &mut Call<'_>) -> Result<Dressed> {
    let stylesheet = active_stylesheet(call.options());
    let wanted = PostFilter {
        kinds: [STYLES_KIND, TEMPLATE_PART.name, NAVIGATION.name].map(str::to_owned).to_vec(),
        statuses: vec![PUBLISH.to_owned()],
        order: PostOrder::Date,
        direction: Direction::Descending,
        page: Page { offset: 0, limit: ROWS_MAX },
        ..PostFilter::default()
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    let slug = styles_slug(&stylesheet);
    let styles = rows.iter().find(|row| row.kind == STYLES_KIND && row.slug == slug);
    let changed: Value =
        styles.and_then(|row| serde_json::from_str(&row.content).ok()).unwrap_or_default();
    let option = call.options().get(THEME_OPTION);
    let of_theme = theme::json(call.options());
    let look = looks::changed(&option, &of_theme, &changed);

    let markup = Markup::new(menus(&rows));
    let part = |slug: &str| {
        let mut parts = rows.iter().filter(|row| row.kind == TEMPLATE_PART.name);
        parts.find(|row| row.slug == slug && template::meta(row, THEME) == stylesheet)
    };
    let mut dress = Dress::default();
    if let Some(row) = part(HEADER) {
        dress.header = markup.shown(call, &row.content)?;
    }
    if let Some(row) = part(FOOTER) {
        dress.footer = markup.shown(call, &row.content)?;
    }
    // The menu that lists all pages is only the beginning; the pages have links of their own.
    let menu = markup.menus.first().filter(|row| !is_first(row));
    if let Some(row) = menu.filter(|_| dress.header.is_empty()) {
        dress.menu = markup.menu(call, row)?;
    }
    dress.widgets = sidebars::shown(call, &markup)?;
    Ok(Dressed {
        theme: Theme::read(&look),
        dress,
        colours: looks::colours(&look, &of_theme),
        fonts: look.get("fonts").cloned().unwrap_or_else(|| json!({})),
    })
}

/// The menus, the latest first, and behind those that somebody made the one that a site begins
/// with.
fn menus(rows: &[PostRow]) -> Vec<&PostRow> {
    let mut menus: Vec<&PostRow> = rows.iter().filter(|row| row.kind == NAVIGATION.name).collect();
    menus.sort_by_key(|row| is_first(row));
    menus
}

fn is_first(row: &PostRow) -> bool {
    row.content.trim() == first_menu::CONTENT
}
