//! The types of widgets: what each is told, the form for it, and what it shows.

use std::fmt::Write as _;

use frame::text;
use serde_json::{Map, Value, json};

use frame::text::escaped;

/// How a setting is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Line,
    Lines,
    Flag,
    Number,
}

/// A type of widget.
#[derive(Debug)]
pub(super) struct WidgetType {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) fields: &'static [(&'static str, Field)],
}

const TITLE: (&str, Field) = ("title", Field::Line);

macro_rules! widget {
    ($id:literal, $name:literal, $description:literal, [$($field:expr),* $(,)?]) => {
        WidgetType { id: $id, name: $name, description: $description, fields: &[$($field),*] }
    };
}

pub(super) const TYPES: &[WidgetType] = &[
    widget!(
        "archives",
        "Archives",
        "The months in which there are posts.",
        [TITLE, ("count", Field::Flag), ("dropdown", Field::Flag),]
    ),
    widget!("block", "Block", "A block of the editor.", [("content", Field::Lines)]),
    widget!("calendar", "Calendar", "The days of a month.", [TITLE]),
    widget!(
        "categories",
        "Categories",
        "The categories of posts.",
        [TITLE, ("count", Field::Flag), ("hierarchical", Field::Flag), ("dropdown", Field::Flag),]
    ),
    widget!(
        "custom_html",
        "Custom HTML",
        "HTML as it is written.",
        [TITLE, ("content", Field::Lines),]
    ),
    widget!("meta", "Meta", "Links to sign in and to feeds.", [TITLE]),
    widget!("nav_menu", "Navigation Menu", "A menu.", [TITLE, ("nav_menu", Field::Number)]),
    widget!(
        "pages",
        "Pages",
        "The pages of the site.",
        [TITLE, ("sortby", Field::Line), ("exclude", Field::Line),]
    ),
    widget!(
        "recent-comments",
        "Recent Comments",
        "The latest comments.",
        [TITLE, ("number", Field::Number),]
    ),
    widget!(
        "recent-posts",
        "Recent Posts",
        "The latest posts.",
        [TITLE, ("number", Field::Number), ("show_date", Field::Flag),]
    ),
    widget!(
        "rss",
        "RSS",
        "What another site publishes.",
        [TITLE, ("url", Field::Line), ("items", Field::Number),]
    ),
    widget!("search", "Search", "A field to search the site.", [TITLE]),
    widget!(
        "tag_cloud",
        "Tag Cloud",
        "The tags that are used most.",
        [TITLE, ("count", Field::Flag), ("taxonomy", Field::Line),]
    ),
    widget!("text", "Text", "Any text.", [TITLE, ("text", Field::Lines), ("filter", Field::Flag),]),
];

pub(super) fn find(id: &str) -> Option<&'static WidgetType> {
    TYPES.iter().find(|widget| widget.id == id)
}

impl WidgetType {
    pub(super) fn class(&self) -> String {
        format!("widget_{}", self.id.replace('-', "_"))
    }

    /// The settings that there are, each of its kind, with usual ones for what is left out.
    pub(super) fn accept(&self, given: &Map<String, Value>, trusted: bool) -> Map<String, Value> {
        let accept = |(name, field): &(&str, Field)| {
            let value = given.get(*name);
            let text = || {
                let text = value.and_then(contract::rest::loose::scalar_text).unwrap_or_default();
                let text = text.replace('\0', "");
                if trusted { text } else { text::clean_content(&text) }
            };
            let accepted = match field {
                Field::Line => json!(contract::rest::clean::text_field(&text())),
                Field::Lines => json!(text()),
                Field::Flag => json!(value.is_some_and(contract::rest::loose::to_bool)),
                Field::Number => json!(value.map_or(0, contract::rest::loose::to_int)),
            };
            ((*name).to_owned(), accepted)
        };
        self.fields.iter().map(accept).collect()
    }

    /// The form in which people change the settings of the widget with this number.
    pub(super) fn form(&self, number: i64, settings: &Map<String, Value>) -> String {
        let id = self.id;
        // The text widget is edited elsewhere, and its form only keeps what was entered.
        let hidden = id == "text";
        let mut fields: Vec<(&str, Field)> = self.fields.to_vec();
        if hidden {
            fields.push(("visual", Field::Flag));
        }
        let shown = fields.into_iter().map(|(name, field)| {
            let value = settings.get(name);
            let text = value.and_then(contract::rest::loose::scalar_text).unwrap_or_default();
            let text = escaped(&text);
            let at = format!(
                "id=\"widget-{id}-{number}-{name}\" name=\"widget-{id}[{number}][{name}]\""
            );
            match (hidden, field) {
                (true, Field::Lines) => {
                    format!("<textarea {at} class=\"{name} sync-input\" hidden>{text}</textarea>")
                }
                (true, Field::Flag) => {
                    format!("<input {at} class=\"{name} sync-input\" type=\"hidden\" value=\"on\">")
                }
                (true, _) => {
                    format!(
                        "<input {at} class=\"{name} sync-input\" type=\"hidden\" value=\"{text}\">"
                    )
                }
                (false, Field::Lines) => {
                    format!("<label>{name} <textarea {at}>{text}</textarea></label>")
                }
                (false, Field::Flag) => {
                    let on = value.is_some_and(contract::rest::loose::to_bool);
                    let checked = if on { " checked" } else { "" };
                    format!("<label><input {at} type=\"checkbox\"{checked}> {name}</label>")
                }
                (false, Field::Number) => {
                    format!("<label>{name} <input {at} type=\"number\" value=\"{text}\"></label>")
                }
                (false, Field::Line) => {
                    format!("<label>{name} <input {at} type=\"text\" value=\"{text}\"></label>")
                }
            }
        });
        shown.collect::<Vec<_>>().join("\n\t\t\t")
    }

    /// What the widget shows of its settings.
    pub(super) fn rendered(&self, settings: &Map<String, Value>) -> String {
        let text = |name: &str| settings.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut html = String::new();
        let title = text("title");
        if !title.is_empty() {
            let _ = write!(html, "<h2 class=\"widgettitle\">{}</h2>", escaped(title));
        }
        let content = match self.id {
            "text" if settings.get("filter") == Some(&json!(true)) => {
                text::render::paragraphs(text("text"))
            }
            "text" => text("text").to_owned(),
            "block" => text::render::content(text("content")),
            "custom_html" => text("content").to_owned(),
            _ => String::new(),
        };
        let class = self.class();
        let _ = write!(html, "<div class=\"{class}\">{content}</div>");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_of_their_kinds_and_others_are_left_out() {
        let posts = find("recent-posts").unwrap();
        let given = json!({ "title": "<b>New</b>", "number": "4", "show_date": "on", "evil": 1 });
        let accepted = posts.accept(given.as_object().unwrap(), false);
        let expected = json!({ "title": "New", "number": 4, "show_date": true });
        assert_eq!(Value::Object(accepted), expected);
        let text = find("text").unwrap();
        let given = json!({ "text": "<script>x</script>y" });
        let cleaned = text.accept(given.as_object().unwrap(), false);
        assert!(!cleaned["text"].as_str().unwrap().contains("<script"), "{cleaned:?}");
        let form = posts.form(2, &posts.accept(&Map::new(), true));
        assert!(form.contains("name=\"widget-recent-posts[2][number]\""), "{form}");
    }
}
