//! What is wrong with a request: every error with the path of the value it is about.

use std::fmt;

/// What is wrong with one value. The dialect gives each kind its public code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueKind {
    /// A required value is absent, null or blank.
    Missing,
    /// The JSON type is another one.
    Type { expected: String },
    /// The number of characters is outside the bounds.
    Length { min: Option<usize>, max: Option<usize> },
    /// The characters or their arrangement are not allowed.
    Format { expected: String },
    /// The value is not in the list.
    Value { allowed: Vec<String> },
    /// Too few or too many items.
    Items { min: Option<usize>, max: Option<usize> },
    /// A rule with a code of its own.
    Rule { code: &'static str, message: String },
}

impl IssueKind {
    pub fn rule(code: &'static str, message: impl Into<String>) -> Self {
        Self::Rule { code, message: message.into() }
    }
}

/// The sentence that a person reads. **It never repeats the value**, which may be secret.
impl fmt::Display for IssueKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("This field is mandatory."),
            Self::Type { expected } | Self::Format { expected } => {
                write!(formatter, "This field must be {expected}.")
            }
            Self::Value { allowed } => {
                write!(formatter, "This field must be one of: {}.", allowed.join(", "))
            }
            Self::Length { min, max } => {
                write!(formatter, "This field must have {} characters.", bounds(*min, *max))
            }
            Self::Items { min, max } => {
                write!(formatter, "This list must have {} items.", bounds(*min, *max))
            }
            Self::Rule { message, .. } => formatter.write_str(message),
        }
    }
}

fn bounds(min: Option<usize>, max: Option<usize>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::from("any number of"),
    }
}

/// One error at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where, as `storeData.dba` or `tpnData.tpnProcessor.profile[0].Mid`; empty for the whole.
    pub path: String,
    pub error: IssueKind,
    /// A public code that the schema asks for instead of the dialect's usual one.
    pub code: Option<String>,
}

/// All that was found so far. **At most one issue per path**: the first one found stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issues {
    list: Vec<Issue>,
}

impl Issues {
    pub fn add(&mut self, path: impl Into<String>, error: IssueKind) {
        self.push(Issue { path: path.into(), error, code: None });
    }

    pub(crate) fn push(&mut self, issue: Issue) {
        if !self.has(&issue.path) {
            self.list.push(issue);
        }
    }

    /// Adds those of others whose paths may be told and have none yet.
    pub(crate) fn extend(&mut self, others: Self, is_told: impl Fn(&str) -> bool) {
        for issue in others.list.into_iter().filter(|issue| is_told(&issue.path)) {
            self.push(issue);
        }
    }

    pub fn has(&self, path: &str) -> bool {
        self.list.iter().any(|issue| issue.path == path)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Issue> {
        self.list.iter()
    }

    pub(crate) fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&Issue) -> K) {
        self.list.sort_by_cached_key(key);
    }
}

impl FromIterator<(String, IssueKind)> for Issues {
    fn from_iter<I: IntoIterator<Item = (String, IssueKind)>>(errors: I) -> Self {
        let mut issues = Self::default();
        for (path, error) in errors {
            issues.add(path, error);
        }
        issues
    }
}
