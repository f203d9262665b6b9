//! Settings of e-mails: of all of them together, and of each.

use std::borrow::Cow;

use frame::Options;
use frame::pages::EmailLook;

use super::{Default, Group, Kept, Offers, Setting, checkbox, select, setting, text, textarea};
use crate::emails::{
    ADDITIONAL_CONTENT, Audience, EMAIL_TYPE, EmailKind, FORMATS, HEADING, KINDS, RECIPIENT,
    SUBJECT, SWITCH, Wording, theme_look,
};
use crate::setting_types::SettingType;

pub(super) const GROUP: &str = "email";

pub(super) static SETTINGS: &[Setting] = &[
    text("woocommerce_email_from_name", "\"From\" name", "Sender name of outgoing e-mails.")
        .default(Default::LikeOption("blogname")),
    setting(
        SettingType::Email,
        Offers::Nothing,
        "woocommerce_email_from_address",
        "\"From\" address",
        "Address that replies to e-mails go to.",
    )
    .default(Default::LikeOption("admin_email")),
    text("woocommerce_email_header_image", "Logo", "URL of an image shown at the top of e-mails."),
    setting(
        SettingType::Number,
        Offers::Nothing,
        "woocommerce_email_header_image_width",
        "Logo width",
        "Width of the logo in pixels.",
    )
    .default(Default::Computed(|options| theme_look(options).header_image_width.to_string())),
    select(
        "woocommerce_email_header_alignment",
        "Header alignment",
        "Alignment of the logo and the heading.",
        Offers::These(&[("left", "Left"), ("center", "Center"), ("right", "Right")]),
    ),
    select(
        "woocommerce_email_font_family",
        "Font family",
        "Font of e-mails; the reader's own if none is selected.",
        Offers::FontFamilies,
    ),
    textarea("woocommerce_email_footer_text", "Footer text", "Text at the bottom of e-mails."),
    color(
        "woocommerce_email_base_color",
        "Accent colour",
        "Colour of buttons and links.",
        |options| of_theme(options, |look| look.accent),
    ),
    color(
        "woocommerce_email_background_color",
        "Background colour",
        "Colour behind the e-mail.",
        |options| of_theme(options, |look| look.paper),
    ),
    color(
        "woocommerce_email_body_background_color",
        "Content background colour",
        "Colour behind the text.",
        |options| of_theme(options, |look| look.card),
    ),
    color(
        "woocommerce_email_text_color",
        "Heading and text colour",
        "Colour of the text.",
        |options| of_theme(options, |look| look.ink),
    ),
    color(
        "woocommerce_email_footer_text_color",
        "Secondary text colour",
        "Colour of the text below the e-mail.",
        |options| of_theme(options, |look| look.muted),
    ),
];

fn of_theme(options: &Options, part: fn(EmailLook) -> String) -> String {
    part(theme_look(options))
}

const fn color(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    default: fn(&Options) -> String,
) -> Setting {
    setting(SettingType::Color, Offers::Nothing, id, label, about)
        .default(Default::Computed(default))
}

/// A group for each e-mail.
pub(super) fn groups() -> impl Iterator<Item = Group> {
    KINDS.iter().map(|kind| Group {
        id: Cow::Owned(format!("{GROUP}_{}", kind.id)),
        label: kind.title,
        about: kind.about,
        parent: GROUP,
        settings: Cow::Owned(settings_of(kind)),
    })
}

fn settings_of(kind: &EmailKind) -> Vec<Setting> {
    let mut settings = Vec::new();
    if !kind.is_manual() {
        let switch = checkbox(SWITCH, "Enable/Disable", "Send this e-mail.");
        settings.push(switch.default(Default::Text("yes")));
    }
    if kind.audience == Audience::Shop {
        let about = "E-mail addresses that receive it, separated by commas.";
        let recipient = text(RECIPIENT, "Recipients", about);
        settings.push(recipient.default(Default::LikeOption("admin_email")));
    }
    for wording in kind.wordings {
        let about = "Subject of the e-mail. Placeholders: {site_title}, {order_number}, \
                     {order_date}.";
        settings.push(of_wording(SUBJECT, "Subject", about, wording, wording.subject));
        let about = "Heading above the text. Placeholders: {site_title}, {order_number}, \
                     {order_date}.";
        settings.push(of_wording(HEADING, "Heading", about, wording, wording.heading));
    }
    let closing =
        textarea(ADDITIONAL_CONTENT, "Additional content", "Text below the main content.");
    settings.push(closing.default(Default::Text(kind.closing)));
    let about = "Format of the e-mail.";
    let format = select(EMAIL_TYPE, "E-mail type", about, Offers::These(FORMATS));
    let usual = FORMATS.first().map_or("", |(format, _)| *format);
    settings.push(format.default(Default::Text(usual)));
    settings.into_iter().map(|setting| setting.kept(Kept::In(kind.option))).collect()
}

/// The subject or the heading of one of the e-mail's cases.
fn of_wording(
    name: &'static str,
    label: &'static str,
    about: &'static str,
    wording: &Wording,
    usual: &'static str,
) -> Setting {
    let case = wording.case;
    let label = if case.is_empty() { label.to_owned() } else { format!("{case}: {label}") };
    Setting {
        id: Cow::Owned(format!("{name}{}", wording.suffix)),
        label: Cow::Owned(label),
        ..text(name, "", about).placeholder(usual).default(Default::Text(""))
    }
}
