//! The server of one environment for connections that somebody else accepted.
//!
//! Bytes go through the same connection code, limits and pipeline as those from the network.

use std::net::SocketAddr;
use std::sync::Arc;

use onboarding::Platform;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::entrance::Entrance;
use crate::listen;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::sites::{Reports, make_site};

/// A server without a listener.
#[derive(Debug)]
pub struct InProcess {
    shared: Arc<Shared>,
    entrance: Entrance,
}

impl InProcess {
    /// Must be called within a tokio runtime, from a thread that may block.
    pub fn new(platform: Arc<Platform>, settings: Settings) -> types::Result<Self> {
        let site =
            make_site(&platform, &settings, frame::Settings::default(), &Reports::default())?;
        let shared = Arc::new(Shared::new(settings, crate::Portal::default()));
        let entrance = Entrance::new(Arc::clone(&shared), (platform, None), site, None);
        Ok(Self { shared, entrance })
    }

    /// Serves the connection of a client until either side ends it.
    pub fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        client: SocketAddr,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (shared, entrance) = (Arc::clone(&self.shared), self.entrance.clone());
        async move {
            listen::serve_stream(&shared, stream, client, entrance).await;
        }
    }
}
