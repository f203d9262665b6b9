//! JSON objects made of values that are there already.

pub use serde_json::{Map, Value};

/// An object with these members. [`serde_json::json!`] serialises whatever it is given, and so
/// copies what is a [`Value`] already, once more for each object around it; this takes it as it is.
#[macro_export]
macro_rules! object {
    ($($name:literal: $value:expr),+ $(,)?) => {{
        let mut members = $crate::rest::object::Map::with_capacity([$($name),+].len());
        $(members.insert(
            ::std::string::String::from($name),
            $crate::rest::object::Value::from($value),
        );)+
        $crate::rest::object::Value::Object(members)
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_the_usual_macro_makes() {
        let list = vec![Value::from(1), Value::Null];
        let made = object! { "a": list.clone(), "b": "text", "c": Some(2), "d": None::<bool> };
        assert_eq!(made, serde_json::json!({ "a": list, "b": "text", "c": 2, "d": null }));
    }
}
