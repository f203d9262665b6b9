//! The token with which the scripts of our own pages use the REST interface as the signed-in user.
//! Scripts of other sites can neither read it, since nothing here allows them to, nor ask for it.

use frame::auth::nonce;
use serde_json::json;
use types::Result;

use super::answer::WebAnswer;
use super::form::Fields;
use super::headers;
use super::page_path::Spelling;
use super::page_request::{PageRequest, Session};

const KIND: &str = "page:nonce";
/// What the address that existing clients know answers to whoever gets nothing.
const NOTHING: &str = "0";

impl PageRequest<'_> {
    pub(super) async fn nonce(&self, spelling: Spelling) -> Result<WebAnswer> {
        let asks = |fields: &Fields| fields.text("action") == "rest-nonce";
        if spelling == Spelling::Known && !asks(&self.query()) && !asks(&self.form()) {
            return Ok(answer(400, spelling, NOTHING.to_owned()));
        }
        let asked_here = headers::is_same_origin(self.request, &self.visit.home);
        let session = if asked_here { self.session().await? } else { None };
        let Some(session) = session else {
            return Ok(match spelling {
                Spelling::Known => answer(403, spelling, NOTHING.to_owned()),
                // To have nobody signed in is no error: pages ask so that they know what to show.
                Spelling::Neutral => {
                    let registration = self.site.registration();
                    let body = json!({ "signed_in": false, "registration": registration });
                    answer(200, spelling, body.to_string())
                }
            });
        };
        Ok(self.granted(spelling, &session))
    }

    fn granted(&self, spelling: Spelling, session: &Session) -> WebAnswer {
        let nonce = self.token(nonce::REST, session.holder());
        let user_id = session.user.id();
        let body = match spelling {
            Spelling::Known => nonce,
            Spelling::Neutral => {
                let sign_out = self.sign_out_path(spelling, session, None);
                let body = json!({
                    "signed_in": true,
                    "nonce": nonce,
                    "user_id": user_id,
                    "sign_out": sign_out,
                    "registration": self.site.registration(),
                });
                body.to_string()
            }
        };
        WebAnswer { user_id: Some(user_id), ..answer(200, spelling, body) }
    }
}

fn answer(status: u16, spelling: Spelling, body: String) -> WebAnswer {
    let media_type = match spelling {
        Spelling::Known => "text/html; charset=UTF-8",
        Spelling::Neutral => "application/json; charset=UTF-8",
    };
    let headers = vec![
        ("content-type", media_type.to_owned()),
        ("cache-control", headers::NO_STORE.to_owned()),
        ("x-content-type-options", String::from("nosniff")),
        ("cross-origin-resource-policy", String::from("same-origin")),
    ];
    WebAnswer { kind: KIND, status, headers, body, user_id: None }
}
