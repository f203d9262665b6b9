//! What an option is: its name, what it holds, and its default.

use contract::rest::Schema;

/// What an option holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    /// Texts `yes` and `no`, as the commerce family spells them.
    YesNo,
    /// Texts `1` and empty, shown as true and false.
    Switch,
    /// A number that is kept as a text.
    Decimal,
    /// Anything that JSON can say.
    Json,
}

/// One option.
#[derive(Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: Kind,
    /// As JSON.
    pub default: &'static str,
    /// Its name among the settings of the content namespace, if it is one.
    pub setting: Option<Setting>,
    /// Only for administrators, and never in a file that leaves the site.
    pub is_secret: bool,
}

/// An option as a setting of the interface.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub schema: fn() -> Schema,
}

/// An option that no setting shows.
pub const fn option(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    Definition { name, kind, default, setting: None, is_secret: false }
}

/// An option that only administrators see.
pub const fn secret(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    Definition { name, kind, default, setting: None, is_secret: true }
}

/// An option that is a setting of the interface, too.
pub const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    setting: &'static str,
    schema: fn() -> Schema,
) -> Definition {
    let setting = Some(Setting { name: setting, schema });
    Definition { name, kind, default, setting, is_secret: false }
}
