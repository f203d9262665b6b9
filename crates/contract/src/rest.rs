//! The dialect of the site's REST interface: what WordPress clients expect of any route.
//!
//! Everything here is pure: no domain, no database, no HTTP library. The path through it:
//! [`form`] decodes query strings and forms; [`Args`] say which parameters an operation takes, in
//! the words of a [`Schema`]; [`Params`] are what a request gave, merged, checked and converted;
//! a [`Refusal`] is the error that the client sees.

pub mod refusal;

pub use refusal::Refusal;
