//! Which theme the site has, and what people changed about its styles.
//!
//! The pages have a look of their own; a theme that is installed and active changes its colours and
//! texts ([`crate::pages`]). To clients the look is a theme like others, and those that are
//! installed are its children.

use db::Conn;
use serde_json::json;
use site_rows::post::{self, PostRow};
use types::{Result, Timestamp};

use crate::Options;
use crate::compatible;
use crate::dates::Moment;
use crate::pages::THEME_OPTION;

/// The name by which people know the look of the pages.
pub const OWN_NAME: &str = "Boardwalk";
pub const OWN_DESCRIPTION: &str =
    "The look that the pages of the site have by themselves: quick, readable, light and dark.";
/// The kind of content that holds what people changed about the styles of a theme.
pub const STYLES_KIND: &str = "wp_global_styles";

/// The name of the theme whose templates and styles hold now.
pub fn active_stylesheet(options: &Options) -> String {
    let active = options.get(THEME_OPTION);
    let slug = active.get("slug").and_then(|slug| slug.as_str());
    slug.unwrap_or(compatible::STYLESHEET).to_owned()
}

/// The title of the active theme.
pub fn active_name(options: &Options) -> String {
    let active = options.get(THEME_OPTION);
    active.get("name").and_then(|name| name.as_str()).unwrap_or(OWN_NAME).to_owned()
}

/// The slug of what people changed about the styles of a theme.
pub fn styles_slug(stylesheet: &str) -> String {
    format!("wp-global-styles-{stylesheet}")
}

/// What people changed about the styles of a theme. **Made when somebody first looks for it**, so
/// that clients have a number under which to save.
pub fn styles_of(
    conn: &mut dyn Conn,
    options: &Options,
    now: Timestamp,
    stylesheet: &str,
) -> Result<PostRow> {
    let slug = styles_slug(stylesheet);
    if let Some(row) = post::find_by_slug(conn, STYLES_KIND, &slug)? {
        return Ok(row);
    }
    let now = Moment::at(options, now);
    let mut row = PostRow {
        kind: String::from(STYLES_KIND),
        status: String::from("publish"),
        slug,
        title: String::from("Custom Styles"),
        content: json!({ "styles": {}, "settings": {} }).to_string(),
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        date: now.local,
        date_gmt: Some(now.gmt),
        modified: now.local,
        modified_gmt: now.gmt,
        meta: String::from("{}"),
        ..PostRow::default()
    };
    row.post_id = post::insert(conn, &row)?;
    Ok(row)
}
