//! Reading parameters out of a request's body, by its media type.

use contract::rest::{Refusal, Sources, form, multipart, params};
use serde_json::Map;

use crate::Request;

/// The JSON document, or the form's fields and files; all may be absent.
pub(super) fn read(request: &Request, method: &str) -> Result<Sources, Refusal> {
    if let Some(upload) = &request.upload {
        return Ok(Sources { form: upload.fields.clone(), ..Sources::default() });
    }
    if request.is_json() {
        return Ok(Sources { json: params::json_body(&request.body)?, ..Sources::default() });
    }
    let media_type = request.header("content-type").unwrap_or_default();
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let writes = matches!(method, "POST" | "PUT" | "PATCH" | "DELETE");
    // Only what the method itself declares as a form counts; without a type it must not be POST.
    let is_form =
        kind == "application/x-www-form-urlencoded" || (kind.is_empty() && method != "POST");
    let (form, files) = match kind.as_str() {
        _ if !writes => (Map::new(), Vec::new()),
        "multipart/form-data" => multipart::decode(media_type, &request.body).unwrap_or_default(),
        _ if is_form => (form::decode(&String::from_utf8_lossy(&request.body)), Vec::new()),
        _ => (Map::new(), Vec::new()),
    };
    Ok(Sources { form, files: files.into(), ..Sources::default() })
}
