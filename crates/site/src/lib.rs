//! The site: users, authentication, options, content, and the frame in which its REST operations run.

pub mod docs;
pub mod oembed;
pub mod outbound;
