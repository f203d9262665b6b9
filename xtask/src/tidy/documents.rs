//! What documents name must exist: files and folders, modules and their items, names of the code.
//!
//! **Looks at links and at what stands in backticks**, outside of fenced blocks; tests run those.
//! What looks like nothing of ours (a header, a command, a value) is left alone.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{File, Problems, Tree};
use crate::tools;

/// Documents for developers: any name of code that they mention must be in the code.
const DEVELOPERS: [&str; 4] = ["ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md", "docs/adr/"];

/// What a build makes, so that no checkout has it.
const BUILT: [&str; 2] = ["web/dist", "web/node_modules"];

/// Names that look like ours and are others'.
const FOREIGN: [&str; 1] = ["pg_dump"];

/// How a file of the code ends.
const RUST: &str = ".rs";

/// Stands for a number in the name of a file.
const PLACEHOLDER: &str = "NNNN";

pub(super) fn document_paths(tree: &Tree) -> Problems {
    let index = Index::new(tree);
    let mut problems = Problems::new();
    for document in tree.sources(&[".md"]).filter(|file| is_checked(&file.path)) {
        for (line, mention) in mentions(&document.text) {
            let is_there = match mention {
                Mention::Link(target) => index.has_link(&document.path, target),
                Mention::Code(code) => index.has_code(&document.path, code),
            };
            if !is_there {
                let (path, name) = (&document.path, mention.text());
                problems.push(format!("{path}:{line} names `{name}`, which there is not"));
            }
        }
    }
    problems
}

/// The numbers of recorded cases, where the conformance folder lists them.
pub(super) fn case_counts(tree: &Tree) -> Problems {
    const LIST: &str = "conformance/README.md";
    let in_file = |file: &File| match serde_json::from_str(&file.text) {
        Ok(Value::Array(cases)) => cases.len(),
        _ => file.text.lines().count(),
    };
    let mut problems = Problems::new();
    let Some(list) = tree.files.iter().find(|file| file.path == LIST) else { return problems };
    for (name, folder, ending) in
        [("onboarding", "onboarding/cases/", ".json"), ("rest", "rest/", ".jsonl")]
    {
        let is_inside = |file: &&File| {
            let path =
                file.path.strip_prefix("conformance/").and_then(|it| it.strip_prefix(folder));
            path.is_some_and(|path| path.ends_with(ending) && !path.contains('/'))
        };
        let files: Vec<&File> = tree.files.iter().filter(is_inside).collect();
        let count = files.iter().map(|file| in_file(file)).sum::<usize>();
        let counted = format!("| {} in {} files |", grouped(count), files.len());
        let row = list.text.lines().find(|line| line.starts_with(&format!("| [{name}]")));
        if row.is_none_or(|row| !row.contains(&counted)) {
            problems.push(format!("{LIST} does not say `{counted}` of {name}"));
        }
    }
    problems
}

