//! TPNs: the processor accounts, the device and the parameters of a terminal.

pub mod devices;
pub mod models;
pub mod parameters;
pub mod processors;
pub mod profiles;
pub mod templates;
