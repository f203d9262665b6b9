//! TPNs: how they are shown, listed and changed, with the processor accounts, the device and the
//! parameters of the terminal.
//!
//! [`onboard`](crate::onboard) makes them.

pub mod actions;
pub(crate) mod credentials;
pub mod device_sales;
pub mod devices;
pub mod get;
pub mod list;
pub mod models;
pub mod parameters;
pub mod patch;
pub mod processors;
pub mod profiles;
pub mod rollouts;
mod sale_orders;
pub mod sales;
pub mod template_users;
pub mod templates;
pub mod views;
