//! Signatures by which the receiver of a message knows who sent it, and that nobody changed it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use types::{Error, Result};

/// HMAC-SHA256 of the message, in base64.
pub fn hmac_sha256_base64(key: &[u8], message: &[u8]) -> Result<String> {
    Ok(data_encoding::BASE64.encode(&hmac_sha256(key, message)?))
}

/// HMAC-SHA256 of the message.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> Result<[u8; 32]> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.map_err(|_| Error::internal("a key of this length cannot sign"))?;
    mac.update(message);
    Ok(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn a_known_message_has_its_known_signature() {
        let signed = hmac_sha256_base64(b"Jefe", b"what do ya want for nothing?").unwrap();
        assert_eq!(signed, "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
        assert!(hmac_sha256_base64(b"", b"").is_ok(), "an empty key signs, too");
    }
}
