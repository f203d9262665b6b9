//! oEmbed as XML: writing our answers, and reading those of providers that know no JSON.
//!
//! A document with a DOCTYPE is refused, and no entity is resolved but the five of XML itself, so
//! **a document cannot make the reader fetch or grow anything**.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};
use serde_json::{Map, Value};

/// Levels of objects in an answer; more cannot be written.
const DEPTH_MAX: usize = 16;
/// Fields of a provider's answer; more are refused.
const FIELDS_MAX: usize = 256;
const ROOT: &str = "oembed";

/// The object as a document: root `oembed`, one element per field, in order. Members of lists are
/// elements `oembed`, too. `None` if it is nested too deeply, which answers 501.
pub fn render(object: &Map<String, Value>) -> Option<String> {
    let mut out = String::from("<?xml version=\"1.0\"?>\n<oembed>");
    fields(&mut out, object, 1)?;
    out.push_str("</oembed>\n");
    Some(out)
}

fn fields(out: &mut String, object: &Map<String, Value>, depth: usize) -> Option<()> {
    object.iter().try_for_each(|(name, value)| {
        let name = if is_element_name(name) { name } else { ROOT };
        element(out, name, value, depth)
    })
}

fn element(out: &mut String, name: &str, value: &Value, depth: usize) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    out.push('<');
    out.push_str(name);
    out.push('>');
    match value {
        Value::Object(object) => fields(out, object, depth + 1)?,
        Value::Array(items) => {
            items.iter().try_for_each(|item| element(out, ROOT, item, depth + 1))?;
        }
        // As PHP prints them: no and nothing are no text.
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => out.push('1'),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => push_escaped(out, text),
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
    Some(())
}

/// Stricter than XML is: the names of oEmbed's fields and of errors all look like this.
fn is_element_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|other| other.is_ascii_alphanumeric() || "_-.".contains(other))
}

fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#039;"),
            '\t' | '\n' => out.push(character),
            // A bare one would be read as a line feed.
            '\r' => out.push_str("&#13;"),
            // XML has no way to write these.
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(character),
        }
    }
}

/// Reads a provider's document: the texts of the root's children. Text of deeper elements is
/// passed over. `None` if it is no oEmbed document.
pub fn parse(document: &[u8]) -> Option<Map<String, Value>> {
    let mut reader = Reader::from_str(std::str::from_utf8(document).ok()?);
    let mut reading = Reading::default();
    // Each turn takes at least one byte of a bounded document.
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => reading.open(tag.local_name().as_ref())?,
            Event::Empty(tag) => {
                reading.open(tag.local_name().as_ref())?;
                reading.close()?;
            }
            Event::End(_) => reading.close()?,
            Event::Text(text) => reading.text(&text.xml10_content())?,
            Event::CData(data) => reading.text(&data.xml10_content())?,
            Event::GeneralRef(reference) => {
                let character = referred(&reference)?;
                reading.text(character.encode_utf8(&mut [0; 4]))?;
            }
            Event::DocType(_) => return None,
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => return reading.finish(),
        }
    }
}

