//! `cargo xtask tidy`: the rules of this repository that neither the compiler nor clippy knows.
//! Which crate may see which, how long a file or a function may be, what no file may contain.
//!
//! Each rule of [`RULES`] is also a test of this crate, so `cargo test` checks them. **A rule only
//! reads**; each problem it finds says where, and what to do. Files that carry
//! `@generated` in their first lines are exempt from the rules of size.

mod dependencies;
mod documents;
mod examples;
mod messages;
mod rings;
mod scan;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::dependencies::{layers, owned_dependencies};
use self::documents::{case_counts, document_paths};
use self::examples::example_changes;
use self::messages::logged_messages;
use self::rings::module_rings;
use self::scan::{functions, product_lines};
use self::words::glossary;
use crate::tools;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_CHARS_MAX: usize = 100;
/// Fewer characters than this in a file's opening paragraph say nothing.
const OPENING_CHARS_MIN: usize = 30;

type Problems = Vec<String>;

/// What a rule looks at.
struct Tree {
    files: Vec<File>,
    /// `cargo metadata` of the workspace.
    metadata: Value,
}

/// A text file of the repository.
struct File {
    /// Relative to the root, with forward slashes.
    path: String,
    text: String,
}

struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Problems,
}

/// A rule is a function; the table of them and the tests of the repository come from this list.
macro_rules! rules {
    ($($rule:ident)*) => {
        static RULES: &[Rule] = &[$(Rule { name: stringify!($rule), check: $rule }),*];

        #[cfg(test)]
        mod repository_keeps {
            $(#[test] fn $rule() { super::tests::assert_kept(super::$rule); })*
        }
    };
}

rules! {
    layers
    owned_dependencies
    file_length
    function_length
    line_length
    opening_paragraph
    unfinished_code
    machine_paths
    sql_in_rows_only
    module_rings
    document_paths
    case_counts
    example_changes
    logged_messages
    glossary
}

pub(crate) fn run() -> Result<()> {
    let tree = Tree::read()?;
    let mut problem_count = 0;
    for rule in RULES {
        for problem in (rule.check)(&tree) {
            eprintln!("{}: {problem}", rule.name);
            problem_count += 1;
        }
    }
    ensure!(problem_count == 0, "{problem_count} problems found");
    println!("{} files pass {} rules", tree.files.len(), RULES.len());
    Ok(())
}

fn file_length(tree: &Tree) -> Problems {
    let sources = tree.sources(&[".rs", ".ts", ".svelte"]).filter(|file| !file.is_generated());
    let too_long = sources.filter(|file| file.text.lines().count() > FILE_LINES_MAX);
    let say = |file: &File| {
        let count = file.text.lines().count();
        format!("{} has {count} lines; split it, the limit is {FILE_LINES_MAX}", file.path)
    };
    too_long.map(say).collect()
}

fn function_length(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    for file in tree.sources(&[".rs"]).filter(|file| !file.is_test() && !file.is_generated()) {
        for function in functions(&product_lines(&file.text)) {
            if function.line_count > FUNCTION_LINES_MAX {
                problems.push(format!(
                    "{}:{} `{}` has {} lines; split it, the limit is {FUNCTION_LINES_MAX}",
                    file.path, function.line_number, function.name, function.line_count
                ));
            }
        }
    }
    problems
}

/// Tests may hold a long value on one line; broken up it would be harder to read.
fn line_length(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    let sources = tree.sources(&[".rs"]).filter(|file| !file.is_generated() && !file.is_test());
    for file in sources {
        let product = file.text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
        for (index, _) in product.enumerate().filter(|(_, l)| l.chars().count() > LINE_CHARS_MAX) {
            problems.push(format!("{}:{} is too long: wrap it", file.path, index + 1));
        }
    }
    problems
}

fn opening_paragraph(tree: &Tree) -> Problems {
    let opening_chars = |file: &File| -> usize {
        let opening = file.text.lines().map_while(|line| line.strip_prefix("//!"));
        opening.map(|line| line.trim().chars().count()).sum()
    };
    tree.sources(&[".rs"])
        .filter(|file| opening_chars(file) < OPENING_CHARS_MIN)
        .map(|file| format!("{} must start with a `//!` paragraph", file.path))
        .collect()
}

/// The words are put together here, so that this file does not contain what it looks for.
fn unfinished_code(tree: &Tree) -> Problems {
    let words = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[", "ignore")];
    let is_unfinished = |line: &str| words.iter().any(|word| line.contains(word));
    find_lines(tree.sources(&[".rs"]), is_unfinished, "is unfinished: finish or remove it")
}

fn machine_paths(tree: &Tree) -> Problems {
    let folders: Vec<String> =
        ["home", "root", "work", "Users"].iter().map(|name| format!("/{name}/")).collect();
    let names_folder = |line: &str| folders.iter().any(|folder| names_path(line, folder));
    find_lines(tree.files.iter(), names_folder, "contains a path of one machine: make it relative")
}

/// Whether a path begins with `folder` here. In the middle of an address or a longer path it is
/// somebody else's word.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        before.is_none_or(|character| {
            !character.is_alphanumeric() && !"/._-~*{}<>$\\%@?&".contains(character)
        })
    })
}

