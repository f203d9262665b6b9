//! What the operations of themes answer, for the document of the interface.

use contract::rest::Schema;

use crate::package::manifest::Colours;

fn text(about: &str) -> Schema {
    Schema::text().about(about)
}

/// What became of an archive that was sent.
pub(super) fn uploaded() -> Schema {
    Schema::object([
        ("status", text("Result of the request.").choices(&["success", "error"])),
        ("message", text("Result message.")),
        ("theme", text("Theme slug, if it was installed.")),
    ])
}

pub(super) fn installed() -> Schema {
    Schema::object([
        ("slug", text("Theme slug.")),
        ("name", text("Name of the theme.")),
        ("status", text("Result of the request.")),
    ])
}

pub(super) fn activated() -> Schema {
    Schema::object([
        ("slug", text("Theme slug.")),
        ("name", text("Name of the theme.")),
        ("status", text("Result of the request.")),
        ("warnings", warnings()),
    ])
}

pub(super) fn deactivated() -> Schema {
    Schema::object([("status", text("Result of the request."))])
}

pub(super) fn removed() -> Schema {
    Schema::object([
        ("deleted", Schema::boolean().about("Always true.")),
        ("slug", text("Theme slug.")),
    ])
}

/// A theme that is offered or installed.
pub(super) fn theme() -> Schema {
    let statuses = &["available", "installed", "active"];
    Schema::object([
        ("slug", text("Theme slug.")),
        ("name", text("Name of the theme.")),
        ("description", text("What the theme looks like.")),
        ("author", text("Author of the theme.")),
        ("version", text("Version of the theme.")),
        ("status", text("Whether the theme is in use.").choices(statuses)),
        ("colours", colours("Colours.")),
        ("warnings", warnings()),
    ])
}

/// What pages need to know of the active theme; null for none.
pub(super) fn tokens() -> Schema {
    let fonts =
        Schema::object([("body", text("Fonts of text.")), ("heading", text("Fonts of headings."))]);
    let texts = Schema::object([
        ("footer", text("Text at the end of pages.")),
        ("welcome", text("Text at the beginning of the front page.")),
    ]);
    Schema::object([
        ("slug", text("Theme slug.")),
        ("name", text("Name of the theme.")),
        ("colours", colours("Colours.")),
        ("dark", colours("Colours in the dark.").or_null()),
        ("fonts", fonts.about("Fonts.")),
        ("logo", text("Logo.").or_null()),
        ("texts", texts.about("Texts.")),
    ])
    .or_null()
}

fn colours(about: &str) -> Schema {
    let usual = Colours::default();
    let colour = |(name, _): (&'static str, &str)| (name, Schema::text());
    Schema::object(usual.list().into_iter().map(colour)).about(about)
}

fn warnings() -> Schema {
    Schema::list(Schema::text()).about("Colours that are hard to tell apart.")
}