fn referred(reference: &BytesRef<'_>) -> Option<char> {
    if reference.is_char_ref() {
        return reference.resolve_char_ref().ok()?;
    }
    match reference.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// Where in the document we are, and what was found so far.
#[derive(Default)]
struct Reading {
    depth: usize,
    has_root: bool,
    field: String,
    text: String,
    found: Map<String, Value>,
}

impl Reading {
    const DEPTH_FIELD: usize = 2;

    fn open(&mut self, name: &str) -> Option<()> {
        self.depth += 1;
        match self.depth {
            1 if self.has_root || name != ROOT => return None,
            1 => self.has_root = true,
            Self::DEPTH_FIELD => name.clone_into(&mut self.field),
            _ => {}
        }
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        if self.depth == Self::DEPTH_FIELD {
            if self.found.len() >= FIELDS_MAX {
                return None;
            }
            let text = std::mem::take(&mut self.text);
            self.found.insert(std::mem::take(&mut self.field), Value::String(text));
        }
        self.depth = self.depth.checked_sub(1)?;
        Some(())
    }

    fn text(&mut self, text: &str) -> Option<()> {
        match self.depth {
            Self::DEPTH_FIELD => self.text.push_str(text),
            // Outside of the root there is nothing but blanks.
            0 if !text.trim().is_empty() => return None,
            _ => {}
        }
        Some(())
    }

    fn finish(self) -> Option<Map<String, Value>> {
        (self.has_root && self.depth == 0).then_some(self.found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_become_documents() {
        let check = |object: Value, expected: &str| {
            let document = render(object.as_object().unwrap()).unwrap();
            assert_eq!(document, format!("<?xml version=\"1.0\"?>\n<oembed>{expected}</oembed>\n"));
        };
        check(json!({}), "");
        check(
            json!({ "version": "1.0", "width": 600, "html": "<a href=\"x\">&'</a>" }),
            "<version>1.0</version><width>600</width>\
             <html>&lt;a href=&quot;x&quot;&gt;&amp;&#039;&lt;/a&gt;</html>",
        );
        let error = json!({ "code": "oembed_invalid_url", "data": { "status": 404 } });
        check(error, "<code>oembed_invalid_url</code><data><status>404</status></data>");
        check(
            json!({ "list": [1, "b"], "7": true, "a b": false, "none": null }),
            "<list><oembed>1</oembed><oembed>b</oembed></list><oembed>1</oembed>\
             <oembed></oembed><none></none>",
        );
        check(json!({ "x": "a\u{0}\u{1}b\r\n\tc\u{ffff}" }), "<x>ab&#13;\n\tc</x>");
    }

    #[test]
    fn nesting_is_bounded() {
        let mut deep = json!({});
        for _ in 0..=DEPTH_MAX {
            deep = json!({ "a": deep });
        }
        assert_eq!(render(deep.as_object().unwrap()), None);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let object = json!({ "title": "<&>'\" é\r\n\t]]>", "type": "rich", "empty": "" });
        let document = render(object.as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(parse(document.as_bytes()).unwrap()), object);
    }

    #[test]
    fn documents_of_providers_are_read_or_refused() {
        let check = |document: &str, expected: Option<Value>| {
            assert_eq!(parse(document.as_bytes()).map(Value::Object), expected, "{document}");
        };
        check(
            "<?xml version='1.0' encoding='utf-8'?>\n<!-- x --><oembed>\n <type>photo</type>\
             <html><![CDATA[<b>&amp;</b>]]>&#x41;&gt;</html><empty/>\
             <nested>a<b>c</b>d</nested></oembed>\n",
            Some(json!({
                "type": "photo", "html": "<b>&amp;</b>A>", "empty": "", "nested": "ad"
            })),
        );
        check("<oembed/>", Some(json!({})));
        check("<!DOCTYPE oembed [<!ENTITY a 'b'>]><oembed><t>&a;</t></oembed>", None);
        check("<!doctype oembed><oembed><t>a</t></oembed>", None);
        check("<oembed><!DOCTYPE x><t>a</t></oembed>", None);
        check("<oembed><t>&unknown;</t></oembed>", None);
        check("<oembed><t>&#xD800;</t></oembed>", None);
        check("<oembed><t>a</oembed>", None);
        check("<oembed><t>a</t>", None);
        check("<oembed/><oembed/>", None);
        check("<html><t>a</t></html>", None);
        check("x<oembed/>", None);
        check("", None);
        check("{\"type\":\"rich\"}", None);
        assert_eq!(parse(b"<oembed>\xff</oembed>"), None);
        let many: Vec<String> = (0..=FIELDS_MAX).map(|n| format!("<f{n}/>")).collect();
        check(&format!("<oembed>{}</oembed>", many.concat()), None);
    }

    #[test]
    fn no_bytes_make_the_reader_panic() {
        proptest::proptest!(|(text in "(<oembed>|</oembed>|<a>|</a>|<!|\\[|\\]|>|&|;|x|<|/){0,30}")| {
            parse(text.as_bytes());
        });
    }
}
