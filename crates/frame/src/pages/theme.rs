//! How the pages look, where an active theme says otherwise than the style sheet.
//!
//! The theme is read from an option that administration writes. **What is no colour, no family of
//! fonts and no picture of its own is left out here again**, since it becomes part of the style
//! sheet.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The option that holds the active theme; null for none.
pub const THEME_OPTION: &str = "boardwalk_theme";
/// The colours by their names in a theme and in the style sheet, each with the one that the style
/// sheet has for the dark.
const COLOURS: &[(&str, &str, &str)] = &[
    ("paper", "--paper", "#11171a"),
    ("card", "--card", "#192125"),
    ("ink", "--ink", "#e5e9e8"),
    ("muted", "--muted", "#9dabaf"),
    ("line", "--line", "#2d393e"),
    ("accent", "--accent", "#7fcbd8"),
    ("on_accent", "--on-accent", "#0b1b1f"),
    ("soft", "--soft", "#1f2a2e"),
];

/// What pages show of the active theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// A style sheet that follows the usual one.
    pub style: String,
    /// A picture as an address of its own.
    pub logo: Option<String>,
    pub footer: String,
    pub welcome: String,
}

impl Theme {
    /// The theme that the option holds, if any.
    pub fn read(option: &Value) -> Option<Self> {
        let theme = option.as_object()?;
        let text = |member: &str, name: &str| {
            let value = theme.get(member).and_then(|member| member.get(name));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut style = root(theme.get("colours"), Set::Day);
        if let Some(dark) = theme.get("dark").filter(|dark| dark.is_object()) {
            let night = root(Some(dark), Set::Night);
            let _ = write!(style, "@media (prefers-color-scheme:dark){{{night}}}");
        }
        for (selector, name) in [("body", "body"), ("h1,h2,h3,h4,.brand", "heading")] {
            let family = text("fonts", name);
            if !family.is_empty() && family.chars().all(is_font) {
                let _ = write!(style, "{selector}{{font-family:{family}}}");
            }
        }
        let logo = theme.get("logo").and_then(Value::as_str);
        let logo = logo.filter(|logo| logo.starts_with("data:image/")).map(str::to_owned);
        Some(Self {
            style,
            logo,
            footer: text("texts", "footer"),
            welcome: text("texts", "welcome"),
        })
    }

    /// The style sheet as a policy names it.
    pub fn source(&self) -> String {
        format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(&self.style)))
    }
}

/// Pixels of the picture above an e-mail's text, unless the site chose others.
const HEADER_IMAGE_WIDTH: i64 = 120;

/// How e-mails look. They bring their colours along, since readers of mail follow no style sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailLook {
    pub paper: String,
    pub card: String,
    pub ink: String,
    pub muted: String,
    pub accent: String,
    pub on_accent: String,
    /// May be empty.
    pub footer: String,
    /// Families of fonts, as a style sheet lists them.
    pub font: String,
    /// Address of the picture above the text; empty without one.
    pub header_image: String,
    /// In pixels.
    pub header_image_width: i64,
    /// `left`, `center` or `right`: where picture and heading stand.
    pub header_alignment: String,
}

impl EmailLook {
    /// As the theme in the option says, and as usual where it says nothing.
    pub fn read(option: &Value) -> Self {
        let colour = |name: &str, usual: &str| {
            let told = option.get("colours").and_then(|colours| colours.get(name)?.as_str());
            told.filter(|colour| is_colour(colour)).unwrap_or(usual).to_owned()
        };
        let footer = option.get("texts").and_then(|texts| texts.get("footer")?.as_str());
        Self {
            paper: colour("paper", "#f4f6f7"),
            card: colour("card", "#ffffff"),
            ink: colour("ink", "#1b2a30"),
            muted: colour("muted", "#4a5b62"),
            accent: colour("accent", "#0b6f82"),
            on_accent: colour("on_accent", "#ffffff"),
            footer: footer.unwrap_or_default().to_owned(),
            font: String::from("system-ui,sans-serif"),
            header_image: String::new(),
            header_image_width: HEADER_IMAGE_WIDTH,
            header_alignment: String::from("left"),
        }
    }

    /// Takes another accent, with the text upon it that can be read best.
    pub fn set_accent(&mut self, colour: String) {
        self.on_accent = String::from(if is_dark(&colour) { "#ffffff" } else { "#000000" });
        self.accent = colour;
    }
}

/// What a site says about all of its e-mails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailStyle {
    pub look: EmailLook,
    /// The name that readers see instead of the operator's; may be empty.
    pub from_name: String,
    /// Where answers go; empty for the address that sends.
    pub reply_to: String,
}

impl EmailStyle {
    /// From the operator's address.
    pub fn new(look: EmailLook) -> Self {
        Self { look, from_name: String::new(), reply_to: String::new() }
    }
}

