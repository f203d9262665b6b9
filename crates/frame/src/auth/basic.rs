//! The `Authorization: Basic` header: a name and a secret.

use types::Secret;

use crate::Request;

/// The header with which a client says who it is.
pub fn header(login: &str, secret: &Secret<String>) -> String {
    let pair = format!("{login}:{}", secret.expose());
    format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
}

/// What the header says. The secret is not printed.
pub struct Basic {
    pub login: String,
    pub secret: String,
}

impl std::fmt::Debug for Basic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Basic")
    }
}

/// The header of the request, if it has one of this kind with both parts.
pub fn of(request: &Request) -> Option<Basic> {
    let header = request.header("authorization")?;
    let (scheme, encoded) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = data_encoding::BASE64.decode(encoded.trim().as_bytes()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (login, secret) = text.split_once(':')?;
    if login.is_empty() || secret.is_empty() {
        return None;
    }
    Some(Basic { login: login.to_owned(), secret: secret.to_owned() })
}
