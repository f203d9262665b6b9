//! Whether text stands out from what is behind it, by the rules of WCAG 2: at least 4.5 to 1.

use crate::package::ThemeManifest;
use crate::package::manifest::Colours;

/// The least contrast at which text of usual size can be read.
const CONTRAST_MIN: f64 = 4.5;
/// Text and what is behind it.
const PAIRS: &[(&str, &str)] = &[
    ("ink", "paper"),
    ("ink", "card"),
    ("ink", "soft"),
    ("muted", "paper"),
    ("muted", "card"),
    ("accent", "paper"),
    ("accent", "card"),
    ("on_accent", "accent"),
];

/// A sentence for each pair of colours that people cannot tell apart.
pub(super) fn warnings(theme: &ThemeManifest) -> Vec<String> {
    let dark = theme.dark.as_ref().map(|dark| ("dark colours", dark));
    let sets = [("colours", &theme.colours)].into_iter().chain(dark);
    sets.flat_map(|(set, colours)| {
        PAIRS.iter().filter_map(move |pair| warning(set, colours, *pair))
    })
    .collect()
}

fn warning(set: &str, colours: &Colours, (text, behind): (&str, &str)) -> Option<String> {
    let of = |wanted: &str| {
        let found = colours.list().into_iter().find(|(name, _)| *name == wanted);
        found.map(|(_, colour)| luminance(colour))
    };
    let found = contrast(of(text)?, of(behind)?);
    (found < CONTRAST_MIN).then(|| {
        format!(
            "In the {set}, {text} on {behind} has a contrast of {found:.1}:1; accessible text \
             needs {CONTRAST_MIN}:1."
        )
    })
}

fn contrast(one: f64, other: f64) -> f64 {
    let (light, dark) = if one > other { (one, other) } else { (other, one) };
    (light + 0.05) / (dark + 0.05)
}

/// How bright a colour `#rrggbb` is, from 0 to 1.
fn luminance(colour: &str) -> f64 {
    let part = |from: usize| {
        let hex = colour.get(from..from + 2).unwrap_or_default();
        let value = f64::from(u8::from_str_radix(hex, 16).unwrap_or(0)) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_guideline() {
        let check = |one: &str, other: &str, expected: f64| {
            let found = contrast(luminance(one), luminance(other));
            assert!((found - expected).abs() < 0.01, "{one} {other}: {found}");
        };
        check("#000000", "#ffffff", 21.0);
        check("#ffffff", "#ffffff", 1.0);
        check("#777777", "#ffffff", 4.48);
        check("#ff0000", "#ffffff", 4.0);
    }

    #[test]
    fn a_theme_that_cannot_be_read_is_warned_of() {
        let mut theme = ThemeManifest::default();
        assert_eq!(warnings(&theme), Vec::<String>::new(), "the usual colours are fine");
        theme.colours.muted = String::from("#c0c0c0");
        let told = warnings(&theme);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|warning| warning.contains("muted")), "{told:?}");
        theme.dark = Some(theme.colours.clone());
        assert_eq!(warnings(&theme).len(), 4);
    }
}
