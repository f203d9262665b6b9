//! The algebra against a plain reading of what its words mean, on random facts and questions.
#![cfg(test)]

mod cluster;
mod cluster_failures;
mod cluster_feed;
mod differential;
mod directory;
mod feed;
mod growing;
mod naive;
mod random;
mod records;
mod shard_client;
mod shards;
mod vectors;