/// For when a set of colours is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Day,
    /// **What it leaves out is as dark as usual**, never as the theme has it by day: ink of the day
    /// on paper of the night cannot be read.
    Night,
}

/// The rule that sets the colours. What a theme does not name, such as the colour of a warning,
/// follows the scheme; and that is told by the paper, not by what the reader prefers.
fn root(colours: Option<&Value>, set: Set) -> String {
    let of = |name: &str| {
        let colour = colours.and_then(|colours| colours.get(name)).and_then(Value::as_str);
        colour.filter(|colour| is_colour(colour))
    };
    let is_dark = of("paper").map_or(set == Set::Night, is_dark);
    let has_usual = is_dark && set == Set::Night;
    let scheme = if is_dark { "dark" } else { "light" };
    let mut text = format!(":root{{color-scheme:{scheme};");
    for (name, variable, usual) in COLOURS {
        if let Some(colour) = of(name).or(has_usual.then_some(*usual)) {
            let _ = write!(text, "{variable}:{colour};");
        }
    }
    text.push('}');
    text
}

/// Whether white stands out of the colour more than black; green weighs most for the eye.
fn is_dark(colour: &str) -> bool {
    let part = |from: usize| {
        let hex = colour.get(from..from.saturating_add(2)).unwrap_or_default();
        u32::from(u8::from_str_radix(hex, 16).unwrap_or(0))
    };
    part(1) * 299 + part(3) * 587 + part(5) * 114 < 128 * 1000
}

/// Whether a text is a colour such as `#0b6f82`, and nothing that could end a style.
pub fn is_colour(text: &str) -> bool {
    let hex = text.strip_prefix('#').unwrap_or_default();
    hex.len() == 6 && hex.chars().all(|c| c.is_ascii_hexdigit())
}

fn is_font(c: char) -> bool {
    c.is_ascii_alphanumeric() || " ,-".contains(c)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_theme_becomes_a_style_sheet_and_nothing_else() {
        let theme = Theme::read(&json!({
            "colours": {"paper": "#112233", "ink": "red;}</style><script>"},
            "fonts": {"body": "Georgia, serif", "heading": "x;}"},
            "logo": "https://elsewhere.example/a.png",
            "texts": {"footer": "Thanks"},
        }))
        .unwrap();
        assert!(theme.style.contains("--paper:#112233;"), "{}", theme.style);
        assert!(theme.style.contains("body{font-family:Georgia, serif}"), "{}", theme.style);
        assert!(!theme.style.contains("script") && !theme.style.contains("h1"), "{}", theme.style);
        assert_eq!((theme.logo, &*theme.footer, &*theme.welcome), (None, "Thanks", ""));
        assert_eq!(Theme::read(&Value::Null), None);
    }

    #[test]
    fn emails_take_colours_and_nothing_else() {
        let theme = json!({
            "colours": {"accent": "#123456", "ink": "red;}"}, "texts": {"footer": "Thanks"},
        });
        let look = EmailLook::read(&theme);
        let usual = EmailLook::read(&Value::Null);
        let expected = EmailLook {
            accent: String::from("#123456"),
            footer: String::from("Thanks"),
            ..usual.clone()
        };
        assert_eq!(look, expected);
        assert_eq!(usual.footer, "");
    }

    #[test]
    fn the_paper_tells_whether_a_page_is_dark() {
        let style = |theme: Value| Theme::read(&theme).unwrap().style;
        let day = style(json!({ "colours": { "paper": "#f4f6f8" } }));
        assert_eq!(day, ":root{color-scheme:light;--paper:#f4f6f8;}");
        let night = style(json!({ "colours": { "paper": "#101418" } }));
        assert_eq!(night, ":root{color-scheme:dark;--paper:#101418;}");
        let both =
            style(json!({ "colours": { "paper": "#ffffff" }, "dark": { "paper": "#000000" } }));
        assert!(both.starts_with(":root{color-scheme:light;"), "{both}");
        assert!(both.contains("(prefers-color-scheme:dark){:root{color-scheme:dark;"), "{both}");
    }

    #[test]
    fn what_a_dark_set_leaves_out_is_as_dark_as_usual() {
        let theme = json!({
            "colours": { "paper": "#ffffff", "ink": "#000000" }, "dark": { "accent": "#ff8800" },
        });
        let style = Theme::read(&theme).unwrap().style;
        let (_, night) = style.split_once("@media (prefers-color-scheme:dark)").unwrap();
        assert!(night.contains("color-scheme:dark;") && night.contains("--accent:#ff8800;"));
        assert!(night.contains("--paper:#11171a;--card:#192125;--ink:#e5e9e8;"), "{night}");
        let sheet = crate::pages::STYLE;
        let (_, usual) = sheet.split_once("@media (prefers-color-scheme:dark)").unwrap();
        for (_, variable, colour) in COLOURS {
            assert!(usual.contains(&format!("{variable}:{colour}")), "{variable} {colour}");
        }
    }
}
