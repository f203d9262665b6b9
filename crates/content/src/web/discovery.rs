//! What programs that write to a site look for first: which interfaces it has, as a document of
//! Really Simple Discovery. It tells of the REST interface, and of no other.

use types::Result;

use super::answer::WebAnswer;
use super::feeds;
use super::page_request::PageRequest;

const NAMESPACE: &str = "http://archipelago.phrasewise.com/rsd";

impl PageRequest<'_> {
    /// The document, for those who ask for it; nothing else is at this address.
    #[expect(clippy::unnecessary_wraps, reason = "the form that its neighbours have")]
    pub(super) fn discovery(&self) -> Result<Option<WebAnswer>> {
        if !self.query().has("rsd") {
            return Ok(None);
        }
        let home = feeds::escaped(&self.visit.home);
        let rest = feeds::escaped(&self.visit.rest("/"));
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <rsd version=\"1.0\" xmlns=\"{NAMESPACE}\">\n<service>\n\
             <engineName>Boardwalk</engineName>\n<engineLink>{home}</engineLink>\n\
             <homePageLink>{home}</homePageLink>\n<apis>\n\
             <api name=\"WP-API\" blogID=\"1\" preferred=\"true\" apiLink=\"{rest}\"/>\n\
             </apis>\n</service>\n</rsd>\n"
        );
        let headers = vec![
            ("content-type", String::from("application/rsd+xml; charset=UTF-8")),
            ("cache-control", String::from("no-cache")),
            ("x-content-type-options", String::from("nosniff")),
        ];
        Ok(Some(WebAnswer { kind: "page:discovery", status: 200, headers, body, user_id: None }))
    }
}
