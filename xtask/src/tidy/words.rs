//! The words of the code: names use those of the glossary in CONTRIBUTING.md. What is published
//! stands in texts, which this does not look at.

use super::{Problems, Tree};

/// What no name contains, and the word for it.
const INSTEAD: &[(&str, &str)] = &[
    ("fault", "error"),
    ("faults", "errors"),
    ("gone", "deleted"),
    ("letterbox", "inbox"),
    ("mend", "fix"),
    ("stray", "orphaned"),
];

pub(super) fn glossary(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    for file in tree.sources(&[".rs"]) {
        for (index, line) in file.text.lines().enumerate() {
            for (word, instead) in INSTEAD.iter().filter(|(word, _)| names(line, word)) {
                let place = format!("{}:{}", file.path, index + 1);
                problems.push(format!("{place} has `{word}` in a name: use `{instead}`"));
            }
        }
    }
    problems
}

/// Whether a name of this line has the word among its parts.
fn names(line: &str, word: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    // Every other part stands between quotes.
    let mut names = code
        .split('"')
        .step_by(2)
        .flat_map(|part| part.split(|character: char| !character.is_ascii_alphanumeric()));
    names.any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_comments_are_not_names() {
        assert!(names("let fault = read();", "fault"));
        assert!(names("fn first_fault_counts() {", "fault"));
        let line = format!("let errors = body[{0}faults{0}].take(); // a fault", '"');
        assert!(!names(&line, "faults"));
        assert!(!names("let default = read();", "fault"));
    }
}
