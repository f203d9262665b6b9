//! The reader of bodies agrees with a plain parser, but for the rules that it documents.

use contract::json::{DEPTH_MAX, MEMBERS_MAX, parse};
use proptest::prelude::*;
use serde_json::Value;

/// A document that, unlike [`Value`], can repeat a member name.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(Value),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn write(&self, text: &mut String) {
        let mut separator = "";
        match self {
            Self::Leaf(value) => text.push_str(&value.to_string()),
            Self::List(items) => {
                text.push('[');
                for item in items {
                    text.push_str(separator);
                    item.write(text);
                    separator = ", ";
                }
                text.push(']');
            }
            Self::Object(members) => {
                text.push('{');
                for (name, member) in members {
                    text.push_str(separator);
                    text.push_str(&Value::from(name.as_str()).to_string());
                    text.push(':');
                    member.write(text);
                    separator = ",\n";
                }
                text.push('}');
            }
        }
    }

    fn children(&self) -> Vec<&Tree> {
        match self {
            Self::Leaf(_) => Vec::new(),
            Self::List(items) => items.iter().collect(),
            Self::Object(members) => members.iter().map(|(_, member)| member).collect(),
        }
    }

    fn depth(&self) -> usize {
        let deepest = self.children().into_iter().map(Self::depth).max().unwrap_or(0);
        deepest + usize::from(!matches!(self, Self::Leaf(_)))
    }

    fn members(&self) -> usize {
        let own = if let Self::Object(members) = self { members.len() } else { 0 };
        own + self.children().into_iter().map(Self::members).sum::<usize>()
    }

    fn repeats_a_name(&self) -> bool {
        let own = match self {
            Self::Object(members) => {
                let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                names.windows(2).any(|pair| pair[0] == pair[1])
            }
            _ => false,
        };
        own || self.children().into_iter().any(Self::repeats_a_name)
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let name = prop_oneof![9 => any::<String>(), 1 => Just(String::from("a"))];
    leaf().prop_map(Tree::Leaf).prop_recursive(20, 60, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            prop::collection::vec((name.clone(), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

/// Bytes that are nearly JSON: pieces of it in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "1",
            "-0",
            "1e5",
            "1e999",
            "01",
            "null",
            "true",
            "\"\\u0061\"",
            "\"\\ud800\"",
            "\u{feff}",
            " ",
            "\n",
            "\"",
            "\\",
            "nul",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn check_agreement(bytes: &[u8]) -> Result<(), TestCaseError> {
    match (parse(bytes), serde_json::from_slice::<Value>(bytes)) {
        (Ok(ours), theirs) => prop_assert_eq!(ours, theirs.expect("a plain parser accepts it")),
        (Err(_), Err(_)) => {}
        (Err(message), Ok(_)) => {
            let documented = ["appears twice", "nested deeper than", "more than"]
                .iter()
                .any(|rule| message.contains(rule));
            prop_assert!(documented, "{}", message);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        check_agreement(&bytes)?;
    }

    #[test]
    fn nearly_json(bytes in pieces()) {
        check_agreement(&bytes)?;
    }

    #[test]
    fn json_is_refused_for_the_documented_reasons_alone(tree in tree()) {
        let mut text = String::new();
        tree.write(&mut text);
        let within_limits = tree.depth() <= DEPTH_MAX && tree.members() <= MEMBERS_MAX;
        prop_assert_eq!(parse(text.as_bytes()).is_ok(), within_limits && !tree.repeats_a_name());
        check_agreement(text.as_bytes())?;
    }

    #[test]
    fn a_chain_is_refused_by_its_depth(depth in 1_usize..40, object: bool) {
        let (open, close) = if object { ("{\"a\":", "}") } else { ("[", "]") };
        let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        prop_assert_eq!(parse(text.as_bytes()).is_ok(), depth <= DEPTH_MAX);
    }
}
