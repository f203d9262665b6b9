//! The `OpenAPI` document of the REST interface, made from the same routes that answer.

use contract::rest::openapi::{self, About};
use serde_json::Value;
use types::{Error, Result};

use crate::Settings;
use crate::routes::{self, Routes};

const DESCRIPTION: &str = "The site's content, users and settings, its shop, and discovery. Every \
    route also takes `_fields`, `_embed`, `_envelope` and `_method`, answers HEAD like \
    GET, and describes itself on OPTIONS. A body may also be a form \
    (`application/x-www-form-urlencoded` or `multipart/form-data`) with the same fields. In a form \
    or a query, a list may also be sent in brackets (`include[]=1`), an object as \
    `name[member]=value`.";

/// Describes the interface as these settings name it; `more` are the routes of the crates above.
pub fn document(settings: &Settings, more: Routes) -> Result<Value> {
    let names = &settings.names;
    names.check().map_err(Error::invalid)?;
    let table = routes::table_of(names, more)?;
    let root = &names.rest_root;
    let sandbox = format!("http://127.0.0.1:8080/{root}");
    let production = format!("http://127.0.0.1:8081/{root}");
    let mut servers = vec![
        (&*sandbox, "Sandbox, as `boardwalk serve` starts it."),
        (&*production, "Production, as `boardwalk serve` starts it."),
    ];
    let own = settings.url.as_ref().map(|url| format!("{}/{root}", url.trim_end_matches('/')));
    if let Some(own) = &own {
        servers = vec![(&**own, "The site.")];
    }
    let about = About {
        title: "Boardwalk REST interface",
        version: env!("CARGO_PKG_VERSION"),
        description: DESCRIPTION,
        servers: &servers,
    };
    Ok(openapi::document(&table, &about, &|pattern| names.is_commerce(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_under_the_names_of_the_settings() {
        let document = document(&Settings::default(), Vec::new()).unwrap();
        let paths = document.get("paths").and_then(Value::as_object).unwrap();
        for path in ["/", "/batch/v1", "/wp/v2", "/oembed/1.0"] {
            assert!(paths.contains_key(path), "{path}");
        }
        let session = &document["components"]["securitySchemes"]["session"];
        for environment in [types::Environment::Sandbox, types::Environment::Production] {
            let name = format!("\"{}\"", environment.session_cookie());
            let told = session.to_string().replace('`', "\"");
            assert!(told.contains(&name), "{name}: {session}");
        }
        let mut settings = Settings::default();
        settings.names.content = String::from("words/v1");
        settings.url = Some(String::from("https://shop.example/"));
        let renamed = super::document(&settings, Vec::new()).unwrap();
        assert!(renamed["paths"]["/words/v1"].is_object());
        assert_eq!(renamed["servers"][0]["url"], "https://shop.example/wp-json");
    }
}
