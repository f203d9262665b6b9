//! Which targets may be asked: the public internet and nothing else.
//!
//! Addresses come from users, who would like to see what only this machine sees: the cloud's
//! metadata, databases, other tenants. **An address is allowed because it is known to be public,
//! not because nobody thought of forbidding it**; of IPv6, only what is assigned to the internet
//! counts. The check is of the addresses that are then connected to, so a name that changes its
//! answer in between gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use frame::outbound::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{AddressRange, Environment, Error, Result, address_range};
use url::{Host, Url};

/// What the server may ask of other hosts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutboundSettings {
    /// Addresses and networks that may be asked although they are not public, at any port. For
    /// tests: a server of the production environment does not start with any.
    pub exempt: Vec<AddressRange>,
}

/// The ports of the web, and the usual ones beside them.
const WEB_PORTS: &[u16] = &[80, 443, 8080, 8443];

/// Where a network without IPv4 finds the IPv4 internet; the last 32 bits are the address there.
const NAT64: AddressRange = AddressRange::v6([0x64, 0xff9b, 0], 96);

/// The rule for targets.
#[derive(Clone, Debug)]
pub struct Guard {
    exempt: Vec<AddressRange>,
}

/// A target that may be looked up. Its addresses are yet to be checked.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) host: Host<String>,
    pub(super) port: u16,
    pub(super) is_tls: bool,
}

impl Guard {
    /// Fails if production is to make exceptions.
    pub fn new(settings: &OutboundSettings, environment: Environment) -> Result<Self> {
        if environment == Environment::Production && !settings.exempt.is_empty() {
            return Err(Error::invalid(
                "server.outbound.exempt lets users reach hosts that are not public; it is for \
                 tests only: empty it, or do not serve production",
            ));
        }
        Ok(Self { exempt: settings.exempt.clone() })
    }

    /// For hosts that the operator chose. **Never for an address of a user.**
    pub(super) fn anywhere() -> Self {
        Self { exempt: vec![AddressRange::v4(0, 0, 0, 0, 0), AddressRange::v6([0; 3], 0)] }
    }

    /// Checks what the address itself tells.
    pub(super) fn target(&self, url: &Url) -> Result<Target, Refusal> {
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(Refusal::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let host = url.host().ok_or(Refusal::NoHost)?.to_owned();
        let port = url.port_or_known_default().ok_or(Refusal::Port)?;
        // Without exceptions no answer of the name service could make another port right.
        if self.exempt.is_empty() && !WEB_PORTS.contains(&port) {
            return Err(Refusal::Port);
        }
        Ok(Target { host, port, is_tls })
    }

    /// Checks what can be known before a name is looked up.
    pub(super) fn may_ever_ask(&self, url: &Url) -> Result<(), Refusal> {
        let target = self.target(url)?;
        let known = match &target.host {
            Host::Ipv4(address) => Some(IpAddr::V4(*address)),
            Host::Ipv6(address) => Some(IpAddr::V6(*address)),
            Host::Domain(name) => is_own_name(name).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        };
        self.admit(&target, known.as_slice())
    }

    /// Checks all addresses of a target. One bad one spoils the lot: a name that mixes public
    /// and private addresses is up to something.
    pub(super) fn admit(&self, target: &Target, addresses: &[IpAddr]) -> Result<(), Refusal> {
        for address in addresses {
            let address = address.to_canonical();
            if self.exempt.iter().any(|range| range.contains(address)) {
                continue;
            }
            if !is_public(address) {
                return Err(Refusal::Address);
            }
            if !WEB_PORTS.contains(&target.port) {
                return Err(Refusal::Port);
            }
        }
        Ok(())
    }
}

/// The names that mean the machine itself everywhere.
fn is_own_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether the address leads to a host of the internet, directly or through IPv6.
fn is_public(address: IpAddr) -> bool {
    let leads_to = match address.to_canonical() {
        IpAddr::V6(v6) if NAT64.contains(IpAddr::V6(v6)) => IpAddr::V4(last_v4(v6)),
        address => address,
    };
    address_range::is_public(leads_to)
}

/// The address that the last 32 bits stand for.
fn last_v4(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let check = |address: &str, expected: bool| {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        };
        for public in ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0"] {
            check(public, true);
        }
        for public in
            ["9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "223.255.255.255"]
        {
            check(public, true);
        }
        for private in ["0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255"] {
            check(private, false);
        }
        for private in ["127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"] {
            check(private, false);
        }
        for private in ["172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1"] {
            check(private, false);
        }
        for private in ["198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"]
        {
            check(private, false);
        }
        for private in ["239.255.255.255", "240.0.0.1", "255.255.255.255"] {
            check(private, false);
        }
        for public in ["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "2003::1"] {
            check(public, true);
        }
        // Loopback, unspecified, unique local, link-local, site-local, multicast, discard.
        for private in ["::1", "::", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1"] {
            check(private, false);
        }
        for private in ["ff02::1", "ff0e::1", "100::1", "100:0:0:1::1", "5f00::1", "4000::1"] {
            check(private, false);
        }
        // Documentation, Teredo, benchmarks, ORCHID, 6to4.
        for private in ["2001:db8::1", "3fff::1", "2001::1", "2001:2::1", "2001:20::1"] {
            check(private, false);
        }
        for private in ["2002:7f00:1::1", "2002:808:808::1"] {
            check(private, false);
        }
        // IPv4 in the clothes of IPv6.
        check("::ffff:127.0.0.1", false);
        check("::ffff:169.254.169.254", false);
        check("::ffff:8.8.8.8", true);
        check("::127.0.0.1", false);
        check("::8.8.8.8", false);
        check("::ffff:0:127.0.0.1", false);
        check("64:ff9b::10.0.0.1", false);
        check("64:ff9b::8.8.8.8", true);
        check("64:ff9b:1::8.8.8.8", false);
    }

