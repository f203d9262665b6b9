//! Feeds bytes as the body of an onboarding with a valid key.
#![no_main]

mod sandbox;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let setup = sandbox::setup();
    setup.runtime.block_on(setup.sandbox.check_body(bytes));
});
