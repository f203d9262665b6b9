//! Whose request it is: the peer, or the client that a trusted proxy names.

use std::net::IpAddr;

use axum::http::HeaderMap;

/// The client's address. `X-Forwarded-For` is believed only from trusted proxies, and of it only
/// the part that trusted proxies wrote: the last address that is not one of theirs.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> Client {
    let peer = peer.to_canonical();
    if !trusted.contains(&peer) {
        return Client { address: peer, forwarded: false };
    }
    let named = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|text| text.trim().parse::<IpAddr>().ok())
        .map(|address| address.to_canonical())
        .rfind(|address| !trusted.contains(address));
    match named {
        Some(address) => Client { address, forwarded: true },
        None => Client { address: peer, forwarded: false },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// Named by a trusted proxy rather than seen on the connection.
    pub(crate) forwarded: bool,
}

impl Client {
    /// Whether refused keys of this client are counted: the operator's own machine is exempt, but a
    /// proxy on it speaks for others.
    pub(crate) fn is_throttled(self) -> bool {
        self.forwarded || !self.address.is_loopback()
    }

    /// What is counted as one client: an IPv4 address, or the network that an IPv6 customer gets.
    pub(crate) fn network(self) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => self.address,
            IpAddr::V6(address) => {
                let network = u128::from(address) & (u128::MAX << 64);
                IpAddr::V6(network.into())
            }
        }
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
        let trusted: Vec<IpAddr> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        client_address(peer.parse().unwrap(), &headers, &trusted)
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let direct = client("203.0.113.9", &["198.51.100.1"], &[]);
        assert_eq!(direct.address, "203.0.113.9".parse::<IpAddr>().unwrap());
        let chain = ["192.0.2.66, 198.51.100.1", "10.0.0.2"];
        let behind = client("10.0.0.1", &chain, &["10.0.0.1", "10.0.0.2"]);
        assert_eq!(behind.address, "198.51.100.1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn loopback_is_exempt_unless_it_speaks_for_others() {
        assert!(!client("127.0.0.1", &["198.51.100.1"], &[]).is_throttled());
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
