//! Query strings and urlencoded forms, with names in brackets: `a[b]=1` and `a[]=1&a[]=2` make maps
//! and lists. Whatever the bytes are, something sensible within the bounds comes out.

use serde_json::{Map, Value};

use super::loose;

/// Variables beyond these are dropped.
pub const VARIABLES_MAX: usize = 1000;
/// A name with more brackets than this is dropped.
pub const DEPTH_MAX: usize = 64;

/// Reads a query string or an urlencoded body. Values are text, lists or maps; the last of several
/// values of one name wins.
pub fn decode(text: &str) -> Map<String, Value> {
    let mut variables = Variables::default();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        if variables.is_full() {
            break;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        variables.add(&percent_decode(name), percent_decode(value));
    }
    variables.finish()
}

/// Variables in the making: every list and map is still an object.
#[derive(Debug, Default)]
pub struct Variables {
    members: Map<String, Value>,
    count: usize,
}

impl Variables {
    pub(super) fn is_full(&self) -> bool {
        self.count >= VARIABLES_MAX
    }

    /// Sets the variable with this name, brackets and all. A name that is none is dropped.
    pub fn add(&mut self, name: &str, value: String) {
        if self.is_full() {
            return;
        }
        self.count += 1;
        if let Some(path) = parse_name(name) {
            insert(&mut self.members, &path.root, &path.keys, value);
        }
    }

    pub fn finish(self) -> Map<String, Value> {
        self.members.into_iter().map(|(name, value)| (name, shape(value))).collect()
    }
}

struct Name<'a> {
    root: String,
    /// Nothing appends.
    keys: Vec<Option<&'a str>>,
}

fn parse_name(name: &str) -> Option<Name<'_>> {
    let name = name.trim_start_matches(' ');
    let name = name.split('\0').next().unwrap_or_default();
    let (root, brackets) = match name.find('[') {
        Some(position) => name.split_at_checked(position)?,
        None => (name, ""),
    };
    if root.is_empty() {
        return None;
    }
    if !brackets.is_empty() && !brackets.contains(']') {
        return Some(Name { root: plain_name(name), keys: Vec::new() });
    }
    let keys = parse_brackets(brackets)?;
    Some(Name { root: plain_name(root), keys })
}

/// Text after a closed bracket, and a bracket that is never closed, end the name.
fn parse_brackets(mut brackets: &str) -> Option<Vec<Option<&str>>> {
    let mut keys = Vec::new();
    while let Some((key, rest)) = brackets.strip_prefix('[').and_then(|open| open.split_once(']')) {
        if keys.len() == DEPTH_MAX {
            return None;
        }
        let appends = key.is_empty() || (key.len() == 1 && key.starts_with(loose::is_space));
        keys.push((!appends).then_some(key));
        brackets = rest;
    }
    Some(keys)
}

/// Outside brackets a name has neither dots nor spaces nor a bracket that is left open.
fn plain_name(name: &str) -> String {
    name.replace([' ', '.', '['], "_")
}

fn insert(members: &mut Map<String, Value>, name: &str, keys: &[Option<&str>], value: String) {
    let mut members = members;
    let mut name = name.to_owned();
    for key in keys {
        let slot = members.entry(name).or_insert(Value::Null);
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(inner) = slot else { return };
        name = match key {
            Some(key) => (*key).to_owned(),
            None => next_index(inner).to_string(),
        };
        members = inner;
    }
    members.insert(name, Value::String(value));
}

/// One more than the highest number among the keys.
fn next_index(members: &Map<String, Value>) -> i64 {
    let highest = members.keys().filter_map(|key| loose::index(key)).max();
    highest.map_or(0, |highest| highest.saturating_add(1).max(0))
}

/// Turns maps with the keys 0, 1, 2, … into lists, all the way down.
fn shape(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    let in_order = members.keys().enumerate().all(|(index, key)| *key == index.to_string());
    let shaped = members.into_iter().map(|(name, value)| (name, shape(value)));
    if in_order {
        Value::Array(shaped.map(|(_, value)| value).collect())
    } else {
        Value::Object(shaped.collect())
    }
}

/// Undoes percent and plus encoding; what is no UTF-8 is replaced.
pub fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = match (first, tail) {
            (b'+', tail) => (b' ', tail),
            (b'%', [high, low, tail @ ..]) => match (hex_digit(*high), hex_digit(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, tail),
                _ => (b'%', rest.get(1..).unwrap_or_default()),
            },
            (byte, tail) => (*byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Writes the query string of a link to another page, nested names with encoded brackets. As
/// clients know it, null, false and empty lists vanish, and an empty text leaves its name alone.
pub fn encode(params: &Map<String, Value>) -> String {
    let mut query = String::new();
    for (name, value) in params {
        encode_value(&mut query, &url_encode(name), value);
    }
    query
}

fn encode_value(query: &mut String, name: &str, value: &Value) {
    let text = match value {
        Value::Null | Value::Bool(false) => return,
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                encode_value(query, &format!("{name}%5B{index}%5D"), item);
            }
            return;
        }
        Value::Object(members) => {
            for (key, member) in members {
                encode_value(query, &format!("{name}%5B{}%5D", url_encode(key)), member);
            }
            return;
        }
        scalar => url_encode(&loose::scalar_text(scalar).unwrap_or_default()),
    };
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(name);
    if !text.is_empty() {
        query.push('=');
        query.push_str(&text);
    }
}

