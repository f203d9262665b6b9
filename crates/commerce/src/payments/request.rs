//! Signed requests to gateways, and of the sandbox's own gateway to the shop.

use std::sync::Arc;
use std::time::Duration;

use frame::outbound::{Fetch, FetchError, Method, Overlong};
use frame::{Site, signing};
use serde_json::Value;
use types::{Error, Secret};

use crate::gateways::hosted::Hosted;

/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// For everything together: somebody waits for the page.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Why a gateway did not do what it was asked for.
#[derive(Debug)]
pub enum Unanswered {
    /// Nobody answered, or only that it cannot now; asking again may help.
    Unreachable(String),
    /// It answered, and refuses.
    Refused(String),
    Failed(Error),
}

/// Asks the gateway. `message_id` is the same whenever the same is asked for, so that the gateway
/// does it once.
pub async fn ask(
    site: &Arc<Site>,
    gateway: &Hosted,
    message_id: &str,
    body: &Value,
) -> Result<Value, Unanswered> {
    let body = body.to_string().into_bytes();
    let keys = [Secret::new(gateway.key.expose().clone())];
    let signed = signing::message_headers(&keys, message_id, &body, site.clock().now());
    let json = (String::from("content-type"), String::from("application/json"));
    let headers = signed.map_err(Unanswered::Failed)?;
    let request = Fetch {
        method: Method::Post,
        url: gateway.url.clone(),
        headers: std::iter::once(json).chain(headers).collect(),
        body,
        max_bytes: ANSWER_BYTES_MAX,
        overlong: Overlong::Refuse,
        timeout: TIMEOUT,
        max_redirects: 0,
    };
    let unreachable = |error: FetchError| Unanswered::Unreachable(error.to_string());
    let answer = site.send(request).await.map_err(unreachable)?;
    match answer.status {
        200..=299 => serde_json::from_slice(&answer.body)
            .map_err(|_| Unanswered::Unreachable(String::from("the answer is not JSON"))),
        status @ (408 | 409 | 425 | 429 | 500..=599) => {
            Err(Unanswered::Unreachable(format!("the answer has the status {status}")))
        }
        status => Err(Unanswered::Refused(format!("the answer has the status {status}"))),
    }
}
