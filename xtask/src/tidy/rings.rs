//! Rings of modules: within one folder of a crate, modules may use each other in one direction
//! only. Each module stands here for itself and everything below it; what a module has with its own
//! children is its own affair, and a name that a parent hands on belongs to the child that has it.
//!
//! **Reads imports and paths only**: what begins with `crate::`, `super::`, `self::` or the name of
//! a child. Code that a macro makes is not seen.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::scan::product_lines;
use super::{Problems, Tree};

pub(super) fn module_rings(tree: &Tree) -> Problems {
    let mut problems = Problems::new();
    for (name, modules) in crates(tree) {
        problems.extend(rings(&modules).into_iter().map(|ring| format!("{name}: {ring}")));
    }
    problems
}

/// The path of a module from the root of its crate.
type Path<'tree> = Vec<&'tree str>;

struct Module<'tree> {
    file: &'tree str,
    imports: Vec<Import<'tree>>,
}

type Modules<'tree> = BTreeMap<Path<'tree>, Module<'tree>>;

/// A path as it is written in a file, without what groups it with others.
struct Import<'tree> {
    line: usize,
    words: Vec<&'tree str>,
    /// Whether it hands the name on.
    is_public: bool,
}

/// The modules of each crate, without its tests.
fn crates(tree: &Tree) -> BTreeMap<&str, Modules<'_>> {
    let mut crates: BTreeMap<&str, Modules<'_>> = BTreeMap::new();
    for file in tree.sources(&[".rs"]).filter(|file| !file.is_test()) {
        let inside = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        let Some((name, path)) = inside else { continue };
        let path = path.trim_end_matches(".rs");
        let path = if ["lib", "main"].contains(&path) { Vec::new() } else { words(path, "/") };
        let module = Module { file: &file.path, imports: imports(&file.text) };
        crates.entry(name).or_default().insert(path, module);
    }
    crates
}

fn words<'text>(text: &'text str, separator: &str) -> Vec<&'text str> {
    text.split(separator).collect()
}

fn imports(text: &str) -> Vec<Import<'_>> {
    let mut imports = Vec::new();
    let mut lines = product_lines(text).into_iter();
    while let Some((number, line)) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        let Some((is_public, first)) = use_item(code) else {
            imports.extend(inline_paths(code, number));
            continue;
        };
        let mut item = vec![(number, first)];
        while !item.last().is_some_and(|(_, line)| line.ends_with(';')) {
            let Some((number, line)) = lines.next() else { break };
            item.push((number, line.trim()));
        }
        let tokens = item.iter().flat_map(|(number, line)| tokens(line, *number));
        imports.extend(grouped_paths(tokens, is_public));
    }
    imports
}

/// The paths of a `use` item, each written out.
fn grouped_paths<'text>(
    tokens: impl Iterator<Item = (usize, &'text str)>,
    is_public: bool,
) -> Vec<Import<'text>> {
    let mut imports = Vec::new();
    let (mut groups, mut path): (Vec<Vec<&str>>, Vec<&str>) = (Vec::new(), Vec::new());
    for (line, token) in tokens {
        match token {
            "{" => groups.push(path.clone()),
            "}" | "," | ";" => {
                if token == "}" {
                    groups.pop();
                }
                path = groups.last().cloned().unwrap_or_default();
            }
            part => {
                for word in part.split("::").filter(|word| !word.is_empty()) {
                    // Behind a path it stands for that path.
                    if word != "self" || path.is_empty() {
                        path.push(word);
                    }
                }
                if !part.ends_with("::") {
                    imports.push(Import { line, words: path.clone(), is_public });
                }
            }
        }
    }
    imports
}

/// What follows `use`, and whether it is handed on.
fn use_item(code: &str) -> Option<(bool, &str)> {
    if let Some(rest) = code.strip_prefix("use ") {
        return Some((false, rest));
    }
    let rest = code.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => rest,
    };
    Some((true, rest.strip_prefix(" use ")?))
}

/// Paths, braces, commas and the end of a `use` item. New names (`as`) are left out.
fn tokens(line: &str, number: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_renamed = false;
    for word in line.split_inclusive([' ', '{', '}', ',', ';']) {
        let (path, end) = word.split_at(word.len() - 1);
        let (path, end) = if " {},;".contains(end) { (path, end) } else { (word, "") };
        if path == "as" {
            is_renamed = true;
        } else if !path.is_empty() && !std::mem::take(&mut is_renamed) {
            found.push((number, path));
        }
        if !end.trim().is_empty() {
            found.push((number, end));
        }
    }
    found
}

/// Paths in the middle of code that begin at the crate, the parent or the module itself.
fn inline_paths(code: &str, line: usize) -> Vec<Import<'_>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut found = Vec::new();
    for path in code.split(|character| !is_word(character) && character != ':') {
        let words: Vec<&str> = path.trim_end_matches(':').split("::").collect();
        let is_ours = words.first().is_some_and(|first| ["crate", "super", "self"].contains(first));
        if is_ours && words.len() > 1 {
            found.push(Import { line, words, is_public: false });
        }
    }
    found
}

/// The rings of a crate, each as its members and the imports of a shortest way around.
fn rings(modules: &Modules<'_>) -> Vec<String> {
    let mut folders: BTreeMap<&[&str], Graph<'_>> = BTreeMap::new();
    for (from, module) in modules {
        for import in &module.imports {
            let Some(target) = absolute(modules, from, &import.words) else { continue };
            let to = owner(modules, target, 0);
            let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
            let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) else { continue };
            let folder = from.get(..shared).unwrap_or_default();
            let tie = format!("{}:{} `{}`", module.file, import.line, import.words.join("::"));
            let edges = folders.entry(folder).or_default().entry(user).or_default();
            edges.entry(used).or_insert(tie);
        }
    }
    folders.values().flat_map(rings_of).collect()
}

