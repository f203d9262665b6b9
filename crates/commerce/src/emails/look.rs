//! How the settings make e-mails look: the theme's colours unless the merchant chose others.

use frame::Options;
use frame::pages::{EmailLook, EmailStyle, THEME_OPTION, is_colour};

use super::send::fill;

/// Families of fonts that readers of mail have, by the names that settings give them.
pub(crate) const FONTS: &[(&str, &str)] = &[
    ("Helvetica", "Helvetica"),
    ("Arial", "Arial"),
    ("Courier New", "Courier New"),
    ("Georgia", "Georgia"),
    ("Tahoma", "Tahoma"),
    ("Times New Roman", "Times New Roman"),
    ("Trebuchet MS", "Trebuchet MS"),
    ("Verdana", "Verdana"),
];
const WIDTHS: std::ops::RangeInclusive<i64> = 1..=560;

/// As the active theme has it.
pub(crate) fn theme_look(options: &Options) -> EmailLook {
    EmailLook::read(&options.get(THEME_OPTION))
}

/// What the shop's settings say about all e-mails.
pub fn style(options: &Options) -> EmailStyle {
    let mut look = theme_look(options);
    let colour = |name: &str| Some(options.text(name)).filter(|text| is_colour(text));
    if let Some(accent) = colour("woocommerce_email_base_color") {
        look.set_accent(accent);
    }
    for (name, part) in [
        ("woocommerce_email_background_color", &mut look.paper),
        ("woocommerce_email_body_background_color", &mut look.card),
        ("woocommerce_email_text_color", &mut look.ink),
        ("woocommerce_email_footer_text_color", &mut look.muted),
    ] {
        if let Some(colour) = colour(name) {
            *part = colour;
        }
    }
    let font = options.text("woocommerce_email_font_family");
    if let Some((family, _)) = FONTS.iter().find(|(family, _)| *family == font) {
        look.font = format!("'{family}',sans-serif");
    }
    look.header_image = options.text("woocommerce_email_header_image");
    let width = options.integer("woocommerce_email_header_image_width");
    if WIDTHS.contains(&width) {
        look.header_image_width = width;
    }
    let alignment = options.text("woocommerce_email_header_alignment");
    if matches!(alignment.as_str(), "left" | "center" | "right") {
        look.header_alignment = alignment;
    }
    let footer = options.text("woocommerce_email_footer_text");
    if !footer.is_empty() {
        look.footer = fill(&footer, options, &[]);
    }
    EmailStyle {
        from_name: options.text("woocommerce_email_from_name"),
        reply_to: options.text("woocommerce_email_from_address"),
        ..EmailStyle::new(look)
    }
}
