//! API keys from their making to their end.

use std::thread;
use std::time::{Duration, Instant};

use onboarding::Settings;
use onboarding::caller::{Reason, Refused};
use onboarding::dialect::ResponseStyle;
use onboarding::keys::ApiKey;
use onboarding::keys::{
    KEY_LIFE_DEFAULT, KEY_LIFE_MAX, KEY_OVERLAP_MAX, KEYS_MAX, KeyLife, NewKey,
};
use tokio::runtime::Runtime;
use types::{Clock, Environment, IsoId, KeyId, Kind, Scope, ScopeSet, Timestamp};

use crate::support::{House, authenticate, master_key, now, open_platform, open_platform_as};

const HOUR: Duration = Duration::from_hours(1);
const YEAR: KeyLife = KeyLife::For(KEY_LIFE_DEFAULT);

fn new_key(house: &House, scopes: ScopeSet, life: KeyLife) -> NewKey {
    house.platform.key_create(&house.iso_id, "key", scopes, life).unwrap()
}

/// Why the key is refused at that time, or nothing.
fn refusal(house: &House, key: &NewKey, scope: Scope, at: Timestamp) -> Option<Reason> {
    authenticate(house.runtime(), &house.platform, key, scope, at)
        .err()
        .map(|refused| refused.reason)
}

#[test]
fn a_key_opens_what_its_scopes_say() {
    let house = House::new();
    let full = new_key(&house, ScopeSet::Full, YEAR);
    let read = new_key(&house, ScopeSet::Only(vec![Scope::MerchantsRead, Scope::TpnsRead]), YEAR);
    let none = new_key(&house, ScopeSet::Only(Vec::new()), YEAR);
    for scope in Scope::ALL.iter().copied() {
        assert_eq!(refusal(&house, &full, scope, now()), None);
        let expected = match scope {
            Scope::MerchantsRead | Scope::TpnsRead => None,
            _ => Some(Reason::MissingScope),
        };
        assert_eq!(refusal(&house, &read, scope, now()), expected, "{scope}");
        assert_eq!(refusal(&house, &none, scope, now()), Some(Reason::MissingScope));
    }
    let caller =
        authenticate(house.runtime(), &house.platform, &read, Scope::TpnsRead, now()).unwrap();
    assert_eq!(caller.iso_id(), &house.iso_id);
    assert_eq!(caller.actor(), format!("key:{}", read.key_id));
}

#[test]
fn headers_without_a_key_of_ours_are_refused() {
    let house = House::new();
    let text = house.key.text.expose().as_str();
    let unknown = ApiKey::generate(Environment::Sandbox).unwrap();
    let foreign = ApiKey::generate(Environment::Production).unwrap();
    let mistyped =
        format!("{}{}", &text[..text.len() - 1], if text.ends_with('0') { '1' } else { '0' });
    let ask = |header: Option<String>| {
        let header = header.as_ref().map(String::as_bytes);
        let asked = house.platform.authenticate(header, Scope::OnboardWrite, None, now());
        house.runtime().block_on(asked).unwrap().err().map(|refused| refused.reason)
    };
    for (header, expected) in [
        (None, Some(Reason::NoHeader)),
        (Some(String::new()), Some(Reason::NotAnApiKey)),
        (Some(text.to_owned()), Some(Reason::NotAnApiKey)),
        (Some(format!("Bearer {text}")), Some(Reason::NotAnApiKey)),
        (Some(format!("api-key {}", &text[1..])), Some(Reason::NotAnApiKey)),
        (Some(format!("api-key {mistyped}")), Some(Reason::Mistyped)),
        (Some(format!("api-key {}", unknown.text().expose())), Some(Reason::Unknown)),
        (Some(format!("api-key {}", foreign.text().expose())), Some(Reason::OtherEnvironment)),
        (Some(format!("API Key  {text} ")), None),
    ] {
        assert_eq!(ask(header.clone()), expected, "{header:?}");
    }
}

/// Knowing the public part of a key is of no use: another secret with it is unknown.
#[test]
fn a_key_with_the_id_of_another_is_unknown() {
    let house = House::new();
    let key = new_key(&house, ScopeSet::Full, YEAR);
    assert_eq!(refusal(&house, &key, Scope::OnboardWrite, now()), None);
    // The same id in another database belongs to another key.
    let other = House::new();
    assert_eq!(refusal(&other, &key, Scope::OnboardWrite, now()), Some(Reason::Unknown));
    let stored = house.platform.key_list().unwrap();
    let row = stored.iter().find(|row| row.key_id == key.key_id).unwrap();
    assert_ne!(row.hash, key.text.expose().as_bytes());
}

