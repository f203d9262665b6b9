//! Recorded cases that a server must answer as written, whoever wrote the server.

pub mod onboarding;
pub mod rest;
