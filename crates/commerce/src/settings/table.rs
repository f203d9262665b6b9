//! The groups of settings, and what the interface tells about each setting. **A setting is an
//! option of the site of the same name**, unless it says where else it is kept; type and choices
//! are here, defaults are the option's. Settings of a single e-mail follow from the table of
//! e-mails.

mod account;
mod advanced;
mod analytics;
mod email;
mod general;
mod products;
mod tax;

use std::borrow::Cow;
use std::sync::LazyLock;

use frame::Options;

use crate::setting_types::SettingType;

/// Settings that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: Cow<'static, str>,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    /// The group that it is a part of; empty for none.
    pub(super) parent: &'static str,
    pub(super) settings: Cow<'static, [Setting]>,
}

/// One setting.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) id: Cow<'static, str>,
    pub(super) label: Cow<'static, str>,
    pub(super) about: &'static str,
    pub(super) kind: SettingType,
    pub(super) offers: Offers,
    pub(super) default: Default,
    pub(super) kept: Kept,
    /// What an empty field shows; may be empty.
    pub(super) placeholder: &'static str,
    /// Whether the description is shown as a hint too.
    pub(super) tip: bool,
}

/// Where the value of a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// In the option that is called as the setting is.
    Option,
    /// In the object that this option holds, by the setting's id.
    In(&'static str),
    /// The names of the tax classes beside the standard one, a line for each.
    TaxClasses,
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
    /// Those that readers of mail have, or none.
    FontFamilies,
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
    /// What follows from other options.
    Computed(fn(&Options) -> String),
    Text(&'static str),
    /// This, as JSON.
    This(&'static str),
    /// The interface tells of none.
    Unsaid,
}

pub(super) static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut groups = vec![
        Group {
            about: "What reports include and show by default.",
            ..group("wc_admin", "Analytics", analytics::SETTINGS)
        },
        group("general", "General", general::SETTINGS),
        group("products", "Products", products::SETTINGS),
        group("tax", "Tax", tax::TAX),
        group("shipping", "Shipping", tax::SHIPPING),
        // Payment methods have routes of their own, and the shop has no integrations.
        group("checkout", "Payments", &[]),
        group("account", "Accounts and privacy", account::SETTINGS),
        group(email::GROUP, "E-mails", email::SETTINGS),
        group("integration", "Integration", &[]),
        group("advanced", "Advanced", advanced::SETTINGS),
    ];
    groups.extend(email::groups());
    groups
});

fn group(id: &'static str, label: &'static str, settings: &'static [Setting]) -> Group {
    let settings = Cow::Borrowed(settings);
    Group { id: Cow::Borrowed(id), label, about: "", parent: "", settings }
}

const fn setting(
    kind: SettingType,
    offers: Offers,
    id: &'static str,
    label: &'static str,
    about: &'static str,
) -> Setting {
    Setting {
        id: Cow::Borrowed(id),
        label: Cow::Borrowed(label),
        about,
        kind,
        offers,
        default: Default::OfOption,
        kept: Kept::Option,
        placeholder: "",
        tip: true,
    }
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

const fn page(id: &'static str, label: &'static str, about: &'static str) -> Setting {
    setting(SettingType::Page, Offers::Pages, id, label, about)
}

impl Setting {
    const fn without_tip(mut self) -> Self {
        self.tip = false;
        self
    }

    const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    const fn kept(mut self, kept: Kept) -> Self {
        self.kept = kept;
        self
    }

    const fn placeholder(mut self, placeholder: &'static str) -> Self {
        self.placeholder = placeholder;
        self
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
        for (group, setting) in GROUPS
            .iter()
            .flat_map(|group| group.settings.iter().map(move |setting| (group, setting)))
        {
            let (option, id) = match setting.kept {
                Kept::Option => (Some(&*setting.id), setting.id.to_string()),
                Kept::In(option) => (Some(option), format!("{} {}", group.id, setting.id)),
                Kept::TaxClasses => (None, setting.id.to_string()),
            };
            let is_known = option.is_none_or(|name| frame::options::definition(name).is_some());
            assert!(is_known, "{id}");
            assert!(seen.insert(id), "{} occurs twice", setting.id);
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