#[test]
fn a_key_ends_with_its_life() {
    let house = House::new();
    let key = new_key(&house, ScopeSet::Full, KeyLife::For(HOUR));
    let ends = now().plus(HOUR);
    assert_eq!(key.expires, Some(ends));
    let just_before = Timestamp::from_micros(ends.as_micros() - 1);
    assert_eq!(refusal(&house, &key, Scope::OnboardWrite, just_before), None);
    assert_eq!(refusal(&house, &key, Scope::OnboardWrite, ends), Some(Reason::Expired));
    let forever = new_key(&house, ScopeSet::Full, KeyLife::Forever);
    assert_eq!(forever.expires, None);
    let late = now().plus(Duration::from_hours(24 * 365 * 100));
    assert_eq!(refusal(&house, &forever, Scope::OnboardWrite, late), None);
}

#[test]
fn lives_have_bounds() {
    let house = House::new();
    let create = |life| house.platform.key_create(&house.iso_id, "key", ScopeSet::Full, life);
    assert!(create(KeyLife::For(KEY_LIFE_MAX)).is_ok());
    let too_long = create(KeyLife::For(KEY_LIFE_MAX + Duration::from_secs(1)));
    assert_eq!(too_long.unwrap_err().kind(), Kind::Invalid);

    let folder = testkit::temp_dir().unwrap();
    let production = open_platform_as(
        folder.path(),
        Environment::Production,
        &master_key(),
        Settings::default(),
    )
    .unwrap();
    let iso_id = production.iso_create("ISO", ResponseStyle::Detailed).unwrap();
    let forever = production.key_create(&iso_id, "key", ScopeSet::Full, KeyLife::Forever);
    assert_eq!(forever.unwrap_err().kind(), Kind::Invalid);
    let key = production.key_create(&iso_id, "key", ScopeSet::Full, YEAR).unwrap();
    assert!(key.text.expose().starts_with("bw_live_"));
    assert_eq!(refusal(&house, &key, Scope::OnboardWrite, now()), Some(Reason::OtherEnvironment));
}

#[test]
fn an_iso_has_ten_live_keys_at_most() {
    let folder = testkit::temp_dir().unwrap();
    let mut platform = open_platform(folder.path(), Settings::default()).unwrap();
    let iso_id = platform.iso_create("ISO", ResponseStyle::Detailed).unwrap();
    let other = platform.iso_create("Other", ResponseStyle::Detailed).unwrap();
    let mut keys = Vec::new();
    for _ in 1..KEYS_MAX {
        keys.push(platform.key_create(&iso_id, "key", ScopeSet::Full, YEAR).unwrap());
    }
    platform.key_create(&iso_id, "short", ScopeSet::Full, KeyLife::For(HOUR)).unwrap();
    let one_more = |platform: &onboarding::Platform| {
        platform.key_create(&iso_id, "key", ScopeSet::Full, YEAR).map_err(|error| error.kind())
    };
    assert_eq!(one_more(&platform).unwrap_err(), Kind::Invalid);
    assert!(platform.key_create(&other, "key", ScopeSet::Full, YEAR).is_ok());
    // A key that ended by itself makes room, and so does a revoked one.
    platform.clock = Clock::Fixed(now().plus(HOUR));
    one_more(&platform).unwrap();
    assert_eq!(one_more(&platform).unwrap_err(), Kind::Invalid);
    platform.key_revoke(&keys[0].key_id).unwrap();
    one_more(&platform).unwrap();
}

#[test]
fn rotation_leaves_both_keys_valid_for_the_overlap() {
    let house = House::new();
    let scopes = ScopeSet::Only(vec![Scope::OnboardWrite]);
    let old = new_key(&house, scopes, YEAR);
    let new = house.platform.key_rotate(&old.key_id, HOUR).unwrap();
    assert_ne!(new.text.expose(), old.text.expose());
    assert_eq!(new.expires, Some(now().plus(KEY_LIFE_DEFAULT)));
    let at = now().plus(HOUR);
    let just_before = Timestamp::from_micros(at.as_micros() - 1);
    for key in [&old, &new] {
        assert_eq!(refusal(&house, key, Scope::OnboardWrite, just_before), None);
        assert_eq!(refusal(&house, key, Scope::TpnsRead, just_before), Some(Reason::MissingScope));
    }
    assert_eq!(refusal(&house, &old, Scope::OnboardWrite, at), Some(Reason::Expired));
    assert_eq!(refusal(&house, &new, Scope::OnboardWrite, at), None);
    let rotated = house.platform.key_list().unwrap();
    let names: Vec<&str> = rotated.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "key").count(), 2);
}