/// Percent encoding as browsers send it in forms: a space becomes `+`.
pub fn url_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 0x0f] {
                    let digit = char::from_digit(u32::from(digit), 16).unwrap_or('0');
                    encoded.push(digit.to_ascii_uppercase());
                }
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decodes_like_the_dialect() {
        for (text, expected) in [
            ("", json!({})),
            ("a=1&a=2", json!({"a": "2"})),
            ("a", json!({"a": ""})),
            ("a=", json!({"a": ""})),
            ("=x&&", json!({})),
            ("a=1=2", json!({"a": "1=2"})),
            ("a=%41+b%2B", json!({"a": "A b+"})),
            ("a=%zz%4", json!({"a": "%zz%4"})),
            ("a=%ff", json!({"a": "\u{fffd}"})),
            ("a[]=x&a[]=y", json!({"a": ["x", "y"]})),
            ("a%5B%5D=x", json!({"a": ["x"]})),
            ("a[0]=x&a[1]=y", json!({"a": ["x", "y"]})),
            ("a[1]=x", json!({"a": {"1": "x"}})),
            ("a[1]=x&a[0]=y", json!({"a": {"1": "x", "0": "y"}})),
            ("a[5]=x&a[]=y", json!({"a": {"5": "x", "6": "y"}})),
            ("a[k]=x&a[]=y", json!({"a": {"k": "x", "0": "y"}})),
            ("a[k][l][m]=1&a[k][n]=2", json!({"a": {"k": {"l": {"m": "1"}, "n": "2"}}})),
            ("a[][b]=1&a[][b]=2", json!({"a": [{"b": "1"}, {"b": "2"}]})),
            ("a.b c=1", json!({"a_b_c": "1"})),
            ("a[b.c d]=1", json!({"a": {"b.c d": "1"}})),
            ("a.b[c]=1", json!({"a_b": {"c": "1"}})),
            ("a[b=1", json!({"a_b": "1"})),
            ("a[b]c=1", json!({"a": {"b": "1"}})),
            ("a[b][c=1", json!({"a": {"b": "1"}})),
            ("[a]=1", json!({})),
            (" a=1", json!({"a": "1"})),
            ("a[ ]=1", json!({"a": ["1"]})),
            ("a=1&a[b]=2", json!({"a": {"b": "2"}})),
            ("a[b]=1&a=2", json!({"a": "2"})),
            ("a%00b=1", json!({"a": "1"})),
            ("1=a", json!({"1": "a"})),
        ] {
            assert_eq!(Value::Object(decode(text)), expected, "{text}");
        }
    }

    #[test]
    fn stays_within_its_bounds() {
        let many: Vec<String> = (0..VARIABLES_MAX + 5).map(|n| format!("v{n}=1")).collect();
        assert_eq!(decode(&many.join("&")).len(), VARIABLES_MAX);
        let nested = |levels: usize| format!("a{}=1", "[x]".repeat(levels));
        assert_eq!(decode(&nested(DEPTH_MAX)).len(), 1);
        assert_eq!(decode(&nested(DEPTH_MAX + 1)).len(), 0);
    }

    #[test]
    fn encodes_for_links() {
        for (params, expected) in [
            (json!({}), ""),
            (
                json!({"after": "2025-09-01T00:00:00", "page": 2}),
                "after=2025-09-01T00%3A00%3A00&page=2",
            ),
            (json!({"extended_info": true, "a": false, "b": null}), "extended_info=1"),
            (json!({"search": "", "page": 2}), "search&page=2"),
            (json!({"p": [11, 35]}), "p%5B0%5D=11&p%5B1%5D=35"),
            (json!({"p": [["2", "29"]]}), "p%5B0%5D%5B0%5D=2&p%5B0%5D%5B1%5D=29"),
            (json!({"p": {"a b": 1.0}, "q": []}), "p%5Ba+b%5D=1"),
            (json!({"_fields": "id,date~", "s": "ä b"}), "_fields=id%2Cdate%7E&s=%C3%A4+b"),
        ] {
            let Value::Object(params) = params else { panic!("an object") };
            assert_eq!(encode(&params), expected);
        }
    }
}
