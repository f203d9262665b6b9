//! The parameters that an operation takes: their schemas, in the order in which they are published,
//! and how each is treated.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::check::{self, ParamError};
use super::node::Node;
use super::{Schema, clean, loose};

/// Converts a value in its own way; the text is the name of the parameter.
pub type Converter = fn(&Value, &str) -> Result<Value, ParamError>;
/// Checks a value in its own way. `Err(None)` just says no.
pub type Checker = fn(&Value, &str) -> Result<(), Option<ParamError>>;

/// How a parameter is checked and converted.
#[derive(Clone, Copy, Debug, Default)]
pub enum Treatment {
    /// By its schema, in every source. An explicit null is refused unless null is an allowed type.
    #[default]
    Parse,
    /// By its schema, unless it is null, which is converted like any value. For fields of an item.
    Convert,
    /// By its schema; an explicit null stays null, for what can be reset.
    Nullable,
    /// Converted in its own way. **Not checked otherwise.**
    Own(Converter),
    /// Checked by its schema, then converted in its own way.
    Cleaned(Converter),
    /// Checked in its own way, then checked and converted by its schema.
    Checked(Checker),
    /// Checked and converted in its own ways. The schema is only published.
    Custom(Checker, Converter),
    /// Any value passes as it is.
    None,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Arg {
    pub name: String,
    pub schema: Schema,
    pub treatment: Treatment,
}

/// The parameters of an operation.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Args {
    list: Vec<Arg>,
    /// What was asked for a parameter that there is not.
    mistakes: Vec<String>,
}

impl Args {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter, which is parsed by its schema. One of the same name is replaced.
    pub fn arg(self, name: &str, schema: Schema) -> Self {
        self.put(Arg { name: name.to_owned(), schema, treatment: Treatment::Parse })
    }

    /// Adds a parameter with a treatment.
    pub fn treated(self, name: &str, schema: Schema, treatment: Treatment) -> Self {
        self.put(Arg { name: name.to_owned(), schema, treatment })
    }

    /// Adds all parameters of others.
    pub fn with(mut self, others: Self) -> Self {
        self.mistakes.extend(others.mistakes);
        others.list.into_iter().fold(self, Self::put)
    }

    pub fn without(mut self, name: &str) -> Self {
        self.list.retain(|arg| arg.name != name);
        self
    }

    /// Takes these parameters as before, and publishes them no more. What is not there is passed
    /// over.
    pub fn unpublished(mut self, names: &[&str]) -> Self {
        for arg in self.list.iter_mut().filter(|arg| names.contains(&arg.name.as_str())) {
            arg.schema = std::mem::take(&mut arg.schema).ours();
        }
        self
    }

    /// Changes how a parameter is treated.
    pub fn treat(self, name: &str, treatment: Treatment) -> Self {
        self.change(name, |arg| arg.treatment = treatment)
    }

    /// Changes the schema of a parameter.
    pub fn revise(self, name: &str, revise: impl FnOnce(Schema) -> Schema) -> Self {
        self.change(name, |arg| arg.schema = revise(std::mem::take(&mut arg.schema)))
    }

    fn change(mut self, name: &str, change: impl FnOnce(&mut Arg)) -> Self {
        match self.list.iter_mut().find(|arg| arg.name == name) {
            Some(arg) => change(arg),
            None => self.mistakes.push(format!("there is no parameter {name} to change")),
        }
        self
    }

    fn put(mut self, arg: Arg) -> Self {
        match self.list.iter_mut().find(|present| present.name == arg.name) {
            Some(present) => *present = arg,
            None => self.list.push(arg),
        }
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arg> {
        self.list.iter()
    }

    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.list.iter().find(|arg| arg.name == name)
    }

    /// What the index publishes, which is nothing of our own: a map, or an empty list when there is
    /// no parameter.
    pub fn document(&self) -> Value {
        let known = self.list.iter().filter(|arg| !arg.schema.is_ours());
        map_or_list(known.map(|arg| (arg.name.clone(), arg.schema.published())).collect())
    }