/// Where SQL may stand: the engine, the migrations, the rows of each domain, and what prints
/// questions about facts for ClickHouse.
fn may_speak_sql(path: &str) -> bool {
    let Some((name, file)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
    else {
        return true;
    };
    ["db", "schema", "testkit"].contains(&name)
        || name.ends_with("_rows")
        || file == "src/rows.rs"
        || file.starts_with("src/rows/")
        || name == "analytics"
            && ["src/clickhouse/", "examples/clickhouse/"].iter().any(|own| file.starts_with(own))
}

fn sql_in_rows_only(tree: &Tree) -> Problems {
    let verbs = ["SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE "];
    let has_sql = |line: &str| verbs.iter().any(|verb| line.contains(verb));
    let mut problems = Problems::new();
    for file in tree.sources(&[".rs"]).filter(|file| !file.is_test()) {
        if may_speak_sql(&file.path) {
            continue;
        }
        for (number, line) in product_lines(&file.text) {
            if has_sql(line) && !line.trim_start().starts_with("//") {
                problems.push(format!(
                    "{}:{number} contains SQL: add a query to the rows of its domain",
                    file.path
                ));
            }
        }
    }
    problems
}

fn find_lines<'tree>(
    files: impl Iterator<Item = &'tree File>,
    is_bad: impl Fn(&str) -> bool,
    advice: &str,
) -> Problems {
    let mut problems = Problems::new();
    for file in files {
        for (index, _) in file.text.lines().enumerate().filter(|(_, line)| is_bad(line)) {
            problems.push(format!("{}:{} {advice}", file.path, index + 1));
        }
    }
    problems
}

impl Tree {
    fn read() -> Result<Tree> {
        let root = tools::root();
        let mut files = Vec::new();
        for path in file_paths(&root)? {
            // Not UTF-8 is not text; not there is deleted, but not yet committed.
            if let Ok(text) = fs::read_to_string(root.join(&path)) {
                files.push(File { path, text });
            }
        }
        Ok(Tree { files, metadata: tools::metadata()? })
    }

    fn sources(&self, endings: &'static [&'static str]) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| endings.iter().any(|ending| file.path.ends_with(ending)))
    }
}

impl File {
    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|part| part == "tests")
    }

    fn is_generated(&self) -> bool {
        self.text.lines().take(5).any(|line| line.contains("@generated"))
    }
}

/// The files under version control or about to be; without git, all but what tools put there.
fn file_paths(root: &Path) -> Result<Vec<String>> {
    if !root.join(".git").exists() {
        let mut paths = Vec::new();
        walk(root, root, &mut paths)?;
        return Ok(paths);
    }
    // Containers check out as one user and build as another, which git would refuse.
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let mut git = Command::new("git");
    git.current_dir(root).args(["-c", "safe.directory=*"]).args(list);
    Ok(tools::read(&mut git)?.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path: PathBuf = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() {
            if !["target", "node_modules", "boardwalk-data"].contains(&name) {
                walk(root, &path, paths)?;
            }
        } else if let Some(relative) = path.strip_prefix(root)?.to_str() {
            paths.push(relative.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    pub(super) fn assert_kept(check: fn(&Tree) -> Problems) {
        static REPOSITORY: LazyLock<Tree> = LazyLock::new(|| Tree::read().unwrap());
        let problems = check(&REPOSITORY);
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    }

    fn tree(files: &[(&str, &str)], metadata: Value) -> Tree {
        let file =
            |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        Tree { files: files.iter().map(file).collect(), metadata }
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let folder = format!("/{}/", "home");
        let check = |line: &str, expected: bool| {
            assert_eq!(names_path(&line.replace('~', &folder), &folder), expected, "{line}");
        };
        check("cd ~me", true);
        check("path = \"~me\"", true);
        check("https://example.com~me", false);
        check("{root}~me", false);
    }

    #[test]
    fn sql_is_found_outside_the_rows() {
        let text = [
            "//! SELECT ",
            "let a = \"SELECT 1\";",
            "// SELECT ",
            "#[cfg(test)]",
            "mod tests {",
            "    \"SELECT 1\"",
            "}",
        ]
        .join("\n");
        let count = |path: &str| sql_in_rows_only(&tree(&[(path, &text)], Value::Null)).len();
        assert_eq!(count("crates/server/src/lib.rs"), 1);
        assert_eq!(count("crates/server/tests/all.rs"), 0);
        let places = [
            "db/src/lib.rs",
            "shop_rows/src/order.rs",
            "onboarding/src/rows/tpn.rs",
            "analytics/src/clickhouse/question.rs",
        ];
        for place in places {
            assert_eq!(count(&format!("crates/{place}")), 0, "{place}");
        }
        assert_eq!(count("crates/onboarding/src/rowing.rs"), 1);
    }
}
