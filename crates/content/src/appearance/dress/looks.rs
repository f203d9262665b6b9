//! Colours and fonts of the global styles, in the words in which a theme is kept. **A colour is six
//! hexadecimal digits and a family of fonts is letters**: what is neither, or leads to neither, is
//! left as it was.

use frame::pages::is_colour;
use serde_json::{Map, Value, json};

/// The colours of a page by the slugs of the palette, with the names that a theme has for them.
const COLOURS: &[(&str, &str)] = &[
    ("paper", "paper"),
    ("card", "card"),
    ("ink", "ink"),
    ("muted", "muted"),
    ("line", "line"),
    ("accent", "accent"),
    ("on-accent", "on_accent"),
    ("soft", "soft"),
];
/// Where styles say something about the colour of a page; later ones count more.
const SAID: &[(&str, &[&str])] = &[
    ("accent", &["elements", "button", "color", "background"]),
    ("on_accent", &["elements", "button", "color", "text"]),
    ("accent", &["elements", "link", "color", "text"]),
    ("ink", &["color", "text"]),
    ("paper", &["color", "background"]),
];
const FONTS: &[(&str, &[&str])] = &[
    ("body", &["typography", "fontFamily"]),
    ("heading", &["elements", "heading", "typography", "fontFamily"]),
];
/// How much of the ink is in what lies between ink and paper, in hundredths.
const BETWEEN: &[(&str, u32)] = &[("muted", 68), ("line", 18), ("soft", 6), ("card", 0)];

/// The active theme's option with what people changed about its styles.
pub(super) fn changed(option: &Value, theme: &Value, changes: &Value) -> Value {
    let palette = Palette { lists: [changes, theme].map(|of| at(of, &["settings"])) };
    let mut colours = Map::new();
    for (slug, name) in COLOURS {
        if let Some(colour) = palette.changed(slug) {
            colours.insert((*name).to_owned(), json!(colour));
        }
    }
    for (name, path) in SAID {
        let said = at(changes, &["styles"]).and_then(|styles| at(styles, path)?.as_str());
        if let Some(colour) = said.and_then(|said| palette.colour(said)) {
            colours.insert((*name).to_owned(), json!(colour));
        }
    }
    let mut fonts = Map::new();
    for (name, path) in FONTS {
        let said = at(changes, &["styles"]).and_then(|styles| at(styles, path)?.as_str());
        if let Some(family) = said.and_then(|said| palette.font(said)) {
            fonts.insert((*name).to_owned(), json!(family));
        }
    }
    if colours.is_empty() && fonts.is_empty() {
        return option.clone();
    }
    let mut look = option.as_object().cloned().unwrap_or_default();
    if !colours.is_empty() {
        let own = look.get("colours").and_then(Value::as_object).cloned().unwrap_or_default();
        look.insert(String::from("colours"), Value::Object(whole(&palette, own, colours)));
        // What was chosen holds by day and by night.
        look.remove("dark");
    }
    let known = look.entry("fonts").or_insert_with(|| json!({}));
    if let Some(known) = known.as_object_mut() {
        known.extend(fonts);
    }
    Value::Object(look)
}

/// All colours of the pages by the names of the palette.
pub(super) fn colours(look: &Value, theme: &Value) -> Map<String, Value> {
    let palette = Palette { lists: [None, at(theme, &["settings"])] };
    let mut colours = Map::new();
    for (slug, name) in COLOURS {
        let own = at(look, &["colours", name]).and_then(Value::as_str).and_then(hexadecimal);
        if let Some(colour) = own.or_else(|| palette.usual(slug)) {
            colours.insert((*slug).to_owned(), json!(colour));
        }
    }
    colours
}