    /// Whether there is anything that only this product has.
    pub(super) fn has_ours(&self) -> bool {
        self.list.iter().any(|arg| arg.schema.has_ours())
    }

    /// All parameters, in the same form.
    pub fn description(&self) -> Value {
        map_or_list(
            self.list.iter().map(|arg| (arg.name.clone(), arg.schema.described())).collect(),
        )
    }

    /// Compiles every schema and converts every default. The error says which parameter is wrong.
    pub fn compile(&self) -> Result<CompiledArgs, String> {
        if let Some(mistake) = self.mistakes.first() {
            return Err(mistake.clone());
        }
        let mut compiled = CompiledArgs::default();
        let mut defaults = Map::new();
        for arg in &self.list {
            let about = |problem: String| format!("parameter {}: {problem}", arg.name);
            let ready = CompiledArg::new(arg).map_err(about)?;
            let default = arg.schema.get("default").filter(|default| !default.is_null());
            if let Some(default) = default {
                let default = ready.accept(default).map_err(|error| {
                    let message = error.map(|error| error.message).unwrap_or_default();
                    about(format!("its default is refused: {message}"))
                })?;
                defaults.insert(arg.name.clone(), default);
            }
            compiled.positions.insert(arg.name.clone(), compiled.list.len());
            compiled.list.push(ready);
        }
        compiled.defaults = Arc::new(defaults);
        Ok(compiled)
    }
}

fn map_or_list(members: Map<String, Value>) -> Value {
    if members.is_empty() { Value::Array(Vec::new()) } else { Value::Object(members) }
}

/// Parameters that are ready to be checked.
#[derive(Clone, Debug, Default)]
pub struct CompiledArgs {
    list: Vec<CompiledArg>,
    /// By names of the table: who asks cannot make them collide.
    positions: FxHashMap<String, usize>,
    /// Converted already: they are the same for every request.
    defaults: Arc<Map<String, Value>>,
}

#[derive(Clone, Debug)]
pub(super) struct CompiledArg {
    pub(super) name: String,
    pub(super) is_required: bool,
    treatment: Ready,
}

/// A treatment with the compiled schema, where it needs one.
#[derive(Clone, Debug)]
enum Ready {
    Parse(Box<Node>),
    Convert(Box<Node>),
    Nullable(Box<Node>),
    Own(Converter),
    Cleaned(Box<Node>, Converter),
    Checked(Checker, Box<Node>),
    Custom(Checker, Converter),
    None,
}

impl CompiledArgs {
    pub(super) fn list(&self) -> &[CompiledArg] {
        &self.list
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, &CompiledArg)> {
        let position = *self.positions.get(name)?;
        self.list.get(position).map(|arg| (position, arg))
    }

    /// Whether there is a parameter of this name.
    pub fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// The greatest value of a numeric parameter that is checked by its schema, if it has one.
    pub fn maximum(&self, name: &str) -> Option<i64> {
        let maximum = self.find(name)?.1.node()?.number.as_ref()?.maximum?;
        Some(loose::to_int(&Value::from(maximum)))
    }

    /// Whether a parameter that is checked by a list of choices can have this value; one without
    /// can have any.
    pub fn takes(&self, name: &str, value: &str) -> bool {
        let choices = self.find(name).and_then(|(_, arg)| arg.node()).map(|node| &node.choices);
        let choices = choices.filter(|choices| !choices.is_empty());
        choices.is_none_or(|choices| choices.iter().any(|choice| choice == value))
    }

    pub fn defaults(&self) -> &Arc<Map<String, Value>> {
        &self.defaults
    }
}

impl CompiledArg {
    fn new(arg: &Arg) -> Result<Self, String> {
        let node = || arg.schema.compile().map(Box::new);
        let treatment = match arg.treatment {
            Treatment::Parse => Ready::Parse(node()?),
            Treatment::Convert => Ready::Convert(node()?),
            Treatment::Nullable => Ready::Nullable(node()?),
            Treatment::Own(converter) => Ready::Own(converter),
            Treatment::Cleaned(converter) => Ready::Cleaned(node()?, converter),
            Treatment::Checked(checker) => Ready::Checked(checker, node()?),
            Treatment::Custom(checker, converter) => Ready::Custom(checker, converter),
            Treatment::None => Ready::None,
        };
        Ok(Self { name: arg.name.clone(), is_required: arg.schema.is_required(), treatment })
    }

