//! The groups of settings, and what the interface tells about each setting. **Every setting is an
//! option of the site of the same name**; type and choices are here, defaults are the option's.

mod account;
mod advanced;
mod analytics;
mod general;
mod products;
mod tax;

use super::kind::SettingType;

/// Settings that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) settings: &'static [Setting],
}

/// One setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// Also the name of the option.
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: SettingType,
    pub(super) offers: Offers,
    pub(super) default: Default,
    /// Whether the description is shown as a hint too.
    pub(super) tip: bool,
}

/// What a choice offers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offers {
    Nothing,
    These(&'static [(&'static str, &'static str)]),
    Countries,
    /// A country, or one of its states where it has some.
    CountriesAndStates,
    Currencies,
    OrderStatuses,
    Pages,
    /// The standard class, all others, or that of the goods.
    TaxClasses,
}

/// What the value is as long as nobody chose one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Default {
    /// The option's own.
    OfOption,
    /// Whatever another option says.
    LikeOption(&'static str),
    /// This, as JSON.
    This(&'static str),
    /// The interface tells of none.
    Unsaid,
}

pub(super) static GROUPS: &[Group] = &[
    Group {
        id: "wc_admin",
        label: "Analytics",
        about: "What reports include and show by default.",
        settings: analytics::SETTINGS,
    },
    Group { id: "general", label: "General", about: "", settings: general::SETTINGS },
    Group { id: "products", label: "Products", about: "", settings: products::SETTINGS },
    Group { id: "tax", label: "Tax", about: "", settings: tax::TAX },
    Group { id: "shipping", label: "Shipping", about: "", settings: tax::SHIPPING },
    Group { id: "account", label: "Accounts and privacy", about: "", settings: account::ACCOUNT },
    Group { id: "email", label: "E-mails", about: "", settings: account::EMAIL },
    Group { id: "advanced", label: "Advanced", about: "", settings: advanced::SETTINGS },
];

const fn setting(
    kind: SettingType,
    offers: Offers,
    id: &'static str,
    label: &'static str,
    about: &'static str,
) -> Setting {
    Setting { id, label, about, kind, offers, default: Default::OfOption, tip: true }
}

const fn text(id: &'static str, label: &'static str, about: &'static str) -> Setting {
    setting(SettingType::Text, Offers::Nothing, id, label, about)
}

const fn textarea(id: &'static str, label: &'static str, about: &'static str) -> Setting {
    setting(SettingType::Textarea, Offers::Nothing, id, label, about)
}

const fn number(id: &'static str, label: &'static str, about: &'static str) -> Setting {
    setting(SettingType::Number, Offers::Nothing, id, label, about)
}

const fn checkbox(id: &'static str, label: &'static str, about: &'static str) -> Setting {
    setting(SettingType::Checkbox, Offers::Nothing, id, label, about).without_tip()
}

const fn select(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    offers: Offers,
) -> Setting {
    setting(SettingType::Select, offers, id, label, about)
}

const fn radio(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    offers: Offers,
) -> Setting {
    setting(SettingType::Radio, offers, id, label, about)
}

const fn multiselect(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    offers: Offers,
) -> Setting {
    setting(SettingType::Multiselect, offers, id, label, about).without_tip()
}

impl Setting {
    const fn without_tip(self) -> Self {
        Self { tip: false, ..self }
    }

    const fn default(self, default: Default) -> Self {
        Self { default, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_setting_is_an_option_and_stands_in_one_group() {
        let mut seen = HashSet::new();
        let _declared = crate::options::defaults();
        for setting in GROUPS.iter().flat_map(|group| group.settings) {
            assert!(frame::options::definition(setting.id).is_some(), "{}", setting.id);
            assert!(seen.insert(setting.id), "{} occurs twice", setting.id);
            let is_choice = matches!(
                setting.kind,
                SettingType::Select
                    | SettingType::Radio
                    | SettingType::Multiselect
                    | SettingType::Page
            );
            assert_eq!(is_choice, !matches!(setting.offers, Offers::Nothing), "{}", setting.id);
        }
        assert!(seen.len() > 70, "the table is whole");
    }
}