#[test]
fn rotation_has_bounds_too() {
    let house = House::new();
    let rotate = |key_id: &KeyId, overlap| {
        house.platform.key_rotate(key_id, overlap).map_err(|error| error.kind())
    };
    let short = new_key(&house, ScopeSet::Full, KeyLife::For(HOUR));
    let too_long = rotate(&short.key_id, KEY_OVERLAP_MAX + Duration::from_secs(1));
    assert_eq!(too_long.unwrap_err(), Kind::Invalid);
    // The overlap never lengthens the life of the old key.
    rotate(&short.key_id, KEY_OVERLAP_MAX).unwrap();
    let ends = now().plus(HOUR);
    assert_eq!(refusal(&house, &short, Scope::OnboardWrite, ends), Some(Reason::Expired));
    // Without overlap the old one ends at once.
    let old = new_key(&house, ScopeSet::Full, KeyLife::Forever);
    let new = rotate(&old.key_id, Duration::ZERO).unwrap();
    assert_eq!(new.expires, None);
    assert_eq!(refusal(&house, &old, Scope::OnboardWrite, now()), Some(Reason::Expired));
    assert_eq!(rotate(&old.key_id, HOUR).unwrap_err(), Kind::Invalid);
    assert_eq!(rotate(&KeyId::new("nosuchid"), HOUR).unwrap_err(), Kind::NotFound);
}

#[test]
fn a_revoked_key_cannot_be_revoked_or_rotated() {
    let house = House::with(Settings::default(), ResponseStyle::Summary);
    let key = new_key(&house, ScopeSet::Full, YEAR);
    house.platform.key_revoke(&key.key_id).unwrap();
    let again = house.platform.key_revoke(&key.key_id).unwrap_err();
    assert_eq!(again.kind(), Kind::Invalid);
    let rotated = house.platform.key_rotate(&key.key_id, HOUR).unwrap_err();
    assert_eq!(rotated.kind(), Kind::Invalid);
    let none = house.platform.key_revoke(&KeyId::new("nosuchid")).unwrap_err();
    assert_eq!(none.kind(), Kind::NotFound);
    // The refusal comes in the style of the ISO that the key belonged to.
    let refused = authenticate(house.runtime(), &house.platform, &key, Scope::OnboardWrite, now());
    let (reason, style) = (Reason::Revoked, ResponseStyle::Summary);
    let expected = Refused {
        key: Some((house.iso_id.clone(), key.key_id)),
        style,
        ..Refused::stranger(reason)
    };
    assert_eq!(refused.unwrap_err(), expected);
}

#[test]
fn a_revocation_is_seen_by_another_process_within_a_second() {
    let house = House::new();
    // A second platform on the same file stands for the server beside the command line.
    let server = open_platform(house.folder(), Settings::default()).unwrap();
    let key = new_key(&house, ScopeSet::Full, YEAR);
    let ask = || authenticate(house.runtime(), &server, &key, Scope::OnboardWrite, now());
    let seen = Instant::now();
    assert!(ask().is_ok());
    house.platform.key_revoke(&key.key_id).unwrap();
    thread::sleep(Duration::from_secs(1).saturating_sub(seen.elapsed()));
    assert_eq!(ask().unwrap_err().reason, Reason::Revoked);
}

#[test]
fn the_last_use_is_noted_once_a_minute() {
    let house = House::new();
    let platform = &house.platform;
    let caller = house.caller();
    assert!(platform.last_use_is_stale(caller, now()));
    house.runtime().block_on(platform.record_last_use(caller.clone(), None, now())).unwrap();
    let noted = platform.key_list().unwrap();
    assert_eq!(noted[0].last_used, Some(now()));
    // A caller that was looked up afterwards knows.
    let server = open_platform(house.folder(), Settings::default()).unwrap();
    let runtime: &Runtime = house.runtime();
    let again = authenticate(runtime, &server, &house.key, Scope::OnboardWrite, now()).unwrap();
    assert!(!server.last_use_is_stale(&again, now().plus(Duration::from_secs(59))));
    assert!(server.last_use_is_stale(&again, now().plus(Duration::from_mins(1))));
}

#[test]
fn names_and_isos_are_checked() {
    let house = House::new();
    let create = |iso_id: &IsoId, name: &str| {
        let created = house.platform.key_create(iso_id, name, ScopeSet::Full, YEAR);
        created.map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(create(&IsoId::new("iso_none"), "key"), Err(Kind::NotFound));
    assert_eq!(create(&house.iso_id, " "), Err(Kind::Invalid));
    assert_eq!(create(&house.iso_id, "a\nb"), Err(Kind::Invalid));
    assert_eq!(create(&house.iso_id, &"x".repeat(101)), Err(Kind::Invalid));
    assert_eq!(create(&house.iso_id, &"\u{e9}".repeat(100)), Ok(()));
}