    fn node(&self) -> Option<&Node> {
        match &self.treatment {
            Ready::Parse(node)
            | Ready::Convert(node)
            | Ready::Nullable(node)
            | Ready::Cleaned(node, _)
            | Ready::Checked(_, node) => Some(node),
            Ready::Own(_) | Ready::Custom(..) | Ready::None => None,
        }
    }

    /// The check of the value that counts, before anything is converted.
    pub(super) fn validate(&self, value: &Value) -> Result<(), Option<ParamError>> {
        match &self.treatment {
            Ready::Parse(node)
            | Ready::Convert(node)
            | Ready::Nullable(node)
            | Ready::Cleaned(node, _) => check::validate(node, value, &self.name).map_err(Some),
            Ready::Checked(checker, _) | Ready::Custom(checker, _) => checker(value, &self.name),
            Ready::Own(_) | Ready::None => Ok(()),
        }
    }

    /// The conversion of a value in one source. `is_validated` says that it passed
    /// [`CompiledArg::validate`].
    pub(super) fn sanitize(&self, value: Value, is_validated: bool) -> Result<Value, ParamError> {
        match &self.treatment {
            Ready::Nullable(_) if value.is_null() => Ok(value),
            Ready::Parse(node) | Ready::Nullable(node) if is_validated => {
                check::sanitize(node, value, &self.name)
            }
            Ready::Parse(node) | Ready::Nullable(node) | Ready::Checked(_, node) => {
                check::validate(node, &value, &self.name)?;
                check::sanitize(node, value, &self.name)
            }
            Ready::Convert(node) => check::sanitize(node, value, &self.name),
            Ready::Own(converter) | Ready::Cleaned(_, converter) | Ready::Custom(_, converter) => {
                converter(&value, &self.name)
            }
            Ready::None => Ok(value),
        }
    }

    fn accept(&self, value: &Value) -> Result<Value, Option<ParamError>> {
        self.validate(value)?;
        self.sanitize(value.clone(), true).map_err(Some)
    }
}

/// For [`Treatment::Own`]: a whole number without its sign, 0 for what is none.
pub fn absint(value: &Value, _param: &str) -> Result<Value, ParamError> {
    Ok(Value::from(loose::to_int(value).saturating_abs()))
}

/// For [`Treatment::Own`]: different ids, from a list or from text.
pub fn id_list(value: &Value, _param: &str) -> Result<Value, ParamError> {
    let mut ids: Vec<Value> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for item in items(value) {
        let id = loose::to_int(&item).saturating_abs();
        if seen.insert(id) {
            ids.push(Value::from(id));
        }
    }
    Ok(Value::Array(ids))
}

/// For [`Treatment::Own`]: texts, from a list or from text.
pub fn text_list(value: &Value, _param: &str) -> Result<Value, ParamError> {
    Ok(Value::Array(items(value)))
}

/// For [`Treatment::Own`]: one line of plain text.
pub fn text_field(value: &Value, _param: &str) -> Result<Value, ParamError> {
    Ok(Value::from(clean::text_field(&loose::scalar_text(value).unwrap_or_default())))
}

/// For [`Treatment::Own`]: a key.
pub fn key(value: &Value, _param: &str) -> Result<Value, ParamError> {
    Ok(Value::from(clean::key(&loose::scalar_text(value).unwrap_or_default())))
}

fn items(value: &Value) -> Vec<Value> {
    let is_scalar = |item: &&Value| loose::scalar_text(item).is_some();
    match value {
        Value::Array(items) => items.iter().filter(is_scalar).cloned().collect(),
        Value::Object(members) => members.values().filter(is_scalar).cloned().collect(),
        scalar => {
            let text = loose::scalar_text(scalar).unwrap_or_default();
            loose::split_list(&text).map(Value::from).collect()
        }
    }
}
