//! Forms with files, well formed and otherwise.

use contract::rest::multipart::{FILES_MAX, HEAD_BYTES_MAX, decode};
use serde_json::{Value, json};

const TYPE: &str = "multipart/form-data; boundary=XX";

fn body(parts: &[&str]) -> Vec<u8> {
    let parts = parts.join("\r\n--XX\r\n");
    format!("--XX\r\n{parts}\r\n--XX--\r\n").into_bytes()
}

fn field(name: &str, value: &str) -> String {
    format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}")
}

#[test]
fn fields_and_files() {
    let file = "content-disposition: form-data; name=\"f[a]\"; filename=\"C:\\\\dir\\\\a \\\"b\\\".png\"\r\n\
                Content-Type: image/png\r\n\r\n\0\r\n--X\r\nend\r\n";
    let parts =
        [&field("a[b]", "1"), &field("a[c]", "2\r\n"), file, &field("d.e", ""), &field("d.e", "ü")];
    let (fields, files) = decode(TYPE, &body(&parts)).expect("a form");
    assert_eq!(Value::Object(fields), json!({"a": {"b": "1", "c": "2\r\n"}, "d_e": "ü"}));
    assert_eq!(files.len(), 1);
    let file = &files[0];
    assert_eq!((file.field.as_str(), file.file_name.as_str()), ("f[a]", "a \"b\".png"));
    assert_eq!(file.content_type.as_deref(), Some("image/png"));
    assert_eq!(file.bytes, b"\0\r\n--X\r\nend\r\n");
}

#[test]
fn other_spellings() {
    for content_type in [
        "multipart/form-data; boundary=\"XX\"",
        "Multipart/Form-Data;charset=utf-8;Boundary=XX",
        "multipart/form-data; boundary=XX; charset=utf-8",
    ] {
        let (fields, _) = decode(content_type, &body(&[&field("a", "1")])).expect(content_type);
        assert_eq!(Value::Object(fields), json!({"a": "1"}), "{content_type}");
    }
    // Words before the first mark, and a missing last one.
    let (fields, _) =
        decode(TYPE, b"hello\r\n--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n1")
            .expect("a form");
    assert_eq!(Value::Object(fields), json!({"a": "1"}));
}

#[test]
fn what_is_no_form() {
    for content_type in
        ["", "multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=XX"]
    {
        assert_eq!(decode(content_type, &body(&[&field("a", "1")])), None, "{content_type}");
    }
    assert_eq!(decode(TYPE, b""), None);
    assert_eq!(decode(TYPE, b"a=1"), None);
}

#[test]
fn broken_parts_are_dropped() {
    let long = format!("X: {}\r\n{}", "x".repeat(HEAD_BYTES_MAX), field("long", "1"));
    let parts = [
        "no head at all",
        "\r\nno disposition",
        "Content-Disposition: attachment; name=\"a\"\r\n\r\n1",
        "Content-Disposition: form-data\r\n\r\n1",
        "Content-Disposition: form-data; nam",
        &long,
        &field("fine", "1"),
    ];
    let (fields, files) = decode(TYPE, &body(&parts)).expect("a form");
    assert_eq!(Value::Object(fields), json!({"fine": "1"}));
    assert_eq!(files, []);
}

#[test]
fn files_are_bounded() {
    let file = "Content-Disposition: form-data; name=f; filename=x\r\n\r\n1";
    let (_, files) = decode(TYPE, &body(&vec![file; FILES_MAX + 1])).expect("a form");
    assert_eq!(files.len(), FILES_MAX);
}
