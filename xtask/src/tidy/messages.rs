//! What the server writes to its log is explained to operators: every warning and every error has a
//! line in the guide to logging, and that guide explains nothing that is never written.

use std::path::Path;

use super::{File, Problems, Tree};

const DOCUMENT: &str = "docs/logging.md";
/// Macros whose messages an operator may have to act on.
const EXPLAINED: [&str; 2] = ["warn!(", "error!("];
const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

pub(super) fn logged_messages(tree: &Tree) -> Problems {
    let Some(document) = tree.files.iter().find(|file| file.path == DOCUMENT) else {
        return Problems::new();
    };
    let explained = explained(&document.text);
    let is_product = |file: &&File| {
        file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && Path::new(&file.path).extension().is_some_and(|ending| ending == "rs")
    };
    let sources = tree.files.iter().filter(is_product);
    let sources: Vec<(&str, String)> =
        sources.map(|file| (file.path.as_str(), joined(&file.text))).collect();
    let mut problems = Problems::new();
    for (path, text) in &sources {
        for message in messages(text) {
            if !explained.contains(&message) {
                problems.push(format!("{path}: {DOCUMENT} does not explain `{message}`"));
            }
        }
    }
    for message in explained {
        if !sources.iter().any(|(_, text)| text.contains(message)) {
            problems.push(format!("{DOCUMENT}: `{message}` is never written"));
        }
    }
    problems
}

/// The messages in the table of the guide: rows whose first cell is a level.
fn explained(document: &str) -> Vec<&str> {
    document.lines().filter_map(message).collect()
}

fn message(row: &str) -> Option<&str> {
    let mut cells = row.strip_prefix("| ")?.split(" | ");
    LEVELS.contains(&cells.next()?).then_some(())?;
    Some(cells.next()?.trim())
}

/// The messages of warnings and errors: the last text in the brackets of such a macro.
fn messages(joined: &str) -> Vec<&str> {
    let product = joined.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    for name in EXPLAINED {
        for (start, _) in product.match_indices(name) {
            let call = product.get(start + name.len()..).unwrap_or_default();
            let end = call.find(");").unwrap_or(call.len());
            let parts: Vec<&str> = call.get(..end).unwrap_or_default().split('"').collect();
            // A literal with an escaped quotation mark would need more care; there is none.
            let last = parts.len().checked_sub(2).and_then(|last| parts.get(last));
            found.extend(last.copied());
        }
    }
    found
}

/// A source in which literals that go on in the next line are whole.
fn joined(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut is_continued = false;
    for line in source.lines() {
        let line = if is_continued { line.trim_start() } else { line };
        is_continued = line.ends_with('\\');
        text.push_str(line.strip_suffix('\\').unwrap_or(line));
        if !is_continued {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_in_calls_of_any_form() {
        let source = "warn!(error = %error.report(), \"it failed\");\n\
                      tracing::error!(\n    count,\n    \"two \\\n     lines\"\n);\n\
                      info!(\"not looked at\");\n";
        assert_eq!(messages(&joined(source)), ["it failed", "two lines"]);
    }

    #[test]
    fn rows_of_the_table_are_read() {
        let document =
            "| Level | Message | Meaning |\n|---|---|---|\n| warn | it failed | again |\n";
        assert_eq!(explained(document), ["it failed"]);
    }
}
