//! Shows results: tables and sentences for people, one JSON object for scripts.

use std::io::{IsTerminal as _, Write as _};

use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Printer {
    json: bool,
}

impl Printer {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether a script reads the results.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// One result: the object for scripts, the text for people.
    pub(crate) fn result(&self, object: &Value, text: &str) {
        if self.json { document(&object.to_string()) } else { document(text) }
    }

    /// A bar on standard error for long work; nothing is drawn for scripts, or where that is no
    /// terminal.
    pub(crate) fn progress(&self, what: &'static str, total: u64) -> ProgressBar {
        if self.json {
            return ProgressBar::hidden();
        }
        let template = "{msg} {wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(total).with_style(style).with_message(what)
    }

    /// An object: itself for scripts, a table of its fields for people.
    pub(crate) fn record(&self, object: &Value) {
        let mut fields = Vec::new();
        flatten("", object, &mut fields);
        if self.json {
            return document(&object.to_string());
        }
        let rows = fields.into_iter().map(|(name, value)| (Value::Null, vec![name, value]));
        self.list("fields", &["Field", "Value"], rows.collect());
    }

    /// A value in a table.
    pub(crate) fn cell(value: Option<&Value>) -> String {
        match value {
            None | Some(Value::Null) => String::from("–"),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let items = items.iter().map(|item| Self::cell(Some(item)));
                items.collect::<Vec<String>>().join(",")
            }
            Some(other) => other.to_string(),
        }
    }

    /// A list: an object with `name` for scripts, a table for people.
    pub(crate) fn list(&self, name: &str, headings: &[&str], rows: Vec<(Value, Vec<String>)>) {
        if self.json {
            let objects: Vec<Value> = rows.into_iter().map(|(object, _)| object).collect();
            return document(&serde_json::json!({ name: objects }).to_string());
        }
        if rows.is_empty() {
            return document("No entries.");
        }
        let mut table = Table::new();
        if std::io::stdout().is_terminal() {
            // One rule below the headings, and none between the rows.
            table.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()));
            table.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            // For `grep` and `awk`: a line is a row, and nothing is drawn.
            table.load_style(presets::NOTHING);
        }
        table.set_header(headings.iter().copied());
        for (_, cells) in rows {
            table.add_row(cells);
        }
        document(&table.to_string());
    }
}

/// Members of members by their path, such as `contact.email`, and objects of a list by their place.
fn flatten(path: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, member, fields);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (place, item) in (1..).zip(items) {
                let parts = item.as_object().into_iter().flat_map(serde_json::Map::values);
                let parts: Vec<String> = parts.map(|part| Printer::cell(Some(part))).collect();
                fields.push((format!("{path}.{place}"), parts.join("  ")));
            }
        }
        value => fields.push((path.to_owned(), Printer::cell(Some(value)))),
    }
}

/// A text that is the result itself, such as a document. A reader that has seen enough may close
/// the pipe; any other result that cannot be written ends the program, because it may be a key that
/// is not shown again.
pub(crate) fn document(text: &str) {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            failure(&format!("cannot write the result: {error}"));
            std::process::exit(1);
        }
        _ => {}
    }
}

/// What else is to be said about a failure, line by line.
pub(crate) fn notes(text: &str) {
    complain(text);
}

/// Why the command failed, on one line whatever the cause had to say.
pub(crate) fn failure(text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    complain(&format!("boardwalk: {}", words.join(" ")));
}

/// Nobody may be reading: a closed pipe is no reason to end otherwise than by the exit status.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
