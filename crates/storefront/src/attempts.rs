//! How often strangers may try something, such as codes of coupons: counted per client network and
//! minute. **The counters are few and shared**, so that nobody fills the store by coming from many
//! addresses.

use contract::rest::Stop;
use db::counter;
use frame::Call;

const MICROS_PER_MINUTE: i64 = 60 * 1_000_000;

/// Counts an attempt; false when the client has had `max` of them in this minute.
pub(crate) fn take(call: &mut Call<'_>, what: &str, max: i64) -> Result<bool, Stop> {
    if !call.visit.client.throttled {
        return Ok(true);
    }
    let client = types::client_network(call.visit.client.address);
    let minute = call.now().as_micros().div_euclid(MICROS_PER_MINUTE);
    Ok(counter::take_shared(call.conn()?, what, &client, minute, max)?)
}
