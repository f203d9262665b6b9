//! Signatures with Ed25519: who made a text, for those who know their public key.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use types::{Error, Result, Secret};

/// Bytes of the seed that a key pair is made of, and of a public key.
pub const SEED_BYTES: usize = 32;

/// Who signs.
#[derive(Debug)]
pub struct Signer(Ed25519KeyPair);

impl Signer {
    pub fn from_seed(seed: &Secret<[u8; SEED_BYTES]>) -> Result<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.expose());
        pair.map(Self).map_err(|_| Error::invalid("these bytes are not a signing key seed"))
    }

    /// What others check signatures with.
    pub fn public_key(&self) -> &[u8] {
        self.0.public_key().as_ref()
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).as_ref().to_vec()
    }
}

/// Whether the signature is that of the public key's owner on the message. Bytes that are no key or
/// no signature are not.
pub fn is_signed_by(public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public_key).verify(message, signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 1.
    #[test]
    fn a_known_signature_is_recognised_and_a_changed_one_is_not() {
        let seed = *b"\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4\
                      \x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60";
        let signer = Signer::from_seed(&Secret::new(seed)).unwrap();
        let expected = b"\xd7\x5a\x98\x01\x82\xb1\x0a\xb7\xd5\x4b\xfe\xd3\xc9\x64\x07\x3a\
                         \x0e\xe1\x72\xf3\xda\xa6\x23\x25\xaf\x02\x1a\x68\xf7\x07\x51\x1a";
        assert_eq!(signer.public_key(), expected);
        let signature = signer.sign(b"");
        assert_eq!(signature.first_chunk(), Some(b"\xe5\x56\x43\x00\xc3\x60\xac\x72"));
        assert!(is_signed_by(expected, b"", &signature));
        assert!(!is_signed_by(expected, b"x", &signature));
        assert!(!is_signed_by(&expected[1..], b"", &signature));
        assert!(!is_signed_by(expected, b"", &signature[1..]));
    }
}
