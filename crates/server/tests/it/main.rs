//! The server without a network: whatever the bytes, it answers in the published shape or hangs up.

mod bytes;
