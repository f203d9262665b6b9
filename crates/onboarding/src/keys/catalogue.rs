//! `GET /v1/scopes`: what a key can be allowed, in words, for everybody who makes keys. **Scopes,
//! words and presets are those of [`types::Scope`]**, and stand nowhere else.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Scope, ScopePreset};

use crate::Cx;

/// List the scopes that a key can have, and usual choices of them.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScopeList {}

/// What a key can be allowed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Scopes {
    /// All scopes. A key with `*` has every one, those of the future included.
    data: Vec<ScopeView>,
    /// Usual choices.
    presets: Vec<ScopePresetView>,
}

/// One permission of a key.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeView {
    /// Its name, as `scopes` of a key lists it.
    scope: &'static str,
    /// What it allows.
    description: &'static str,
}

/// A usual choice of scopes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopePresetView {
    /// Its name.
    preset: &'static str,
    /// Its name for people.
    title: &'static str,
    /// What it is for.
    description: &'static str,
    /// The scopes to send.
    scopes: Vec<&'static str>,
}

impl Endpoint<Cx> for ScopeList {
    const ROUTE: Route = Route::get("/v1/scopes").public();
    type Reply = Scopes;

    async fn handle(self, _: &Cx) -> Result<Answer<Scopes>, Failure> {
        let data = Scope::ALL
            .iter()
            .map(|scope| ScopeView { scope: scope.name(), description: scope.description() });
        let presets = ScopePreset::ALL.iter().map(|preset| ScopePresetView {
            preset: preset.name,
            title: preset.title,
            description: preset.description,
            scopes: preset.scopes.iter().map(|scope| scope.name()).collect(),
        });
        Ok(Answer::new(Scopes { data: data.collect(), presets: presets.collect() }))
    }
}