    fn guard(exempt: &[&str]) -> Guard {
        let exempt = exempt.iter().map(|range| range.parse().unwrap()).collect();
        Guard::new(&OutboundSettings { exempt }, Environment::Sandbox).unwrap()
    }

    /// As a fetch does, with a name service that knows one host.
    fn verdict(guard: &Guard, url: &str) -> Result<(), Refusal> {
        let target = guard.target(&Url::parse(url).unwrap())?;
        let address = match &target.host {
            Host::Ipv4(address) => IpAddr::V4(*address),
            Host::Ipv6(address) => IpAddr::V6(*address),
            Host::Domain(_) => "8.8.8.8".parse().unwrap(),
        };
        guard.admit(&target, &[address])
    }

    #[test]
    fn addresses_are_judged_by_what_they_lead_to() {
        let guard = guard(&[]);
        let check = |url: &str, expected: Result<(), Refusal>| {
            assert_eq!(verdict(&guard, url), expected, "{url}");
        };
        for fine in ["http://a.example/", "https://a.example:443/", "http://a.example:8080/x"] {
            check(fine, Ok(()));
        }
        check("https://[2606:4700:4700::1111]/", Ok(()));
        check("https://8.8.8.8:8443/", Ok(()));
        check("ftp://a.example/", Err(Refusal::Scheme));
        check("file:///etc/passwd", Err(Refusal::Scheme));
        check("gopher://a.example/", Err(Refusal::Scheme));
        check("http://user@a.example/", Err(Refusal::UserInfo));
        check("http://:word@a.example/", Err(Refusal::UserInfo));
        check("http://a.example:22/", Err(Refusal::Port));
        check("http://a.example:6379/", Err(Refusal::Port));
        // All of these are 127.0.0.1 to a careless client.
        for local in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://127。0。0。1/",
            "http://①②⑦.0.0.1/",
            "http://%31%32%37.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http:\\\\127.0.0.1\\",
        ] {
            check(local, Err(Refusal::Address));
        }
        check("http://169.254.169.254/latest/", Err(Refusal::Address));
        check("http://[fd00:ec2::254]/", Err(Refusal::Address));
        check("http://0/", Err(Refusal::Address));
    }

    #[test]
    fn one_private_address_spoils_a_name() {
        let guard = guard(&["127.0.0.0/8"]);
        let target = guard.target(&Url::parse("http://a.example/").unwrap()).unwrap();
        let check = |addresses: &[&str], expected: Result<(), Refusal>| {
            let parsed: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(guard.admit(&target, &parsed), expected, "{addresses:?}");
        };
        check(&["8.8.8.8", "2606:4700:4700::1111"], Ok(()));
        check(&["8.8.8.8", "10.0.0.1"], Err(Refusal::Address));
        check(&["8.8.8.8", "::1"], Err(Refusal::Address));
        check(&["8.8.8.8", "127.0.0.1", "::ffff:127.0.0.2"], Ok(()));
    }

    #[test]
    fn exempt_addresses_are_free_of_the_rule_and_others_are_not() {
        let guard = guard(&["127.0.0.1", "fd00::/8"]);
        assert_eq!(verdict(&guard, "http://127.0.0.1:9999/"), Ok(()));
        assert_eq!(verdict(&guard, "http://[fd00::1]:22/"), Ok(()));
        assert_eq!(verdict(&guard, "http://127.0.0.2/"), Err(Refusal::Address));
        assert_eq!(verdict(&guard, "http://8.8.8.8:22/"), Err(Refusal::Port));
        assert_eq!(verdict(&guard, "http://a.example:22/"), Err(Refusal::Port));
    }

    #[test]
    fn what_can_never_be_asked_is_known_without_a_look_up() {
        let check = |guard: &Guard, url: &str| guard.may_ever_ask(&Url::parse(url).unwrap());
        let strict = guard(&[]);
        for (url, expected) in [
            ("https://hooks.example/in", Ok(())),
            ("http://8.8.8.8:8080/", Ok(())),
            ("http://hooks.example:21420/in", Err(Refusal::Port)),
            ("http://127.0.0.1:21420/in", Err(Refusal::Port)),
            ("http://127.0.0.1/in", Err(Refusal::Address)),
            ("http://169.254.169.254/", Err(Refusal::Address)),
            ("http://[fd00::1]/", Err(Refusal::Address)),
            ("http://localhost/in", Err(Refusal::Address)),
            ("http://Hook.LocalHost./in", Err(Refusal::Address)),
            ("https://a:b@hooks.example/", Err(Refusal::UserInfo)),
            ("ftp://hooks.example/", Err(Refusal::Scheme)),
        ] {
            assert_eq!(check(&strict, url), expected, "{url}");
        }
        let exempt = guard(&["127.0.0.1"]);
        assert_eq!(check(&exempt, "http://127.0.0.1:21420/in"), Ok(()));
        assert_eq!(check(&exempt, "http://localhost:21420/in"), Ok(()));
        assert_eq!(check(&exempt, "http://127.0.0.2:21420/in"), Err(Refusal::Address));
    }

    #[test]
    fn production_makes_no_exceptions() {
        let settings = OutboundSettings { exempt: vec!["127.0.0.1".parse().unwrap()] };
        assert!(Guard::new(&settings, Environment::Sandbox).is_ok());
        let error = Guard::new(&settings, Environment::Production).unwrap_err();
        assert!(error.to_string().contains("server.outbound.exempt"), "{error}");
        assert!(Guard::new(&OutboundSettings::default(), Environment::Production).is_ok());
    }
}