/// All colours of a page: chosen ones, those of the theme, and what lies between them, so that a
/// page of chosen paper never has the ink of another.
fn whole(
    palette: &Palette<'_>,
    mut colours: Map<String, Value>,
    chosen: Map<String, Value>,
) -> Map<String, Value> {
    let changes_ground = ["paper", "ink"].iter().any(|name| chosen.contains_key(*name));
    for (slug, name) in COLOURS {
        if !colours.contains_key(*name)
            && let Some(colour) = palette.usual(slug)
        {
            colours.insert((*name).to_owned(), json!(colour));
        }
    }
    colours.extend(chosen.clone());
    let of = |colours: &Map<String, Value>, name: &str| {
        parsed(colours.get(name).and_then(Value::as_str).unwrap_or_default())
    };
    if changes_ground && let (Some(ink), Some(paper)) = (of(&colours, "ink"), of(&colours, "paper"))
    {
        for (name, share) in BETWEEN.iter().filter(|(name, _)| !chosen.contains_key(*name)) {
            colours.insert((*name).to_owned(), json!(mixed(ink, paper, *share)));
        }
    }
    colours
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The settings of what people changed, and those of the theme.
struct Palette<'a> {
    lists: [Option<&'a Value>; 2],
}

impl Palette<'_> {
    /// A member of an entry of a list of presets, which is a list, or lists by their origin.
    fn preset(&self, (path, slug): (&[&str], &str), member: &str, lists: &[usize]) -> Option<&str> {
        let known = lists.iter().filter_map(|index| self.lists.get(*index).copied().flatten());
        for presets in known.filter_map(|settings| at(settings, path)) {
            let of_origin = ["custom", "theme"].iter().filter_map(|origin| presets.get(origin));
            for list in of_origin.chain([presets]).filter_map(Value::as_array) {
                let entry = list.iter().find(|entry| entry["slug"].as_str() == Some(slug));
                if let Some(found) = entry.and_then(|entry| entry.get(member)?.as_str()) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// What people changed about a colour of the palette.
    fn changed(&self, slug: &str) -> Option<String> {
        self.preset((&["color", "palette"], slug), "color", &[0]).and_then(hexadecimal)
    }

    /// What the theme says about it.
    fn usual(&self, slug: &str) -> Option<String> {
        self.preset((&["color", "palette"], slug), "color", &[1]).and_then(hexadecimal)
    }

    fn colour(&self, said: &str) -> Option<String> {
        match reference(said, "color") {
            Some(slug) => {
                let preset = (&["color", "palette"][..], slug);
                self.preset(preset, "color", &[0, 1]).and_then(hexadecimal)
            }
            None => hexadecimal(said),
        }
    }

    fn font(&self, said: &str) -> Option<String> {
        let family = match reference(said, "font-family") {
            Some(slug) => {
                let preset = (&["typography", "fontFamilies"][..], slug);
                self.preset(preset, "fontFamily", &[0, 1])?
            }
            None => said,
        };
        // Names need no quotes.
        let family = family.replace(['"', '\''], "");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " ,-".contains(c);
        let family = family.trim();
        (!family.is_empty() && family.len() <= 200 && family.chars().all(is_plain))
            .then(|| family.to_owned())
    }
}

/// The slug in `var(--wp--preset--color--ink)` or `var:preset|color|ink`.
fn reference<'t>(said: &'t str, kind: &str) -> Option<&'t str> {
    let said = said.trim();
    let in_sheet = || {
        let name = said.strip_prefix("var(--wp--preset--")?.strip_suffix(')')?;
        name.strip_prefix(kind)?.strip_prefix("--")
    };
    let in_styles = || said.strip_prefix("var:preset|")?.strip_prefix(kind)?.strip_prefix('|');
    in_sheet().or_else(in_styles)
}

/// A colour as six digits; three stand for six.
fn hexadecimal(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let short = text.strip_prefix('#').filter(|digits| digits.len() == 3 && digits.is_ascii());
    let long = match short {
        Some(digits) => format!("#{}", digits.chars().flat_map(|c| [c, c]).collect::<String>()),
        None => text,
    };
    is_colour(&long).then_some(long)
}

fn parsed(colour: &str) -> Option<[u32; 3]> {
    let digits = Some(colour).filter(|colour| is_colour(colour))?.strip_prefix('#')?;
    let part = |from: usize| u32::from_str_radix(digits.get(from..from + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

fn mixed(ink: [u32; 3], paper: [u32; 3], share: u32) -> String {
    let parts =
        ink.iter().zip(paper).map(|(ink, paper)| (ink * share + paper * (100 - share)) / 100);
    let digits: Vec<String> = parts.map(|part| format!("{part:02x}")).collect();
    format!("#{}", digits.concat())
}

#[cfg(test)]
mod tests {
    use frame::pages::Theme;

    use super::*;

    fn theme() -> Value {
        json!({ "settings": {
            "color": { "palette": [
                { "slug": "paper", "color": "#faf9f6" }, { "slug": "ink", "color": "#1c2529" },
                { "slug": "accent", "color": "#0b5f70" },
            ] },
            "typography": { "fontFamilies": [
                { "slug": "code", "fontFamily": "Menlo, \"Liberation Mono\", monospace" },
            ] },
        } })
    }

    fn style(changes: &Value) -> String {
        let look = changed(&Value::Null, &theme(), changes);
        Theme::read(&look).map(|theme| theme.style).unwrap_or_default()
    }

    #[test]
    fn colours_and_fonts_become_those_of_the_pages() {
        let style = style(&json!({
            "styles": {
                "color": { "background": "#000", "text": "var:preset|color|cloud" },
                "elements": { "heading": { "typography": {
                    "fontFamily": "var(--wp--preset--font-family--code)" } } },
            },
            "settings": { "color": { "palette": { "custom": [
                { "slug": "cloud", "color": "#EEEEEE" }] } } },
        }));
        for part in [
            "color-scheme:dark;",
            "--paper:#000000;",
            "--ink:#eeeeee;",
            "--accent:#0b5f70;",
            "--card:#000000;",
            "h1,h2,h3,h4,.brand{font-family:Menlo, Liberation Mono, monospace}",
        ] {
            assert!(style.contains(part), "{part} in {style}");
        }
    }

    #[test]
    fn a_changed_palette_changes_the_pages() {
        let palette = json!([{ "slug": "accent", "color": "#abcdef" }]);
        let style = style(&json!({ "settings": { "color": { "palette": { "theme": palette } } } }));
        assert!(style.contains("--accent:#abcdef;") && style.contains("--paper:#faf9f6;"));
    }

    #[test]
    fn what_is_no_colour_and_no_font_changes_nothing() {
        for hostile in [
            "red;}</style><script>alert(1)</script>",
            "#12345g",
            "url(https://evil.example/)",
            "var(--wp--preset--color--nope)",
            "expression(1)",
            "",
        ] {
            let changes = json!({ "styles": {
                "color": { "background": hostile, "text": hostile },
                "typography": { "fontFamily": format!("{hostile};") },
                "css": format!("body{{}} {hostile}"),
            }, "settings": { "color": { "palette": { "theme": [
                { "slug": "paper", "color": hostile }] } } } });
            assert_eq!(style(&changes), "", "{hostile}");
        }
        assert_eq!(changed(&Value::Null, &theme(), &Value::Null), Value::Null);
    }
}
