//! Sandbox and production: the same code over two databases that never meet.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    Sandbox,
    Production,
}

impl Environment {
    pub const ALL: [Self; 2] = [Self::Sandbox, Self::Production];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }

    /// Name of the cookie that carries a browser's session. Both environments may be called by one
    /// host name, and cookies do not know ports.
    pub const fn session_cookie(self) -> &'static str {
        match self {
            Self::Sandbox => "boardwalk_sandbox_session",
            Self::Production => "boardwalk_session",
        }
    }

    /// What every API key of this environment starts with.
    pub const fn key_prefix(self) -> &'static str {
        match self {
            Self::Sandbox => "bw_test_",
            Self::Production => "bw_live_",
        }
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Environment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|environment| environment.name() == text)
            .ok_or_else(|| format!("`{text}` is not an environment; use sandbox or production"))
    }
}
