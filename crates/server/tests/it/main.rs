//! The server without a network: whatever the bytes, it answers in the published shape or hangs up.
#![cfg(test)]

mod bytes;
mod facts;
mod feeds;
mod harness;
mod head_over_http2;
mod live_figures;
mod oembed_proxy;
mod options;
mod order_cost;
mod product_pages;
mod report_extremes;
mod report_params;
mod report_patience;
mod report_scope;
mod reports;
mod sales_reports;
mod shop;
mod statements;
mod web_authorize;
mod web_key_grant;
mod web_pages;
mod web_sign_in;
mod web_support;
