//! Feeds raw requests for the REST interface to a connection of the server.
#![no_main]

mod sandbox;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let setup = sandbox::setup();
    setup.runtime.block_on(setup.sandbox.check_rest(bytes));
});
