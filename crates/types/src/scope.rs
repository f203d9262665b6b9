//! What an API key may do. A route names the scope it needs; a key lists the scopes it has.

use std::fmt;
use std::str::FromStr;

macro_rules! scopes {
    ($($variant:ident = $name:literal, $doc:literal;)*) => {
        /// One permission of an API key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            $(#[doc = $doc] $variant,)*
        }

        impl Scope {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What the scope allows, for help texts and the interface description.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

scopes! {
    OnboardWrite = "onboard.write", "Onboard merchants, stores and TPNs.";
    MerchantsRead = "merchants.read", "Read merchants.";
    MerchantsWrite = "merchants.write", "Change merchants.";
    StoresRead = "stores.read", "Read stores.";
    StoresWrite = "stores.write", "Change stores.";
    TpnsRead = "tpns.read", "Read TPNs.";
    TpnsWrite = "tpns.write", "Change TPNs.";
    CredentialsWrite = "credentials.write", "Replace processor credentials.";
    CredentialsReveal = "credentials.reveal", "Read processor credentials.";
    TemplatesRead = "templates.read", "Read templates.";
    TemplatesWrite = "templates.write", "Create and change templates.";
    WebhooksRead = "webhooks.read", "Read webhook endpoints and deliveries.";
    WebhooksWrite = "webhooks.write", "Change webhook endpoints.";
    EventsRead = "events.read", "Read events.";
    KeysRead = "keys.read", "List API keys.";
    KeysWrite = "keys.write", "Create, rotate and revoke API keys.";
    IsosRead = "isos.read", "Read the ISO's own account.";
    IsosWrite = "isos.write", "Change the ISO's own account.";
    AuditRead = "audit.read", "Read the audit log.";
    BulkWrite = "bulk.write", "Upload bulk onboardings.";
    ReportsRead = "reports.read", "Read reports.";
}

/// A usual choice of scopes, offered to people who create a key.
#[derive(Clone, Copy, Debug)]
pub struct ScopePreset {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub scopes: &'static [Scope],
}

impl ScopePreset {
    pub const ALL: &[Self] = &[
        Self {
            name: "onboarding",
            title: "Onboarding",
            description: "Onboard merchants, stores and TPNs, also in bulk, and read them.",
            scopes: &[
                Scope::OnboardWrite,
                Scope::BulkWrite,
                Scope::MerchantsRead,
                Scope::StoresRead,
                Scope::TpnsRead,
                Scope::TemplatesRead,
            ],
        },
        Self {
            name: "terminals",
            title: "Terminals",
            description: "Read and change TPNs, and read what they belong to.",
            scopes: &[
                Scope::TpnsRead,
                Scope::TpnsWrite,
                Scope::StoresRead,
                Scope::MerchantsRead,
                Scope::TemplatesRead,
            ],
        },
        Self {
            name: "events",
            title: "Events",
            description: "Read events, webhook endpoints and deliveries.",
            scopes: &[Scope::EventsRead, Scope::WebhooksRead],
        },
        Self {
            name: "read_only",
            title: "Read only",
            description: "Read everything except processor credentials, and change nothing.",
            scopes: &[
                Scope::MerchantsRead,
                Scope::StoresRead,
                Scope::TpnsRead,
                Scope::TemplatesRead,
                Scope::WebhooksRead,
                Scope::EventsRead,
                Scope::KeysRead,
                Scope::IsosRead,
                Scope::AuditRead,
                Scope::ReportsRead,
            ],
        },
    ];
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|scope| scope.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|scope| scope.name()).collect();
            format!("`{text}` is not a scope; use one of {}", names.join(", "))
        })
    }
}

/// The scopes of one key. `Full` is what an ISO of the published interface holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeSet {
    Full,
    Only(Vec<Scope>),
}

impl ScopeSet {
    pub fn allows(&self, scope: Scope) -> bool {
        match self {
            Self::Full => true,
            Self::Only(scopes) => scopes.contains(&scope),
        }
    }
}

impl ScopeSet {
    /// Whether whoever has this set may hand out the other.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Full, _) => true,
            (Self::Only(_), Self::Full) => false,
            (own, Self::Only(scopes)) => scopes.iter().all(|scope| own.allows(*scope)),
        }
    }
}

/// How full access is written.
pub const FULL_ACCESS: &str = "*";

/// Written as `*` or as names with blanks between, the form in which it is stored.
impl fmt::Display for ScopeSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => formatter.write_str(FULL_ACCESS),
            Self::Only(scopes) => {
                let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
                formatter.write_str(&names.join(" "))
            }
        }
    }
}

impl FromStr for ScopeSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == FULL_ACCESS {
            return Ok(Self::Full);
        }
        let scopes: Result<Vec<Scope>, String> =
            text.split_ascii_whitespace().map(str::parse).collect();
        Ok(Self::Only(scopes?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_survives_being_stored() {
        for set in [
            ScopeSet::Full,
            ScopeSet::Only(vec![]),
            ScopeSet::Only(vec![Scope::OnboardWrite, Scope::EventsRead]),
        ] {
            assert_eq!(set.to_string().parse::<ScopeSet>(), Ok(set));
        }
    }

    #[test]
    fn nobody_hands_out_more_than_they_have() {
        let few = ScopeSet::Only(vec![Scope::EventsRead, Scope::KeysWrite]);
        let fewer = ScopeSet::Only(vec![Scope::EventsRead]);
        for (own, other, covers) in [
            (&ScopeSet::Full, &few, true),
            (&ScopeSet::Full, &ScopeSet::Full, true),
            (&few, &ScopeSet::Full, false),
            (&few, &fewer, true),
            (&fewer, &few, false),
        ] {
            assert_eq!(own.covers(other), covers, "{own} {other}");
        }
    }

    #[test]
    fn no_preset_gives_others_access_or_reveals_credentials() {
        let kept_back = [Scope::KeysWrite, Scope::WebhooksWrite, Scope::CredentialsReveal];
        for preset in ScopePreset::ALL {
            let set = ScopeSet::Only(preset.scopes.to_vec());
            assert!(kept_back.iter().all(|scope| !set.allows(*scope)), "{}", preset.name);
        }
    }

    #[test]
    fn reading_only_is_reading_everything() {
        let preset = ScopePreset::ALL.iter().find(|preset| preset.name == "read_only").unwrap();
        for scope in Scope::ALL {
            let reads = scope.name().split('.').next_back() == Some("read");
            assert_eq!(preset.scopes.contains(scope), reads, "{scope}");
        }
    }

    #[test]
    fn an_unknown_scope_is_named() {
        let message = "onboard.wrote".parse::<Scope>().expect_err("misspelt");
        assert!(message.contains("onboard.wrote") && message.contains("onboard.write"));
    }
}
