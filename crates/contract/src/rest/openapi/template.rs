//! A route's pattern as a path template: `/posts/(?P<id>[\d]+)` becomes `/posts/{id}`, and the
//! constraint stays with the variable.

use serde_json::{Map, Value, json};

use super::translate::{self, Side};

/// A path template with the constraints of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) text: String,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    /// As the template has it.
    name: String,
    /// As the parameters have it.
    arg: String,
    /// A regular expression.
    constraint: String,
}

impl Template {
    pub(super) fn of(pattern: &str) -> Self {
        let mut template = Self { text: String::new(), variables: Vec::new() };
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once("(?P<") {
            template.text.push_str(before);
            let (group, after) = split_group(after);
            let (name, constraint) = group.split_once('>').unwrap_or((group, ""));
            template.text.extend(["{", name, "}"]);
            let (name, constraint) = (name.to_owned(), constraint.to_owned());
            template.variables.push(Variable { arg: name.clone(), name, constraint });
            rest = after;
        }
        template.text.push_str(rest);
        template
    }

    /// Whether another template differs from this one in the names of variables only.
    pub(super) fn is_like(&self, other: &str) -> bool {
        let (own, other) = (self.text.split('/'), other.split('/'));
        let is_variable = |segment: &str| segment.starts_with('{') && segment.ends_with('}');
        own.clone().count() == other.clone().count()
            && own.zip(other).all(|(one, two)| one == two || (is_variable(one) && is_variable(two)))
    }

    /// Gives the variables the names that they have in another template that is like this one.
    pub(super) fn rename_variables(&mut self, like: &str) {
        let names = like.split('/').filter_map(|segment| {
            segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'))
        });
        for (variable, name) in self.variables.iter_mut().zip(names) {
            name.clone_into(&mut variable.name);
        }
        like.clone_into(&mut self.text);
    }

    pub(super) fn has(&self, arg: &str) -> bool {
        self.variables.iter().any(|variable| variable.arg == arg)
    }

    /// The path's parameters, with what the operation says about them.
    pub(super) fn parameters(&self, args: &Map<String, Value>) -> Vec<Value> {
        let nothing = json!({ "type": "string" });
        let described = self.variables.iter().map(|variable| {
            let arg = args.get(&variable.arg).unwrap_or(&nothing);
            let mut schema = translate::schema(arg, Side::Request);
            if let Some(keywords) = schema.as_object_mut() {
                let whole = format!("^(?:{})$", variable.constraint);
                keywords.insert(String::from("pattern"), json!(whole));
                let is_integer = keywords.get("type").is_some_and(|name| name == "integer");
                if is_integer && is_digits(&variable.constraint) {
                    keywords.entry("minimum").or_insert_with(|| json!(0));
                }
            }
            let mut parameter = super::parameter(&variable.name, "path", true, arg);
            parameter.insert(String::from("schema"), schema);
            Value::Object(parameter)
        });
        described.collect()
    }

    /// A name for the operation, made of letters, digits, dots and underscores.
    pub(super) fn operation_id(&self, verb: &str) -> String {
        let path = self.text.trim_matches('/').replace('{', "by_").replace('/', ".");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let path: String = path.chars().filter(|c| *c != '}').map(plain).collect();
        let path = if path.is_empty() { "index" } else { &path };
        format!("{}.{path}", verb.to_ascii_lowercase())
    }
}

fn is_digits(constraint: &str) -> bool {
    matches!(constraint, r"\d+" | r"[\d]+" | "[0-9]+")
}

/// Splits behind the parenthesis that closes the group whose inside is given.
fn split_group(inside: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    let mut in_class = false;
    let mut escaped = false;
    for (at, sign) in inside.char_indices() {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (group, after) = inside.split_at(at);
            return (group, after.strip_prefix(')').unwrap_or(after));
        }
    }
    (inside, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_templates_with_constraints() {
        let check = |pattern: &str, text: &str, variables: &[(&str, &str)]| {
            let template = Template::of(pattern);
            assert_eq!(template.text, text);
            let found: Vec<(&str, &str)> =
                template.variables.iter().map(|v| (&*v.name, &*v.constraint)).collect();
            assert_eq!(found, variables, "{pattern}");
        };
        check("/", "/", &[]);
        check("/wp/v2/posts", "/wp/v2/posts", &[]);
        check(r"/posts/(?P<id>[\d]+)", "/posts/{id}", &[("id", r"[\d]+")]);
        check(
            r"/users/(?P<user_id>(?:[\d]+|me))/passwords/(?P<uuid>[\w\-]+)",
            "/users/{user_id}/passwords/{uuid}",
            &[("user_id", r"(?:[\d]+|me)"), ("uuid", r"[\w\-]+")],
        );
        check(
            r"/plugins/(?P<plugin>[^.\/]+(?:\/[^.()]+)?)/x",
            "/plugins/{plugin}/x",
            &[("plugin", r"[^.\/]+(?:\/[^.()]+)?")],
        );
        check(r"/a/(?P<b>\(+)", "/a/{b}", &[("b", r"\(+")]);
        check("/a/(?P<b", "/a/{b}", &[("b", "")]);
    }

    #[test]
    fn renamed_variables_keep_their_parameters() {
        let mut template = Template::of(r"/a/(?P<id>[\d]+)/(?P<slug>\w+)");
        assert!(template.is_like("/a/{number}/{name}"));
        assert!(!template.is_like("/a/{number}/name") && !template.is_like("/a/{number}"));
        template.rename_variables("/a/{number}/{name}");
        assert_eq!(template.text, "/a/{number}/{name}");
        assert!(template.has("id") && template.has("slug"));
        let args = json!({ "id": { "type": "integer", "required": false } });
        let parameters = template.parameters(args.as_object().unwrap());
        assert_eq!(
            parameters.first(),
            Some(&json!({
                "name": "number", "in": "path", "required": true,
                "schema": { "type": "integer", "pattern": r"^(?:[\d]+)$", "minimum": 0 },
            }))
        );
        assert_eq!(template.operation_id("GET"), "get.a.by_number.by_name");
        assert_eq!(Template::of("/").operation_id("GET"), "get.index");
    }
}
