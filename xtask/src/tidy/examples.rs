//! The changes that CONTRIBUTING shows as examples: each block marked `diff` must apply to the tree
//! as it is, and touch few files, so that what it promises stays true.

use super::{File, Problems, Tree};

const DOCUMENT: &str = "CONTRIBUTING.md";
/// Rust files that one of the changes may touch.
const FILES_MAX: usize = 2;

pub(super) fn example_changes(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    let Some(document) = tree.files.iter().find(|file| file.path == DOCUMENT) else {
        return problems;
    };
    for change in blocks(&document.text) {
        let changed = files(&change);
        if changed.len() > FILES_MAX {
            let paths: Vec<&str> = changed.iter().map(|(path, _)| *path).collect();
            problems.push(format!("{DOCUMENT}: an example changes {}", paths.join(", ")));
        }
        for (path, hunks) in changed {
            let Some(file) = tree.files.iter().find(|file| file.path == path) else {
                problems.push(format!("{DOCUMENT}: an example changes {path}, which there is not"));
                continue;
            };
            let stale = hunks.iter().filter(|hunk| !has_lines(file, hunk));
            problems.extend(stale.map(|hunk| {
                let first = hunk.first().copied().unwrap_or_default().trim();
                format!("{DOCUMENT}: an example does not apply to {path} at `{first}`")
            }));
        }
    }
    problems
}

/// The lines of each block.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```diff" {
            blocks.push(lines.by_ref().take_while(|line| *line != "```").collect());
        }
    }
    blocks
}

/// A path and, for each place that changes there, the lines as they are before.
type Changed<'text> = (&'text str, Vec<Vec<&'text str>>);

fn files<'text>(change: &[&'text str]) -> Vec<Changed<'text>> {
    let mut files: Vec<Changed<'text>> = Vec::new();
    for line in change {
        if let Some(path) = line.strip_prefix("+++ b/") {
            files.push((path, Vec::new()));
        } else if line.starts_with("@@")
            && let Some((_, hunks)) = files.last_mut()
        {
            hunks.push(Vec::new());
        } else if let Some(before) = line.strip_prefix([' ', '-'])
            && !line.starts_with("---")
            && let Some(hunk) = files.last_mut().and_then(|(_, hunks)| hunks.last_mut())
        {
            hunk.push(before);
        }
    }
    files
}

fn has_lines(file: &File, hunk: &[&str]) -> bool {
    let lines: Vec<&str> = file.text.lines().collect();
    !hunk.is_empty() && lines.windows(hunk.len()).any(|window| window == hunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: &str = "```diff\n--- a/a.rs\n+++ b/a.rs\n@@ one @@\n one\n-two\n+three\n```\n";

    fn tree(text: &str, source: &str) -> Tree {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = vec![file(DOCUMENT, text), file("a.rs", source)];
        Tree { files, metadata: serde_json::Value::Null }
    }

    #[test]
    fn a_change_that_applies_is_fine() {
        assert!(example_changes(&tree(CHANGE, "zero\none\ntwo\n")).is_empty());
    }

    #[test]
    fn a_change_of_other_lines_is_told() {
        let problems = example_changes(&tree(CHANGE, "one\nzero\ntwo\n"));
        assert_eq!(problems, ["CONTRIBUTING.md: an example does not apply to a.rs at `one`"]);
    }

    #[test]
    fn a_change_of_three_files_is_told() {
        let file = "+++ b/a.rs\n@@ @@\n one\n";
        let text = format!("```diff\n{file}{file}{file}```\n");
        assert_eq!(example_changes(&tree(&text, "one\n")).len(), 1);
    }
}
