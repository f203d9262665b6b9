//! Reading what a store answers. **No answer takes much memory, and none is read where requests are
//! served**: it is bounded in bytes and in values before it is read, and read on a thread of its
//! own. U+0000, which no record of ours can hold, is left out.

use frame::outbound::Fetched;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::trouble::{Code, Trouble};

/// Bytes of one answer. What is larger is asked for in smaller pages.
pub(crate) const BYTES_MAX: usize = 8 * 1024 * 1024;
/// Values of one answer: each takes many times the memory of the bytes that it is written with.
const VALUES_MAX: usize = 500_000;
/// An error is short. What is longer is none of the store's own.
const ERROR_BYTES_MAX: usize = 64 * 1024;
/// How U+0000 is written in JSON.
const NUL: &[u8] = b"\\u0000";

/// What can be read from an answer.
pub(crate) trait Readable: DeserializeOwned + Send + 'static {
    fn clean(&mut self);
}

impl Readable for Map<String, Value> {
    fn clean(&mut self) {
        if self.keys().any(|name| name.contains('\0')) {
            let members = std::mem::take(self).into_iter();
            *self = members.map(|(name, value)| (name.replace('\0', ""), value)).collect();
        }
        self.values_mut().for_each(clean);
    }
}

impl Readable for Vec<Map<String, Value>> {
    fn clean(&mut self) {
        self.iter_mut().for_each(Readable::clean);
    }
}

impl Readable for Value {
    fn clean(&mut self) {
        clean(self);
    }
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => text.retain(|letter| letter != '\0'),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(members) => members.clean(),
        _ => {}
    }
}

/// An answer that was read.
pub(crate) struct Read<T> {
    pub(crate) it: T,
    /// How many records there are on all pages, if the store says so.
    pub(crate) total: Option<i64>,
    pub(crate) bytes: usize,
}

/// Reads an answer.
pub(crate) async fn read<T: Readable>(answer: Fetched) -> Result<Read<T>, Trouble> {
    let total = answer.header("x-wp-total").and_then(|text| text.parse().ok());
    let bytes = answer.body.len();
    let reading = tokio::task::spawn_blocking(move || parse(&answer.body)).await;
    let it = reading.unwrap_or_else(|_| Err(Trouble::new(Code::NotJson)))?;
    Ok(Read { it, total, bytes })
}

fn parse<T: Readable>(body: &[u8]) -> Result<T, Trouble> {
    // Texts may have such bytes as well: it is a bound, and not the number.
    let values = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if values > VALUES_MAX {
        return Err(Trouble::new(Code::TooLarge));
    }
    let mut read: T = serde_json::from_slice(body)
        .map_err(|error| Trouble::new(if error.is_eof() { Code::CutOff } else { Code::NotJson }))?;
    if body.windows(NUL.len()).any(|bytes| bytes == NUL) {
        read.clean();
    }
    Ok(read)
}

/// What a store says in an answer that is an error, such as `rest_no_route`.
fn error_code(answer: &Fetched) -> Option<String> {
    if answer.body.len() > ERROR_BYTES_MAX {
        return None;
    }
    let body: Map<String, Value> = serde_json::from_slice(&answer.body).ok()?;
    body.get("code").and_then(Value::as_str).map(str::to_owned)
}

/// What a 404 or a 410 means. **Only the store's own word counts for a record that it does not
/// have**: a page, a proxy or a plugin that was switched off says nothing about records.
pub(crate) fn meaning_of_absence(answer: &Fetched) -> Code {
    match error_code(answer) {
        Some(code) if code.ends_with("invalid_id") => Code::NotFound,
        Some(code) if code != "rest_no_route" => Code::Refused,
        _ if answer.status == 410 => Code::Refused,
        _ => Code::NoInterface,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Item = Map<String, Value>;

    fn answer(status: u16, body: &str) -> Fetched {
        let final_url = url::Url::parse("https://shop.example/").unwrap();
        Fetched { status, headers: Vec::new(), body: body.as_bytes().to_vec(), final_url }
    }

    #[test]
    fn only_the_store_itself_says_that_a_record_is_not_there() {
        let meaning = |status: u16, body: &str| meaning_of_absence(&answer(status, body));
        let of_code = |code: &str| json!({ "code": code, "message": "No." }).to_string();
        for code in ["woocommerce_rest_shop_order_invalid_id", "woocommerce_rest_invalid_id"] {
            assert_eq!(meaning(404, &of_code(code)), Code::NotFound);
            assert_eq!(meaning(410, &of_code(code)), Code::NotFound);
        }
        assert_eq!(meaning(404, &of_code("rest_no_route")), Code::NoInterface);
        assert_eq!(meaning(404, "<html>Not found</html>"), Code::NoInterface);
        assert_eq!(meaning(410, "<html>Not here</html>"), Code::Refused);
        assert_eq!(meaning(404, &of_code("plugin_off")), Code::Refused);
    }

    #[test]
    fn an_answer_of_too_many_values_is_too_large() {
        let many = format!("[{}{{}}]", "{},".repeat(VALUES_MAX));
        assert_eq!(parse::<Vec<Item>>(many.as_bytes()).unwrap_err().code, Code::TooLarge);
        assert_eq!(parse::<Vec<Item>>(b"[{\"id\":1}").unwrap_err().code, Code::CutOff);
        assert_eq!(parse::<Vec<Item>>(b"{}").unwrap_err().code, Code::NotJson);
    }

    #[test]
    fn what_no_record_can_hold_is_left_out() {
        let body = br#"{"na\u0000me":"A\u0000B","in":[{"x":"\u0000"}],"kept":"\\u0000"}"#;
        let wanted = json!({ "name": "AB", "in": [{ "x": "" }], "kept": "\\u0000" });
        assert_eq!(Value::Object(parse::<Item>(body).unwrap()), wanted);
    }
}
