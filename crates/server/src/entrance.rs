//! Where the requests of one environment come in, whichever of its interfaces they are for, and
//! where answers are packed on their way out.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response};
use futures_util::future::BoxFuture;
use tower_service::Service;

use crate::compression::Accepted;
use crate::rest::RestService;
use crate::shared::Shared;
use crate::{admin, pipeline};

/// The interfaces of one environment. Requests of the REST interface, which are the most and the
/// shortest, do not pass through the router of the onboarding interface.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    rest: Arc<RestService>,
    router: Router,
}

impl Entrance {
    pub(crate) fn new(
        shared: Arc<Shared>,
        watched: admin::Watched,
        site: Arc<frame::Site>,
        stores: Option<Arc<connect::Stores>>,
    ) -> Self {
        let rest = Arc::new(RestService {
            files: pipeline::files_at_once(shared.settings.limits.files),
            facts: watched.1.clone(),
            shared: Arc::clone(&shared),
            site,
        });
        let router = pipeline::router(shared, watched, Arc::clone(&rest), stores);
        Self { rest, router }
    }

    async fn respond(mut self, request: Request) -> Response<Body> {
        let Some(path) = self.rest.plain_path_of(request.uri()) else {
            let Ok(response) = self.router.call(request).await;
            return response;
        };
        let (accepted, is_head) = (Accepted::of(&request), request.method() == Method::HEAD);
        let mut response = accepted.pack(self.rest.answer(path, request).await).await;
        if is_head {
            // Its headers have been made of what GET would return.
            *response.body_mut() = Body::empty();
        }
        response
    }
}

impl Service<Request> for Entrance {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let response = self.clone().respond(request);
        Box::pin(async move { Ok(response.await) })
    }
}
