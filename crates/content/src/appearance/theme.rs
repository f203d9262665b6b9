//! The files of the site's own look: templates, their parts, settings and styles. An installed
//! theme changes the colours among them and leaves the rest.

use std::sync::LazyLock;

use frame::Options;
use frame::pages::{THEME_OPTION, is_colour};
use serde_json::{Value, json};

use crate::posts::kind::{Kind, TEMPLATE, TEMPLATE_PART};

/// A template or a part of one, as the theme brings it.
#[derive(Debug)]
pub(crate) struct TemplateFile {
    pub(crate) slug: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) content: &'static str,
    /// Where a part belongs; empty for templates.
    pub(crate) area: &'static str,
    /// The kinds of content that may choose it, for a template that is no rule's.
    pub(crate) post_types: &'static [&'static str],
}

impl TemplateFile {
    /// Chosen for single items, and never by a rule.
    pub(crate) fn is_custom(&self) -> bool {
        !self.post_types.is_empty()
    }
}

macro_rules! template {
    ($slug:literal, $title:literal, $description:literal) => {
        template!($slug, $title, $description, &[])
    };
    ($slug:literal, $title:literal, $description:literal, $post_types:expr) => {
        TemplateFile {
            slug: $slug,
            title: $title,
            description: $description,
            content: include_str!(concat!("../../theme/templates/", $slug, ".html")),
            area: "",
            post_types: $post_types,
        }
    };
}

macro_rules! part {
    ($slug:literal, $title:literal) => {
        TemplateFile {
            slug: $slug,
            title: $title,
            description: "",
            content: include_str!(concat!("../../theme/parts/", $slug, ".html")),
            area: $slug,
            post_types: &[],
        }
    };
}

const TEMPLATES: &[TemplateFile] = &[
    template!("home", "Blog Home", "The latest posts."),
    template!("index", "Index", "For whatever has no template of its own."),
    template!("archive", "All Archives", "Posts of a category, a tag, an author or a time."),
    template!("archive-product", "Product Catalog", "The products of the shop."),
    template!("page", "Pages", "Single pages."),
    template!("page-no-title", "Page without a title", "", &["page"]),
    template!("search", "Search Results", "What a search found."),
    template!("single", "Single Posts", "Single posts."),
    template!("single-product", "Single Product", "Single products."),
    template!("404", "Page: 404", "Where no page was found."),
];
const PARTS: &[TemplateFile] = &[part!("header", "Header"), part!("footer", "Footer")];
/// The areas that parts may belong to; other names stand for the last one.
pub(crate) const AREAS: &[&str] = &["header", "footer", "sidebar", "navigation-overlay"];
pub(crate) const NO_AREA: &str = "uncategorized";

/// `theme.json` as it is shipped.
pub(crate) const THEME_JSON: &str = include_str!("../../theme/theme.json");
const VARIATIONS: &[&str] = &[include_str!("../../theme/styles/dark.json")];

static SHIPPED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(THEME_JSON).expect("the theme's settings are JSON"));

/// The files of a kind.
pub(crate) fn files(kind: &Kind) -> &'static [TemplateFile] {
    match kind.name {
        name if name == TEMPLATE.name => TEMPLATES,
        name if name == TEMPLATE_PART.name => PARTS,
        _ => &[],
    }
}

pub(crate) fn file(kind: &Kind, slug: &str) -> Option<&'static TemplateFile> {
    files(kind).iter().find(|file| file.slug == slug)
}

/// Settings and styles of the theme that is active, as `theme.json` has them.
pub(crate) fn json(options: &Options) -> Value {
    let mut theme = SHIPPED.clone();
    let colours = options.get(THEME_OPTION);
    let palette = theme.pointer_mut("/settings/color/palette").and_then(Value::as_array_mut);
    for entry in palette.into_iter().flatten() {
        let slug = entry.get("slug").and_then(Value::as_str).unwrap_or_default().replace('-', "_");
        let chosen = colours.get("colours").and_then(|colours| colours.get(&slug)?.as_str());
        if let (Some(chosen), Some(colour)) =
            (chosen.filter(|colour| is_colour(colour)), entry.get_mut("color"))
        {
            *colour = json!(chosen);
        }
    }
    theme
}

/// Other styles that the theme offers.
pub(crate) fn variations() -> Vec<Value> {
    let read = |text: &&str| serde_json::from_str(text).expect("a variation of styles is JSON");
    VARIATIONS.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_name_the_parts_and_templates_that_there_are() {
        let names = |list: &str| -> Vec<String> {
            let entries = SHIPPED.get(list).and_then(Value::as_array).unwrap();
            entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names("templateParts"), PARTS.iter().map(|file| file.slug).collect::<Vec<_>>());
        let custom = TEMPLATES.iter().filter(|file| file.is_custom());
        assert_eq!(names("customTemplates"), custom.map(|file| file.slug).collect::<Vec<_>>());
    }

    #[test]
    fn the_colours_are_those_of_the_style_sheet() {
        let (day, night) = frame::pages::STYLE.split_once("@media (prefers-color-scheme").unwrap();
        for (theme, sheet) in [(&*SHIPPED, day), (&variations()[0], night)] {
            let palette = theme.pointer("/settings/color/palette").and_then(Value::as_array);
            for entry in palette.unwrap() {
                let (slug, colour) = (entry["slug"].as_str().unwrap(), &entry["color"]);
                let colour = colour.as_str().unwrap().replace("#ffffff", "#fff");
                assert!(sheet.contains(&format!("--{slug}:{colour}")), "{slug} {colour}");
            }
        }
    }
}
