//! Whose request it is: the peer, or the client that a trusted proxy names.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName};
use types::AddressRange;

static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client's address. `X-Forwarded-For` is believed only from trusted proxies, and of it only
/// the part that trusted proxies wrote: the last address that is not one of theirs.
pub(crate) fn client_address(
    peer: IpAddr,
    headers: &HeaderMap,
    trusted: &[AddressRange],
) -> Client {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        // A proxy on this machine that nobody told us about still speaks for others.
        let named = headers.contains_key(&X_FORWARDED_FOR) || headers.contains_key(FORWARDED);
        return Client { address: peer, forwarded: false, relayed: named };
    }
    let entries = headers.get_all(&X_FORWARDED_FOR).iter();
    let entries: Vec<&[u8]> =
        entries.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).collect();
    let forwarded = !entries.is_empty();
    for entry in entries.into_iter().rev() {
        match parse_entry(entry) {
            Some(address) if is_trusted(address, trusted) => {}
            Some(address) => return Client { address, forwarded: true, relayed: true },
            // What stands further left was written by whoever sent this; the proxy answers for it.
            None => break,
        }
    }
    Client { address: peer, forwarded, relayed: forwarded }
}

/// Whether it is one of the proxies; the address is canonical.
pub(crate) fn is_trusted(address: IpAddr, trusted: &[AddressRange]) -> bool {
    trusted.iter().any(|range| range.contains(address))
}

/// An address, with or without a port.
fn parse_entry(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    let bracketed = || text.trim_start_matches('[').trim_end_matches(']').parse();
    text.parse().or_else(|_| with_port()).or_else(|_| bracketed()).ok().map(|a| a.to_canonical())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// Came through a trusted proxy that says so.
    pub(crate) forwarded: bool,
    /// Came through a proxy, trusted or not.
    pub(crate) relayed: bool,
}

impl Client {
    /// Whether refused keys of this client are counted: the operator's own machine is exempt, but a
    /// proxy on it speaks for others, be it trusted or not.
    pub(crate) fn is_throttled(self) -> bool {
        self.forwarded || !self.is_local()
    }

    /// Whether it is this machine itself, and not somebody behind a proxy on it.
    pub(crate) fn is_local(self) -> bool {
        self.address.is_loopback() && !self.relayed
    }

    /// What is counted as one client: an IPv4 address, or the network that an IPv6 customer gets.
    pub(crate) fn network(self) -> IpAddr {
        types::client_network(self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str], trusted: &[&str]) -> Client {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let trusted: Vec<AddressRange> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        client_address(peer.parse().unwrap(), &headers, &trusted)
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let direct = client("203.0.113.9", &["198.51.100.1"], &[]);
        assert_eq!(direct.address, "203.0.113.9".parse::<IpAddr>().unwrap());
        let chain = ["192.0.2.66, 198.51.100.1", "10.0.0.2"];
        let behind = client("10.0.0.1", &chain, &["10.0.0.1", "10.0.0.2"]);
        assert_eq!(behind.address, "198.51.100.1".parse::<IpAddr>().unwrap());
        let network = client("::ffff:10.0.0.1", &chain, &["10.0.0.0/30"]);
        assert_eq!(network.address, behind.address);
        let beside = client("10.0.0.4", &chain, &["10.0.0.0/30"]);
        assert_eq!(beside.address, "10.0.0.4".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn nonsense_from_a_proxy_is_counted_against_it() {
        for forwarded in ["6.6.6.6, 198.51.100.9:4444", "6.6.6.6, [2001:db8::1]:80"] {
            let client = client("127.0.0.1", &[forwarded], &["127.0.0.1"]);
            assert_ne!(client.address, "6.6.6.6".parse::<IpAddr>().unwrap());
            assert!(client.is_throttled() && !client.address.is_loopback(), "{client:?}");
        }
        let nonsense = client("127.0.0.1", &["6.6.6.6, nonsense"], &["127.0.0.1"]);
        assert_eq!(nonsense.address, "127.0.0.1".parse::<IpAddr>().unwrap());
        assert!(nonsense.is_throttled());
    }

    #[test]
    fn loopback_is_exempt_unless_it_speaks_for_others() {
        let relayed = client("127.0.0.1", &["198.51.100.1"], &[]);
        assert!(relayed.is_throttled() && !relayed.is_local(), "an unknown proxy");
        assert!(client("127.0.0.1", &[], &[]).is_local());
        assert!(client("127.0.0.1", &["198.51.100.1"], &["127.0.0.1"]).is_throttled());
        assert!(client("::ffff:192.0.2.1", &[], &[]).is_throttled());
    }

    #[test]
    fn an_ipv6_customer_is_one_client() {
        let one = client("2001:db8:1:2::1", &[], &[]).network();
        let two = client("2001:db8:1:2:ffff::1", &[], &[]).network();
        assert_eq!(one, two);
    }
}
