//! The differences that are meant, each with its reason. **One that excuses nothing is a failure**:
//! the list must not be longer than the truth.
//!
//! A file has a JSON object per line: `case` and `difference` are patterns in which `*` stands for
//! any text and `?` for one character, or lists of such patterns; `difference` may be any part of a
//! difference's line. Every pattern of a list must excuse something.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::case::{area_name, json_lines_files};

#[derive(Clone, Debug, Default)]
pub struct Deviations {
    entries: Vec<Deviation>,
}

/// One pattern of cases with one of differences.
#[derive(Clone, Debug)]
struct Deviation {
    file: String,
    case: String,
    difference: String,
    reason: String,
    is_used: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    case: Patterns,
    difference: Patterns,
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Patterns {
    One(String),
    Several(Vec<String>),
}

impl Patterns {
    fn all(self) -> Vec<String> {
        match self {
            Self::One(pattern) => vec![pattern],
            Self::Several(patterns) => patterns,
        }
    }
}

impl Deviations {
    /// Reads every `.jsonl` file of a folder.
    pub fn load(folder: &Path) -> Result<Self> {
        let mut deviations = Self::default();
        for path in json_lines_files(folder)? {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            deviations.add(&area_name(&path), &text)?;
        }
        Ok(deviations)
    }

    pub(super) fn add(&mut self, file: &str, text: &str) -> Result<()> {
        for (index, text) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("line {} of the deviations {file}", index + 1);
            let line: Line = serde_json::from_str(text).with_context(|| place.clone())?;
            ensure!(!line.reason.trim().is_empty(), "{place} gives no reason");
            let (cases, differences) = (line.case.all(), line.difference.all());
            let is_bare = |pattern: &String| pattern.trim_matches('*').is_empty();
            ensure!(!differences.iter().any(is_bare), "{place} excuses everything");
            ensure!(!cases.is_empty() && !differences.is_empty(), "{place} excuses nothing");
            for case in &cases {
                for difference in &differences {
                    self.entries.push(Deviation {
                        file: file.to_owned(),
                        case: case.clone(),
                        difference: difference.clone(),
                        reason: line.reason.clone(),
                        is_used: false,
                    });
                }
            }
        }
        Ok(())
    }

    /// Those of one file, for a test of its own.
    #[must_use]
    pub fn only(mut self, file: &str) -> Self {
        self.entries.retain(|entry| entry.file == file);
        self
    }

    /// Those of all other files.
    #[must_use]
    pub fn without(mut self, file: &str) -> Self {
        self.entries.retain(|entry| entry.file != file);
        self
    }

    /// The reason why this difference is meant, if it is.
    pub fn reason(&mut self, case: &str, difference: &str) -> Option<&str> {
        let excuses = |entry: &&mut Deviation| {
            fits(&entry.case, case) && fits(&format!("*{}*", entry.difference), difference)
        };
        let entry = self.entries.iter_mut().find(excuses)?;
        entry.is_used = true;
        Some(&entry.reason)
    }

    /// The entries that excused nothing.
    pub fn unused(&self) -> Vec<String> {
        let idle = self.entries.iter().filter(|entry| !entry.is_used);
        idle.map(|Deviation { file, case, difference, .. }| {
            format!("{file}: case {case:?}, difference {difference:?}")
        })
        .collect()
    }
}

/// Whether a text fits a pattern with `*` and `?`. Goes back to the last `*` only, so the work is
/// bounded by the product of the lengths.
fn fits(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at_pattern, mut at_text) = (0, 0);
    // Where the last star stands, and the text that it has not swallowed yet.
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = text.get(at_text) {
        match pattern.get(at_pattern) {
            Some('*') => {
                star = Some((at_pattern, at_text));
                at_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == character => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => {
                let Some((star_pattern, star_text)) = star else { return false };
                star = Some((star_pattern, star_text + 1));
                at_pattern = star_pattern + 1;
                at_text = star_text + 1;
            }
        }
    }
    pattern.iter().skip(at_pattern).all(|wanted| *wanted == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_two_wildcards() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(fits(pattern, text), expected, "{pattern} / {text}");
        };
        check("auth/0*", "auth/002-x", true);
        check("auth/0*", "auth/102-x", false);
        check("*a*b?", "xaxxbxbz", true);
        check("*a*b?", "xaxxbxb", false);
        check("body[*].x", "body[12].x", true);
        check("body[*].x", "body1.x", false);
        check("", "", true);
        check("", "a", false);
        check("**", "", true);
    }

    #[test]
    fn a_deviation_needs_a_reason_and_a_use() {
        let mut deviations = Deviations::default();
        let line = r#"{"case":"auth/*","difference":"body.code","reason":"ours is clearer"}"#;
        deviations.add("auth", line).unwrap();
        assert_eq!(deviations.unused().len(), 1);
        assert_eq!(deviations.reason("auth/1", "body.data: want 1, got 2"), None);
        assert_eq!(deviations.reason("other/1", "body.code: want 1"), None);
        assert_eq!(deviations.reason("auth/1", "step 2: body.code: w"), Some("ours is clearer"));
        assert_eq!(deviations.unused(), Vec::<String>::new());
        let lists = r#"{"case":["a/1","a/2"],"difference":["x","y"],"reason":"r"}"#;
        deviations.add("lists", lists).unwrap();
        assert_eq!(deviations.reason("a/2", "body.y: want 1"), Some("r"));
        assert_eq!(deviations.reason("a/3", "body.y: want 1"), None);
        assert_eq!(deviations.unused().len(), 3, "each pattern must excuse something");
        for bad in [
            r#"{"case":"a","difference":["b","*"],"reason":"c"}"#,
            r#"{"case":"a","difference":[],"reason":"c"}"#,
            r#"{"case":"a","difference":"b","reason":" "}"#,
            r#"{"case":"a","difference":"*","reason":"c"}"#,
            r#"{"case":"a","reason":"c"}"#,
            r#"{"case":"a","difference":"b","reason":"c","more":1}"#,
        ] {
            assert!(deviations.add("bad", bad).is_err(), "{bad}");
        }
    }
}
