//! Three server processes on one PostgreSQL database behind a balancer, which asks them in turn.

use std::collections::BTreeSet;
use std::time::Duration;

use testkit::balancer::{Balancer, SERVER_HEADER};
use testkit::free_port;
use testkit::http;

use crate::support::{Running, Site, eventually};

pub(crate) const NODES: usize = 3;
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Longer than the balancer takes to notice, also on a busy machine.
const DRAIN_MS: u64 = 3_000;

/// Nodes with fixed ports, and what is in front of them.
pub(crate) struct Nodes {
    pub(crate) balancer: Balancer,
    ports: [u16; NODES],
    pub(crate) running: Vec<Running>,
}

impl Nodes {
    pub(crate) fn start(site: &Site) -> Self {
        let ports = [(); NODES].map(|()| free_port().unwrap());
        let running = ports.iter().map(|port| serve(site, *port)).collect();
        let balancer = Balancer::start(&ports).unwrap();
        let nodes = Self { balancer, ports, running };
        nodes.wait_until_ready();
        nodes
    }

    pub(crate) fn url(&self) -> String {
        self.balancer.url()
    }

    fn wait_until_ready(&self) {
        for node in &self.running {
            eventually("the node is ready", READY_WITHIN, || {
                http::get(&node.url, "/readyz", &[]).is_ok_and(|answer| answer.status == 200)
            });
        }
        // The balancer looks by itself, and needs a moment.
        eventually("the balancer knows all nodes", READY_WITHIN, || {
            let ask = |_| http::get(&self.url(), "/readyz", &[]).ok()?.header(SERVER_HEADER);
            // Others may ask as well meanwhile.
            (0..NODES * 4).filter_map(ask).collect::<BTreeSet<String>>().len() == NODES
        });
    }

    /// Replaces one node by a new process on its port.
    pub(crate) fn restart(&mut self, place: usize, site: &Site, end: impl FnOnce(Running)) {
        end(self.running.remove(place));
        self.running.insert(place, serve(site, self.ports[place]));
        self.wait_until_ready();
    }
}

fn serve(site: &Site, port: u16) -> Running {
    site.serve_with(&["--listen", &format!("127.0.0.1:{port}")])
}

/// A site that believes the balancer, on which webhooks may go to loopback.
pub(crate) fn site() -> Site {
    Site::postgres()
        .set("server.trusted_proxies", r#"["127.0.0.1"]"#)
        .set("server.drain_ms", DRAIN_MS)
        .set("server.outbound.exempt", r#"["127.0.0.1"]"#)
        // Links are the same whichever node made them.
        .set("site.url", "http://shop.example")
}
