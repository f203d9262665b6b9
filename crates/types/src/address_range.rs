//! A range of addresses: one address, or a network such as `10.0.0.0/8`; and which addresses belong
//! to the public internet.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const BITS_V4: u8 = 32;
const BITS_V6: u8 = 128;

/// What is counted as one client: an IPv4 address, or the network that an IPv6 customer gets.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & (u128::MAX << 64)).into()),
    }
}

/// An address or a network, written `192.168.1.7`, `10.0.0.0/8` or `fd00::/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct AddressRange {
    network: IpAddr,
    /// How many leading bits all addresses of the range have in common.
    prefix: u8,
}

impl AddressRange {
    pub const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Self {
        Self { network: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    /// Of an IPv6 network, the first three groups.
    pub const fn v6(segments: [u16; 3], prefix: u8) -> Self {
        let [a, b, c] = segments;
        Self { network: IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)), prefix }
    }

    /// Whether all addresses of the other range are in this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.prefix <= other.prefix && self.contains(other.network)
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let differing = left_aligned(self.network) ^ left_aligned(address);
        let tail = BITS_V6.saturating_sub(self.prefix);
        // Shifting all bits away leaves none that differ.
        let differs = differing.checked_shr(u32::from(tail)).unwrap_or(0) != 0;
        self.network.is_ipv4() == address.is_ipv4() && !differs
    }
}

fn left_aligned(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << (BITS_V6 - BITS_V4),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed =
            || format!("`{text}` is not an address range; use 192.168.1.7, 10.0.0.0/8 or fd00::/8");
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| malformed())?;
        // Checked addresses are never IPv4 in the clothes of IPv6; such a range would mean nothing.
        if address != address.to_canonical() {
            return Err(malformed());
        }
        let bits = if address.is_ipv4() { BITS_V4 } else { BITS_V6 };
        let prefix = match prefix {
            Some(digits) => digits.parse().map_err(|_| malformed())?,
            None => bits,
        };
        if prefix > bits {
            return Err(malformed());
        }
        Ok(Self { network: address, prefix })
    }
}

impl TryFrom<String> for AddressRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<AddressRange> for String {
    fn from(range: AddressRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.network, self.prefix)
    }
}

/// Not public: IANA's special-purpose registry, multicast and reserved space.
const REFUSED_V4: &[AddressRange] = &[
    AddressRange::v4(0, 0, 0, 0, 8),
    AddressRange::v4(10, 0, 0, 0, 8),
    AddressRange::v4(100, 64, 0, 0, 10),
    AddressRange::v4(127, 0, 0, 0, 8),
    AddressRange::v4(169, 254, 0, 0, 16),
    AddressRange::v4(172, 16, 0, 0, 12),
    AddressRange::v4(192, 0, 0, 0, 24),
    AddressRange::v4(192, 0, 2, 0, 24),
    AddressRange::v4(192, 88, 99, 0, 24),
    AddressRange::v4(192, 168, 0, 0, 16),
    AddressRange::v4(198, 18, 0, 0, 15),
    AddressRange::v4(198, 51, 100, 0, 24),
    AddressRange::v4(203, 0, 113, 0, 24),
    AddressRange::v4(224, 0, 0, 0, 4),
    AddressRange::v4(240, 0, 0, 0, 4),
];

/// What is assigned to hosts of the internet.
const GLOBAL_V6: AddressRange = AddressRange::v6([0x2000, 0, 0], 3);

/// Special parts of [`GLOBAL_V6`].
const REFUSED_V6: &[AddressRange] = &[
    // Protocols: Teredo, which leads to an IPv4 address, benchmarks, ORCHID.
    AddressRange::v6([0x2001, 0, 0], 23),
    // Documentation.
    AddressRange::v6([0x2001, 0xdb8, 0], 32),
    AddressRange::v6([0x3fff, 0, 0], 20),
    // 6to4, which leads to an IPv4 address and is given up.
    AddressRange::v6([0x2002, 0, 0], 16),
];

/// Whether an address belongs to the public internet: not private, local, reserved or a wrapped
/// form of another address. **It is public because it is known to be, not because nobody thought of
/// forbidding it.**
pub fn is_public(address: IpAddr) -> bool {
    let is_in = |ranges: &[AddressRange]| ranges.iter().any(|range| range.contains(address));
    match address {
        IpAddr::V4(_) => !is_in(REFUSED_V4),
        IpAddr::V6(_) => GLOBAL_V6.contains(address) && !is_in(REFUSED_V6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_addresses() {
        let check = |range: &str, address: &str, expected: bool| {
            let range: AddressRange = range.parse().unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), expected, "{range} {address}");
        };
        check("127.0.0.1", "127.0.0.1", true);
        check("127.0.0.1", "127.0.0.2", false);
        check("10.0.0.0/8", "10.255.255.255", true);
        check("10.0.0.0/8", "11.0.0.0", false);
        check("0.0.0.0/0", "203.0.113.9", true);
        check("0.0.0.0/0", "::", false);
        check("::/0", "1.2.3.4", false);
        check("::/0", "ffff::1", true);
        check("fd00::/8", "fdff::1", true);
        check("fd00::/8", "fe00::1", false);
        check("172.16.0.0/12", "172.31.0.1", true);
        check("172.16.0.0/12", "172.32.0.1", false);
    }

    #[test]
    fn only_ranges_are_read() {
        for text in ["", "x", "10.0.0.0/33", "10.0.0.0/", "::/129", "10/8", "::ffff:1.2.3.4"] {
            assert!(text.parse::<AddressRange>().is_err(), "{text}");
        }
        assert_eq!("::1".parse::<AddressRange>().unwrap().to_string(), "::1/128");
    }

    #[test]
    fn wrapped_addresses_are_not_public() {
        for (address, expected) in [
            ("8.8.8.8", true),
            ("10.0.0.1", false),
            ("2606:4700:4700::1111", true),
            ("::ffff:8.8.8.8", false),
            ("64:ff9b::8.8.8.8", false),
            ("2002:808:808::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }
}
