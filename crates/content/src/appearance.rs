//! How the site looks, for those who edit it: templates and their parts, styles, blocks and
//! patterns, icons, fonts, widgets, and what the editor asks for beside them.
//!
//! [`theme`] holds the files of the site's own look; what people change about them is content of
//! kinds of its own, with revisions. **What the site does not have is told as nothing**, never made
//! up.

mod blocks;
pub(crate) mod dress;
mod editor;
mod fonts;
mod look;
mod patterns;
mod rules;
mod styles;
mod template;
mod template_write;
mod templates;
mod theme;
mod widgets;

use contract::rest::route::Route;
use frame::{Action, Names};

pub(crate) use self::widgets::WIDGETS;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = templates::routes(names);
    routes.extend(styles::routes(names));
    routes.extend(blocks::routes(names));
    routes.extend(patterns::routes(names));
    routes.extend(fonts::routes(names));
    routes.extend(widgets::routes(names));
    routes.extend(editor::routes(names));
    routes.extend(look::routes(names));
    routes
}
