//! The options that every site has; the settings in the order in which the interface lists them.

use contract::rest::Schema;

use super::definition::{Definition, Kind, option, setting};
use crate::pages::THEME_OPTION;

/// Lists what a new site began with; null until then.
pub(crate) const FIRST_CONTENT_OPTION: &str = "boardwalk_first_content";

pub(super) const DEFINITIONS: &[Definition] = &[
    setting("blogname", Kind::Text, r#""Boardwalk""#, "title", || {
        Schema::text().about("Site name.")
    }),
    setting("blogdescription", Kind::Text, r#""""#, "description", || {
        Schema::text().about("Site tagline.")
    }),
    setting("siteurl", Kind::Text, r#""""#, "url", || {
        Schema::text().format("uri").about("Site URL.")
    }),
    setting("admin_email", Kind::Text, r#""""#, "email", || {
        Schema::text().format("email").about("E-mail address of the site's administrator.")
    }),
    setting("timezone_string", Kind::Text, r#""""#, "timezone", || {
        Schema::text().about("A city in the same time zone, such as Europe/Rome.")
    }),
    setting("date_format", Kind::Text, r#""F j, Y""#, "date_format", || {
        Schema::text().about("Date format.")
    }),
    setting("time_format", Kind::Text, r#""g:i a""#, "time_format", || {
        Schema::text().about("Time format.")
    }),
    setting("start_of_week", Kind::Integer, "1", "start_of_week", || {
        Schema::integer().about("First day of the week; 0 is Sunday.")
    }),
    setting("WPLANG", Kind::Text, r#""en_US""#, "language", || {
        Schema::text().about("Language of the site.")
    }),
    setting("use_smilies", Kind::Switch, "true", "use_smilies", || {
        Schema::boolean().about("Whether to convert emoticons to images.")
    }),
    setting("default_category", Kind::Integer, "1", "default_category", || {
        Schema::integer().about("Default post category.")
    }),
    setting("default_post_format", Kind::Text, r#""0""#, "default_post_format", || {
        Schema::text().about("Default post format.")
    }),
    setting("posts_per_page", Kind::Integer, "10", "posts_per_page", || {
        Schema::integer().about("Posts per page.")
    }),
    setting("show_on_front", Kind::Text, r#""posts""#, "show_on_front", || {
        Schema::text().about("What the front page shows: posts or page.")
    }),
    setting("page_on_front", Kind::Integer, "0", "page_on_front", || {
        Schema::integer().about("ID of the front page.")
    }),
    setting("page_for_posts", Kind::Integer, "0", "page_for_posts", || {
        Schema::integer().about("ID of the page that shows the latest posts.")
    }),
    setting("default_ping_status", Kind::Text, r#""open""#, "default_ping_status", || {
        Schema::text()
            .choices(&["open", "closed"])
            .about("Whether new posts accept pingbacks and trackbacks.")
    }),
    setting("default_comment_status", Kind::Text, r#""open""#, "default_comment_status", || {
        Schema::text().choices(&["open", "closed"]).about("Whether new posts accept comments.")
    }),
    setting("site_logo", Kind::Integer, "0", "site_logo", || {
        Schema::integer().about("ID of the site logo.")
    }),
    setting("site_icon", Kind::Integer, "0", "site_icon", || {
        Schema::integer().about("ID of the site icon.")
    }),
    option("home", Kind::Text, r#""""#),
    option("permalink_structure", Kind::Text, r#""/%postname%/""#),
    option("comment_registration", Kind::Switch, "false"),
    option("comment_moderation", Kind::Switch, "false"),
    option("comment_previously_approved", Kind::Switch, "true"),
    option("comment_max_links", Kind::Integer, "2"),
    option("require_name_email", Kind::Switch, "true"),
    option("comments_notify", Kind::Switch, "true"),
    option("moderation_notify", Kind::Switch, "true"),
    option("moderation_keys", Kind::Text, r#""""#),
    option("disallowed_keys", Kind::Text, r#""""#),
    option("gmt_offset", Kind::Decimal, "0"),
    option("using_application_passwords", Kind::Switch, "false"),
    option(THEME_OPTION, Kind::Json, "null"),
    option(FIRST_CONTENT_OPTION, Kind::Json, "null"),
];
