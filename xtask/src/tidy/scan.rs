//! What a line scanner can tell of Rust source: which lines ship, and where functions end. **Trusts
//! rustfmt's layout and knows no Rust beyond it**; a string that looks like code can mislead it.

/// The lines of a source file with their numbers, without its modules of tests.
pub(super) fn product_lines(text: &str) -> Vec<(usize, &str)> {
    let mut product = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        product.push((index + 1, line));
        let is_test_module = line.trim_start() == "#[cfg(test)]"
            && lines.peek().is_some_and(|(_, next)| {
                next.trim_start().starts_with("mod ") && next.ends_with('{')
            });
        if is_test_module {
            let end = format!("{}}}", indent_of(line));
            lines.by_ref().find(|(_, inner)| *inner == end);
        }
    }
    product
}

pub(super) struct Function<'text> {
    pub(super) name: &'text str,
    pub(super) line_number: usize,
    pub(super) line_count: usize,
}

/// The functions with bodies. A body ends at the first closing brace that stands as far right as
/// its `fn` line begins.
pub(super) fn functions<'text>(lines: &[(usize, &'text str)]) -> Vec<Function<'text>> {
    let mut functions = Vec::new();
    for (start, &(line_number, line)) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let rest = lines.get(start..).unwrap_or_default();
        let is_signature_end =
            |line: &str| line.ends_with('{') || line.ends_with(';') || line.ends_with('}');
        let Some(signature_end) = rest.iter().position(|(_, line)| is_signature_end(line)) else {
            continue;
        };
        if !rest.get(signature_end).is_some_and(|(_, line)| line.ends_with('{')) {
            continue;
        }
        let end = format!("{}}}", indent_of(line));
        let length = rest.iter().skip(signature_end).position(|(_, line)| *line == end);
        let line_count = signature_end + length.unwrap_or(0) + 1;
        functions.push(Function { name, line_number, line_count });
    }
    functions
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_modifier = |word: &str| {
        word.starts_with("pub")
            || word.starts_with('"')
            || ["const", "async", "unsafe", "extern", "crate)", "in", "default"].contains(&word)
    };
    let name = after.split(['(', '<']).next()?;
    before.split_whitespace().all(is_modifier).then_some(name)
}

fn indent_of(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_without_tests() {
        let text = [
            "impl A {",
            "    pub(crate) async fn one(",
            "        a: u8,",
            "    ) -> u8 {",
            "        if a {",
            "        }",
            "    }",
            "}",
            "fn empty() {}",
            "trait T {",
            "    fn none(&self);",
            "}",
            "#[cfg(test)]",
            "mod tests {",
            "    fn two() {",
            "    }",
            "}",
            "fn three() {",
            "}",
        ]
        .join("\n");
        let lines = product_lines(&text);
        let found: Vec<_> =
            functions(&lines).iter().map(|f| (f.name, f.line_number, f.line_count)).collect();
        assert_eq!(found, [("one", 2, 6), ("three", 18, 2)]);
    }
}