/// Who uses whom, and one import that shows it.
type Graph<'tree> = BTreeMap<&'tree str, BTreeMap<&'tree str, String>>;

/// The path from the root of the crate; none for what is of another crate.
fn absolute<'tree>(
    modules: &Modules<'tree>,
    from: &[&'tree str],
    words: &[&'tree str],
) -> Option<Path<'tree>> {
    let up = words.iter().take_while(|word| **word == "super").count();
    let (first, rest) = words.split_first()?;
    match *first {
        "crate" => Some(rest.to_vec()),
        "self" => Some([from, rest].concat()),
        "super" => Some([from.get(..from.len().checked_sub(up)?)?, words.get(up..)?].concat()),
        child => {
            let is_child = modules.contains_key([from, &[child]].concat().as_slice());
            is_child.then(|| [from, words].concat())
        }
    }
}

/// How often a name may be handed on before its owner is found.
const HANDED_ON_MAX: usize = 8;

/// The module that a path leads to, through parents that hand on the names of their children.
fn owner<'tree>(modules: &Modules<'tree>, target: Path<'tree>, depth: usize) -> Path<'tree> {
    let is_module = |length: &usize| modules.contains_key(target.get(..*length).unwrap_or(&[]));
    let length = (0..=target.len()).rev().find(is_module).unwrap_or(0);
    let (at, rest) = target.split_at(length);
    let handed_on = modules.get(at).zip(rest.first()).and_then(|(module, name)| {
        module.imports.iter().find(|it| it.is_public && it.words.last() == Some(name))
    });
    let next = handed_on.and_then(|import| absolute(modules, at, &import.words));
    match next {
        Some(next) if depth < HANDED_ON_MAX && next != target => owner(modules, next, depth + 1),
        _ => at.to_vec(),
    }
}

fn rings_of(graph: &Graph<'_>) -> Vec<String> {
    let mut rings = Vec::new();
    let mut told = BTreeSet::new();
    for start in graph.keys() {
        let Some(way) = way_around(graph, start) else { continue };
        let is_in_ring =
            |other: &&&str| reaches(graph, start, other) && reaches(graph, other, start);
        let members: Vec<&str> = graph.keys().filter(is_in_ring).copied().collect();
        if !told.contains(start) {
            let ways = members.iter().filter_map(|member| way_around(graph, member));
            let shortest = ways.min_by_key(Vec::len).unwrap_or(way);
            rings.push(format!("{} form a ring: {}", members.join(", "), shortest.join(", ")));
        }
        told.extend(members);
    }
    rings
}

fn reaches(graph: &Graph<'_>, from: &str, to: &str) -> bool {
    from == to || way(graph, from, to).is_some()
}

/// The imports of a shortest way from a module back to itself.
fn way_around(graph: &Graph<'_>, start: &str) -> Option<Vec<String>> {
    way(graph, start, start)
}

fn way(graph: &Graph<'_>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut waiting = VecDeque::from([(from, Vec::new())]);
    while let Some((at, ties)) = waiting.pop_front() {
        for (next, tie) in graph.get(at).into_iter().flatten() {
            let mut ties = ties.clone();
            ties.push(tie.clone());
            if *next == to {
                return Some(ties);
            }
            if seen.insert(*next) {
                waiting.push_back((next, ties));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::tidy::File;

    fn rings_in(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File {
            path: format!("crates/one/src/{path}"),
            text: (*text).to_owned(),
        };
        let tree = Tree { files: files.iter().map(file).collect(), metadata: Value::Null };
        module_rings(&tree)
    }

    #[test]
    fn paths_of_imports_are_read() {
        let text = "pub(crate) use a::{\n    b::{self, C as D},\n    e,\n};\nuse f;\n\
                    // use g;\nlet x = crate::h::i(super::j::K::L);\n#[cfg(test)]\nmod tests {\n    \
                    use crate::m;\n}\n";
        let found = imports(text);
        let found: Vec<(usize, String, bool)> =
            found.iter().map(|it| (it.line, it.words.join("::"), it.is_public)).collect();
        let expected = [
            (2, "a::b", true),
            (2, "a::b::C", true),
            (3, "a::e", true),
            (5, "f", false),
            (7, "crate::h::i", false),
            (7, "super::j::K::L", false),
        ];
        assert_eq!(found, expected.map(|(line, path, public)| (line, path.to_owned(), public)));
    }

    #[test]
    fn a_ring_is_told_with_its_ties() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nuse a::A;\n"),
            ("a.rs", "use crate::b::B;\n"),
            ("b.rs", "fn f() { super::c::deep::g() }\n"),
            ("c.rs", "mod deep;\n"),
            ("c/deep.rs", "use super::super::a::A;\n"),
        ];
        let found = rings_in(&files);
        let expected = "one: a, b, c form a ring: crates/one/src/a.rs:1 `crate::b::B`, \
            crates/one/src/b.rs:1 `super::c::deep::g`, \
            crates/one/src/c/deep.rs:1 `super::super::a::A`";
        assert_eq!(found, [expected]);
        assert!(rings_in(&files[..4]).is_empty());
    }

    #[test]
    fn a_name_that_is_handed_on_is_its_owners() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
            ("a.rs", "use crate::b::B;\n"),
            ("b.rs", "use crate::A;\n"),
        ];
        assert_eq!(rings_in(&files).len(), 1);
    }

    #[test]
    fn a_parent_and_its_children_are_one() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a.rs", "mod b;\nuse b::B;\npub struct A;\n"),
            ("a/b.rs", "use super::A;\n"),
        ];
        assert!(rings_in(&files).is_empty());
    }
}
