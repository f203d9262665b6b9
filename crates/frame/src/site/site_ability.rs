//! Abilities that crates beside the content bring along: something that programs may do by name.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use contract::rest::Stop;
use serde_json::{Map, Value};

use crate::Visit;

/// A group of abilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbilityCategory {
    pub slug: &'static str,
    pub label: &'static str,
    pub about: &'static str,
}

/// What comes of running one.
pub type AbilityRun = Pin<Box<dyn Future<Output = Result<Value, Stop>> + Send>>;

/// Something that programs may do. It changes something, so that it is run with POST.
pub trait SiteAbility: Send + Sync + Debug {
    fn name(&self) -> &'static str;

    fn label(&self) -> &'static str;

    /// What it does, in a sentence.
    fn about(&self) -> &'static str;

    fn category(&self) -> AbilityCategory;

    /// A JSON schema of an object.
    fn input_schema(&self) -> Value;

    fn output_schema(&self) -> Value;

    /// Does it as the visitor, outside of any transaction. A refusal with 403 says that the visitor
    /// may not.
    fn run(&self, visit: Arc<Visit>, input: Map<String, Value>) -> AbilityRun;
}
