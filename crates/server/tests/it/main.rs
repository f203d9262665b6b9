//! The server without a network: whatever the bytes, it answers in the published shape or hangs up.
#![cfg(test)]

mod bytes;
mod oembed_proxy;
