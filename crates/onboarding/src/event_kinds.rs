//! Which kinds of events somebody wants.

/// A choice of kinds: whole names, and beginnings such as `merchant.*`; `*` is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) names: Vec<String>,
    pub(crate) groups: Vec<String>,
}

impl Kinds {
    /// Reads patterns; none is the first that is not one.
    pub(crate) fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Option<Self> {
        let mut kinds = Self::default();
        for pattern in patterns {
            match pattern.strip_suffix('*') {
                Some("") => kinds.groups.push(String::new()),
                Some(group) if group.ends_with('.') && is_name(group) => {
                    kinds.groups.push(group.to_owned());
                }
                None if is_name(pattern) => kinds.names.push(pattern.to_owned()),
                _ => return None,
            }
        }
        Some(kinds)
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.names.iter().any(|name| name == kind)
            || self.groups.iter().any(|group| kind.starts_with(group.as_str()))
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}
