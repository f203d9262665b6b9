//! The rows of onboardings for the bare loop, modelled on one that the server stored.
//!
//! Every copy has the model's sizes, names in the order of its number as the clients' have them,
//! and ids and hashes without any order as the server's have them: **indexes grow alike**.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use db::outbox::{self, Event};
use db::{Conn, Database, Location};
use onboarding::rows::merchant::{self, MerchantRow, StoreRow};
use onboarding::rows::tpn::{self, ProfileRow, TpnRow};
use site_rows::iso::IsoRow;
use types::{MerchantId, StoreId, Tpn};

use crate::request::number_text;

/// Events that one onboarding adds.
pub(crate) const EVENTS: usize = 3;
/// The server numbers events a moment after they were stored.
const NUMBERED_WITHIN: Duration = Duration::from_secs(5);

/// All rows of one onboarding.
#[derive(Clone, Debug)]
pub(crate) struct Onboarding {
    merchant: MerchantRow,
    store: StoreRow,
    tpn: TpnRow,
    profiles: Vec<ProfileRow>,
    events: Vec<Event>,
}

impl Onboarding {
    /// Stores the rows by the product's own statements.
    pub(crate) fn insert(&self, conn: &mut dyn Conn) -> types::Result<()> {
        assert!(merchant::insert(conn, &self.merchant)?, "the merchant's dba is new");
        assert!(merchant::store_insert(conn, &self.store)?, "the store's dba is new");
        tpn::insert(conn, &self.tpn)?;
        self.profiles.iter().try_for_each(|profile| tpn::profile_put(conn, profile))?;
        self.events.iter().try_for_each(|event| outbox::append(conn, event))
    }
}

/// An onboarding of the server, to be copied.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) iso: IsoRow,
    first: Onboarding,
    noise: Noise,
}

impl Model {
    /// Reads the first onboarding of a database, which is the one with the number 1.
    pub(crate) fn read(location: &Location) -> Result<Self> {
        let store = Database::open(location, schema::MIGRATIONS)?;
        let deadline = Instant::now() + NUMBERED_WITHIN;
        let (iso, first) = loop {
            match store.read_blocking(read_first)? {
                Some(found) => break found,
                None => ensure!(Instant::now() < deadline, "the server stored nothing"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        ensure!(first.profiles.len() == 1, "one profile was sent");
        ensure!(first.merchant.dba.ends_with(&number_text(1)), "the first onboarding is number 1");
        Ok(Self { iso, first, noise: Noise(0x9e37_79b9_7f4a_7c15) })
    }

    pub(crate) fn copies(&mut self, numbers: std::ops::Range<u64>) -> Vec<Onboarding> {
        numbers.map(|number| self.copy(number)).collect()
    }

    fn copy(&mut self, number: u64) -> Onboarding {
        let mut new = self.first.clone();
        let (old_number, new_number) = (number_text(1), number_text(number));
        let rename = |text: &mut String| *text = text.replace(&old_number, &new_number);
        let (old, old_store) = (self.first.tpn.clone(), self.first.store.store_id.clone());
        let merchant_id = MerchantId::new(scattered_id('M', number));
        let store_id = StoreId::new(scattered_id('S', number));
        let tpn = Tpn::new(scattered_tpn(number));

        rename(&mut new.merchant.dba);
        rename(&mut new.merchant.dba_key);
        new.merchant.merchant_id = merchant_id.clone();
        rename(&mut new.store.dba);
        rename(&mut new.store.dba_key);
        new.store.store_id = store_id.clone();
        new.store.merchant_id = merchant_id.clone();
        new.tpn.merchant_id = merchant_id.clone();
        new.tpn.store_id = Some(store_id.clone());
        new.tpn.tpn = tpn.clone();
        for profile in &mut new.profiles {
            profile.tpn = tpn.clone();
            self.noise.fill(&mut profile.identity_index);
            self.noise.fill(&mut profile.sealed);
        }
        for event in &mut new.events {
            for text in [&mut event.object_id, &mut event.payload] {
                *text = text
                    .replace(old.merchant_id.as_str(), merchant_id.as_str())
                    .replace(old_store.as_str(), store_id.as_str())
                    .replace(old.tpn.as_str(), tpn.as_str());
            }
        }
        for hidden in [
            &mut new.merchant.email_index,
            &mut new.merchant.phone_index,
            &mut new.merchant.sealed,
            &mut new.store.email_index,
            &mut new.store.phone_index,
            &mut new.store.sealed,
        ] {
            self.noise.fill(hidden);
        }
        new
    }
}

fn read_first(conn: &mut dyn Conn) -> types::Result<Option<(IsoRow, Onboarding)>> {
    let sequenced = outbox::after(conn, 0, i64::try_from(EVENTS).unwrap_or(i64::MAX))?;
    let [merchant_event, store_event, tpn_event] = sequenced.as_slice() else { return Ok(None) };
    let Some(iso_id) = &merchant_event.iso_id else { return Ok(None) };
    let merchant_id = MerchantId::new(merchant_event.object_id.as_str());
    let store_id = StoreId::new(store_event.object_id.as_str());
    let tpn = Tpn::new(tpn_event.object_id.as_str());
    let event = |sequenced: &outbox::SequencedEvent, kind| Event {
        iso_id: sequenced.iso_id.clone(),
        kind,
        object_id: sequenced.object_id.clone(),
        payload: sequenced.payload.clone(),
        created: sequenced.created,
    };
    let events = vec![
        event(merchant_event, "merchant.created"),
        event(store_event, "store.created"),
        event(tpn_event, "tpn.created"),
    ];
    let missing = || types::Error::internal("an event names an object that is not there");
    let onboarding = Onboarding {
        merchant: merchant::get(conn, iso_id, &merchant_id)?.ok_or_else(missing)?,
        store: merchant::store_get(conn, iso_id, &store_id)?.ok_or_else(missing)?,
        profiles: tpn::profile_list(conn, iso_id, &tpn)?,
        tpn: tpn::get(conn, iso_id, &tpn)?.ok_or_else(missing)?,
        events,
    };
    let iso = site_rows::iso::get(conn, iso_id)?.ok_or_else(missing)?;
    Ok(Some((iso, onboarding)))
}

/// An id of 12 characters in no order. The letters in front of the digits keep ids unique.
fn scattered_id(kind: char, number: u64) -> String {
    // An odd factor maps the numbers below a power of two onto themselves, one to one.
    const BITS: u32 = 40;
    let scattered = number.wrapping_mul(0x9e_3779_b97f) & ((1 << BITS) - 1);
    format!("{scattered:010X}B{kind}")
}

/// A TPN of 12 digits in no order.
fn scattered_tpn(number: u64) -> String {
    // A factor that shares no divisor with ten maps the numbers below 10^12 one to one.
    let scattered = u128::from(number) * 618_033_988_749 % 1_000_000_000_000;
    format!("{scattered:012}")
}

/// A stream of bytes that looks random to a database: xorshift.
#[derive(Debug)]
struct Noise(u64);

impl Noise {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            chunk.copy_from_slice(self.0.to_le_bytes().get(..chunk.len()).unwrap_or_default());
        }
    }
}

/// Makes a database with the schema and the model's ISO in it.
pub(crate) fn create_database(location: &Location, model: &Model) -> Result<()> {
    let store = Database::open(location, schema::MIGRATIONS)?;
    let iso = model.iso.clone();
    store
        .write_blocking(move |conn| site_rows::iso::insert(conn, &iso))
        .context("cannot store the ISO")
}
