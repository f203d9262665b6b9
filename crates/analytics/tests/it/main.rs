//! The algebra against a plain reading of what its words mean, on random facts and questions.
#![cfg(test)]

mod differential;
mod directory;
mod naive;
mod random;
mod vectors;
