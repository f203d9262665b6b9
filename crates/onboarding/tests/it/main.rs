//! What onboarding promises, from the table of endpoints down to the bytes of the database file.
//!
//! No server and no network: `support` runs the compiled endpoints on a [`onboarding::Platform`]
//! over a SQLite file in a folder of its own; `bodies` gives it the request bodies of the
//! conformance cases. `rows` looks at what is kept, on both engines.

#[cfg(test)]
mod bodies;
#[cfg(test)]
#[macro_use]
mod support;

#[cfg(test)]
mod activity;
#[cfg(test)]
mod at_rest;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod audit_checks;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod devices;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod events;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod key_emails;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod links;
#[cfg(test)]
mod managed_keys;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod platform;
#[cfg(test)]
mod portfolio;
#[cfg(test)]
mod property;
#[cfg(test)]
mod published;
#[cfg(test)]
mod read_back;
#[cfg(test)]
mod rehearsals;
#[cfg(test)]
mod rollouts;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod styles;
#[cfg(test)]
mod templates;
#[cfg(test)]
mod webhooks;
