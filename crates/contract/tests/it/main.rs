//! What an endpoint definition promises, shown on three toy endpoints.
//!
//! `toy` defines them; the other modules ask for everything that is derived from a definition:
//! coercion and validation, the order of issues, the checks at start, the OpenAPI document, and
//! that no input whatever makes the walker panic or drift from the type.

#[cfg(test)]
mod toy;

#[cfg(test)]
mod card_data;
#[cfg(test)]
mod document;
#[cfg(test)]
mod json_limits;
#[cfg(test)]
mod order;
#[cfg(test)]
mod property;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod walking;
