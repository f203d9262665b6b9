//! Bytes as hex digits, for rows that are kept as JSON.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    serializer.serialize_str(&text)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(source)?;
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| D::Error::custom("not hex digits"))
}

#[cfg(test)]
mod tests {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Holder(#[serde(with = "super")] Vec<u8>);

    #[test]
    fn bytes_survive_and_nonsense_is_refused() {
        let holder = Holder(vec![0, 15, 16, 255]);
        let text = serde_json::to_string(&holder).unwrap();
        assert_eq!(text, "\"000f10ff\"");
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder);
        for nonsense in ["\"0\"", "\"0g\"", "7", "\"00f\""] {
            assert!(serde_json::from_str::<Holder>(nonsense).is_err(), "{nonsense}");
        }
    }
}
