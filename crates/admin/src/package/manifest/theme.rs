//! What themes declare: colours, fonts, a logo and a few texts.

use serde::{Deserialize, Serialize};
use types::{Error, Result};

use super::head::check_head;
use super::words::check_texts;

/// `theme.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThemeManifest {
    pub slug: String,
    pub name: String,
    pub version: String,
    pub description: String,
    pub author: String,
    pub colours: Colours,
    /// For readers who prefer dark pages; without it they get the others.
    pub dark: Option<Colours>,
    pub fonts: Fonts,
    /// A picture among its files.
    pub logo: Option<String>,
    pub texts: Texts,
}

macro_rules! colours {
    ($($(#[doc = $about:literal])+ $field:ident = $default:literal,)*) => {
        /// The colours of pages, each `#rrggbb`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Colours {
            $($(#[doc = $about])+ pub $field: String,)*
        }

        impl Default for Colours {
            fn default() -> Self {
                Self { $($field: String::from($default),)* }
            }
        }

        impl Colours {
            /// The colours by their names.
            pub fn list(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($field), self.$field.as_str()),)*]
            }
        }
    };
}

colours! {
    /// Behind everything.
    paper = "#faf9f6",
    /// Behind what stands out of the page.
    card = "#ffffff",
    /// Text.
    ink = "#1c2529",
    /// Text that matters less.
    muted = "#586469",
    /// Lines between things.
    line = "#e3ded4",
    /// Links and buttons.
    accent = "#0b5f70",
    /// Text on a button.
    on_accent = "#ffffff",
    /// Behind code and heads of tables.
    soft = "#eef3f3",
}

/// Families of fonts that readers have on their own machines: nothing is fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fonts {
    pub body: String,
    pub heading: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Texts {
    /// At the end of every page.
    pub footer: String,
    /// Above the form to sign in.
    pub welcome: String,
}

/// The types of pictures by the ends of their names.
pub const PICTURES: [(&str, &str); 3] =
    [(".svg", "image/svg+xml"), (".png", "image/png"), (".webp", "image/webp")];

impl ThemeManifest {
    /// The files that it names.
    pub(crate) fn files(&self) -> Vec<&str> {
        self.logo.as_deref().into_iter().collect()
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_head(&self.slug, &self.name, &self.version)?;
        check_texts(&serde_json::to_value(self).unwrap_or_default())?;
        for colours in [Some(&self.colours), self.dark.as_ref()].into_iter().flatten() {
            if let Some((name, _)) = colours.list().iter().find(|(_, colour)| !is_colour(colour)) {
                return Err(Error::invalid(format!(
                    "the colour {name} must be written as #rrggbb"
                )));
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || " ,-".contains(c);
        if [&self.fonts.body, &self.fonts.heading].iter().any(|font| !font.chars().all(plain)) {
            return Err(Error::invalid(
                "list font families without quotes, such as Georgia, serif",
            ));
        }
        let is_picture = |logo: &String| PICTURES.iter().any(|(end, _)| logo.ends_with(end));
        if !self.logo.iter().all(is_picture) {
            return Err(Error::invalid("the logo must be an SVG, PNG or WebP image"));
        }
        Ok(())
    }
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.chars().all(|c| c.is_ascii_hexdigit()))
}
