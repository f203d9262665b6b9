//! Cookies: read from a request, and written so that scripts and other sites cannot use them.

use std::time::Duration;

use crate::Request;

/// The value of the first cookie of this name.
pub fn get<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    among(&request.headers, name)
}

/// The same, among headers whose names are in lower case.
pub fn among<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let cookies = headers.iter().filter(|(header, _)| header == "cookie");
    let mut pairs = cookies.flat_map(|(_, value)| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// How long a browser keeps a cookie.
#[derive(Clone, Copy, Debug)]
pub enum Life {
    /// Until the browser is closed.
    Visit,
    Over,
    Lasting(Duration),
}

/// The value of a `Set-Cookie` header.
pub fn set(name: &str, value: &str, life: Life, secure: bool) -> String {
    let age = match life {
        Life::Visit => String::new(),
        Life::Over => String::from("; Max-Age=0"),
        Life::Lasting(life) => format!("; Max-Age={}", life.as_secs()),
    };
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}")
}
