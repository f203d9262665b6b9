//! `/v1/onboarding-links`: an ISO sends a merchant a link to a form, the merchant fills in its part
//! (the details of itself and its store), and the ISO adds the terminal and onboards, through the
//! very call that everybody onboards with ([`onboard`](crate::onboard)).
//!
//! A link is a capability: **whoever holds its token sees and changes this one form, and nothing
//! else**; only a keyed hash of it is stored. A wrong, expired and withdrawn link look the same.
//! Nothing is looked up for a merchant, so that no form tells whether others have a name. What was
//! entered is sealed like the contact of a merchant; once it was submitted, its link shows nothing
//! of it any more, and when it was onboarded or withdrawn, it is erased.

mod content;
pub mod form;
pub mod manage;
pub mod onboarding;
mod parts;