/// With a comma before the thousands.
fn grouped(count: usize) -> String {
    match (count / 1000, count % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

fn is_checked(path: &str) -> bool {
    // The changelog tells of the past.
    let is_at_root = !path.contains('/') && path != "CHANGELOG.md";
    is_at_root || path.starts_with("docs/") || path.ends_with("/README.md")
}

#[derive(Clone, Copy)]
enum Mention<'text> {
    Link(&'text str),
    Code(&'text str),
}

impl<'text> Mention<'text> {
    fn text(self) -> &'text str {
        match self {
            Mention::Link(text) | Mention::Code(text) => text,
        }
    }
}

/// Links and backticked words of a document with their lines.
fn mentions(text: &str) -> Vec<(usize, Mention<'_>)> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let code = line.split('`').skip(1).step_by(2).map(Mention::Code);
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(code.chain(targets.map(Mention::Link)).map(|it| (index + 1, it)));
        }
    }
    found
}

/// What there is to be named.
struct Index<'tree> {
    tree: &'tree Tree,
    /// Files, and the folders that they are in.
    paths: BTreeSet<&'tree str>,
    /// Crates and the first folders of the tree.
    crates: BTreeSet<&'tree str>,
    roots: BTreeSet<&'tree str>,
    /// Every word of the code.
    words: BTreeSet<&'tree str>,
}

impl<'tree> Index<'tree> {
    fn new(tree: &'tree Tree) -> Self {
        let mut paths = BTreeSet::from(BUILT);
        for file in &tree.files {
            let ends = file.path.match_indices('/').map(|(end, _)| end).chain([file.path.len()]);
            paths.extend(ends.filter_map(|end| file.path.get(..end)));
        }
        let roots = paths.iter().copied().filter(|path| !path.contains('/')).collect();
        let crates = paths.iter().filter_map(|path| path.strip_prefix("crates/"));
        let crates = crates.filter(|name| !name.contains('/')).collect();
        let code = tree.sources(&[".rs", ".sql", ".toml", ".ts", ".svelte"]);
        let words = code.flat_map(|file| words(&file.text)).collect();
        Self { tree, paths, crates, roots, words }
    }

    fn has_link(&self, document: &str, target: &str) -> bool {
        let path = target.split('#').next().unwrap_or_default();
        if path.is_empty() || path.contains(':') || path.starts_with('/') {
            return true;
        }
        let mut parts: Vec<&str> = document.split('/').collect();
        parts.pop();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part);
            }
        }
        let path = parts.join("/");
        // Pictures are no text, so that the tree does not hold them.
        self.paths.contains(path.as_str()) || tools::root().join(path).is_file()
    }

    fn has_code(&self, document: &str, code: &str) -> bool {
        let is_path =
            |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
        if code.contains("::") {
            return self.has_module_path(code);
        }
        if code.contains('/') || code.ends_with(RUST) {
            let first = code.split('/').next().unwrap_or_default();
            let is_ours = code.ends_with(RUST) || self.roots.contains(first);
            let is_exact = code.chars().all(is_path) && !code.contains(PLACEHOLDER);
            return !is_ours || !is_exact || self.has_path(document, code);
        }
        let is_for_developers = DEVELOPERS.iter().any(|it| document.starts_with(it));
        let is_name = is_name_of_code(code) && !FOREIGN.contains(&code);
        !is_for_developers || !is_name || self.words.contains(code)
    }

    /// From the root of the tree, from the document's folder, or as the end of a longer path.
    fn has_path(&self, document: &str, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let ending = format!("/{path}");
        self.paths.contains(path)
            || self.has_link(document, path)
            || self.paths.iter().any(|known| known.ends_with(&ending))
    }

    /// Whether the modules of a path exist, and what it names in them is written in their files.
    fn has_module_path(&self, code: &str) -> bool {
        let parts: Vec<&str> = code.split("::").map(|part| part.trim_end_matches("()")).collect();
        let is_name = |part: &str| part.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        let Some((first, rest)) =
            parts.split_first().filter(|_| parts.iter().all(|it| is_name(it)))
        else {
            return true;
        };
        let mut roots: Vec<String> = Vec::new();
        if self.crates.contains(first) {
            roots.push(format!("crates/{first}/src"));
        } else {
            let modules = [format!("/{first}.rs"), format!("/{first}")];
            let is_module = |path: &&&str| modules.iter().any(|end| path.ends_with(end));
            let known = self.paths.iter().filter(|path| path.contains("/src/")).filter(is_module);
            roots.extend(known.map(|path| path.trim_end_matches(".rs").to_owned()));
        }
        // Nobody of ours is called so: it is of another crate.
        roots.is_empty() || roots.iter().any(|root| self.has_items(root, rest))
    }

    fn has_items(&self, root: &str, rest: &[&str]) -> bool {
        let mut at = root.to_owned();
        let mut items = rest;
        while let Some((name, others)) = items.split_first() {
            let next = format!("{at}/{name}");
            if !self.paths.contains(next.as_str()) && !self.paths.contains(&*format!("{next}.rs")) {
                break;
            }
            (at, items) = (next, others);
        }
        let (own, below) = (format!("{at}.rs"), format!("{at}/"));
        let is_inside = |file: &&File| file.path == own || file.path.starts_with(&below);
        let mut files = self.tree.sources(&[".rs"]).filter(is_inside);
        let Some((first, others)) = items.split_first() else { return true };
        files.any(|file| {
            let words: BTreeSet<&str> = words(&file.text).collect();
            defines(&file.text, first) && others.iter().all(|item| words.contains(item))
        })
    }
}

/// Whether the file has the item, or hands it on. Types may come from a macro, by any of its words.
fn defines(text: &str, item: &str) -> bool {
    let mut before = "";
    for word in words(text).filter(|word| !word.is_empty()) {
        let is_type = item.starts_with(|it: char| it.is_ascii_uppercase());
        let is_defined = ["fn", "mod", "const", "static", "macro_rules", "type"].contains(&before);
        if word == item && (is_type || is_defined) {
            return true;
        }
        before = word;
    }
    let is_handed_on = |line: &&str| line.starts_with("pub") && line.contains(" use ");
    text.lines().filter(is_handed_on).any(|line| words(line).any(|word| word == item))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
}

/// Whether only code calls something so: `TemplateView`, `MIGRATIONS`, `store_once`.
fn is_name_of_code(text: &str) -> bool {
    let is_word = text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let has = |check: fn(&char) -> bool| text.chars().filter(check).count();
    let is_mixed = has(char::is_ascii_uppercase) > 1 && has(char::is_ascii_lowercase) > 0;
    let starts_upper = text.starts_with(|it: char| it.is_ascii_uppercase());
    is_word
        && !text.starts_with('_')
        && text.len() > 3
        && (text.contains('_') || (is_mixed && starts_upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_counted() {
        let check = |row: &str, expected: usize| {
            let lines = "{}\n".repeat(1002);
            let files = [
                ("conformance/README.md", row),
                ("conformance/onboarding/cases/a.json", "[{}, {}]"),
                ("conformance/rest/a.jsonl", &lines),
                ("conformance/rest/walks/a.jsonl", "{}\n"),
            ];
            let file = |(path, text): (&str, &str)| File { path: path.into(), text: text.into() };
            let files = files.map(file).into_iter().collect();
            let problems = case_counts(&Tree { files, metadata: Value::Null });
            assert_eq!(problems.len(), expected, "{problems:?}");
        };
        let onboarding = "| [onboarding](onboarding/README.md) | 2 in 1 files | x |";
        check(&format!("{onboarding}\n| [rest](rest/README.md) | 1,002 in 1 files | x |"), 0);
        check(&format!("{onboarding}\n| [rest](rest/README.md) | 1,001 in 1 files | x |"), 1);
        check("", 2);
    }

    #[test]
    fn what_is_not_there_is_found() {
        let files = [
            ("docs/guide.md", "A `TemplateView`.\n"),
            ("crates/store/src/migrate.rs", "pub fn tables() {}\n"),
            ("crates/store/src/backup.rs", ""),
            ("crates/store/src/backup/read.rs", "struct Reader;\n"),
            ("README.md", ""),
        ];
        let check = |path: &str, line: &str, expected: bool| {
            let file = |(path, text): (&str, &str)| File { path: path.into(), text: text.into() };
            let mut all: Vec<File> = files.into_iter().map(file).collect();
            all.push(file((path, line)));
            let problems = document_paths(&Tree { files: all, metadata: Value::Null });
            assert_eq!(problems.is_empty(), expected, "{line}: {problems:?}");
        };
        for (line, expected) in [
            ("[a](docs/guide.md#part) [b](https://example.com/x) [c](#here)", true),
            ("[a](docs/other.md)", false),
            ("`crates/store/src/backup.rs`, `crates/store`, `backup/read.rs`, `/v1/x`", true),
            ("`crates/store/src/other.rs`", false),
            ("`other.rs`", false),
            ("`migrate::tables`, `db::backup::read::Reader`, `std::fs`", true),
            ("`db::backup::Reader`, `db::backup::read`", true),
            ("`migrate::other`, `store::tables`", false),
            ("`store::other`", false),
            ("```\n`other.rs`\n```", true),
            ("`Idempotency-Key`, `merchantId`, `api_key=x`", true),
            ("`TemplateView`", false),
        ] {
            check("STYLE.md", line, expected);
        }
        check("docs/more.md", "[a](guide.md) [b](../README.md) `TemplateView`", true);
        check("CHANGELOG.md", "`other.rs`", true);
    }
}
