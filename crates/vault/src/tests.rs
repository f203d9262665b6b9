//! What the vault promises: nothing opens in another place, nothing is printed.

use proptest::prelude::*;

use super::*;

const AAD: Aad<'static> = Aad { kind: "merchant", id: "0123456789AB", column: "email" };

fn vault(environment: Environment) -> Vault {
    Vault::new(&MasterKey(Secret::new([7; KEY_LEN])), environment)
}

fn data_key() -> DataKey {
    vault(Environment::Sandbox).data_key_create(&IsoId::new("iso1")).expect("random").0
}

#[test]
fn a_master_key_survives_its_text() {
    let master = MasterKey::generate().expect("random");
    let text = format!("{}\n", master.to_text().expose());
    let copy = MasterKey::from_text(&text).expect("own text");
    assert_eq!(copy.0.expose(), master.0.expose());
    assert_ne!(MasterKey::generate().expect("random").0.expose(), master.0.expose());
}

#[test]
fn a_malformed_master_key_is_refused_and_not_repeated() {
    for text in ["", &"g".repeat(64), &"a".repeat(63), &"a".repeat(66), &"é".repeat(32)] {
        let error = MasterKey::from_text(text).expect_err("malformed");
        assert_eq!(error.to_string(), "the master key must be 64 hex digits");
    }
    assert!(MasterKey::from_text(&"aF".repeat(32)).is_ok());
}

#[test]
fn environments_and_master_keys_have_nothing_in_common() {
    let (sandbox, production) = (vault(Environment::Sandbox), vault(Environment::Production));
    let other = Vault::new(&MasterKey(Secret::new([8; KEY_LEN])), Environment::Sandbox);
    let iso = IsoId::new("iso1");
    let (_, wrapped) = sandbox.data_key_create(&iso).expect("random");
    for stranger in [&production, &other] {
        assert_ne!(sandbox.fingerprint(), stranger.fingerprint());
        let hash = |vault: &Vault| vault.api_key_hash("x", &iso, "*");
        assert_ne!(hash(&sandbox), hash(stranger));
        let index = |vault: &Vault| vault.blind_index(&iso, "email", "a@b.co");
        assert_ne!(index(&sandbox), index(stranger));
        assert!(stranger.data_key_open(&iso, &wrapped).is_err());
    }
    assert_eq!(sandbox.fingerprint(), vault(Environment::Sandbox).fingerprint());
}

#[test]
fn derived_keys_never_change() {
    // Stored hashes, indexes and ids depend on these bytes; a change here loses them all.
    let vault = vault(Environment::Production);
    let index = vault.blind_index(&IsoId::new("iso1"), "email", "a@b.co");
    let [first, second, ..] = vault.api_key_hash("x", &IsoId::new("iso1"), "*");
    assert_eq!(
        (vault.fingerprint().to_string(), u128::from_be_bytes(index), first, second),
        (
            format!("{:016x}", 2_018_167_104_848_372_951_u64),
            64_460_461_818_358_429_706_963_033_545_291_682_556,
            66,
            55
        )
    );
}

#[test]
fn a_wrapped_key_opens_for_its_iso_only() {
    let vault = vault(Environment::Sandbox);
    let iso = IsoId::new("iso1");
    let (key, wrapped) = vault.data_key_create(&iso).expect("random");
    let sealed = key.seal(&AAD, b"secret").expect("short");
    let key = vault.data_key_open(&iso, &wrapped).expect("own key");
    assert_eq!(key.open(&AAD, &sealed).expect("same key").expose(), b"secret");
    assert!(vault.data_key_open(&IsoId::new("iso2"), &wrapped).is_err());
    assert!(vault.data_key_open(&iso, &WrappedKey(sealed)).is_err());
    assert!(vault.data_key_open(&iso, &WrappedKey(Vec::new())).is_err());
}

#[test]
fn a_value_opens_in_its_place_only() {
    let key = data_key();
    let sealed = key.seal(&AAD, b"secret").expect("short");
    for aad in [
        Aad { kind: "store", ..AAD },
        Aad { id: "0123456789AC", ..AAD },
        Aad { column: "phone", ..AAD },
        // The same letters in a row, cut elsewhere.
        Aad { kind: "merchant0", id: "123456789AB", ..AAD },
    ] {
        assert!(key.open(&aad, &sealed).is_err(), "{aad:?}");
    }
    assert!(data_key().open(&AAD, &sealed).is_err());
}

#[test]
fn equal_values_are_sealed_differently_in_one_allocation() {
    let key = data_key();
    let first = key.seal(&AAD, b"secret").expect("short");
    assert_ne!(first, key.seal(&AAD, b"secret").expect("short"));
    assert_eq!(first.len(), first.capacity());
    for len in [AAD_LEN_MAX, usize::from(u16::MAX) + 1] {
        assert!(key.seal(&Aad { id: &"x".repeat(len), ..AAD }, b"").is_err(), "too long");
    }
}

#[test]
fn blind_indexes_differ_by_iso_kind_and_value() {
    let vault = vault(Environment::Sandbox);
    let index = |iso: &str, kind, value| vault.blind_index(&IsoId::new(iso), kind, value);
    let own = index("iso1", "email", "a@b.co");
    assert_eq!(own, index("iso1", "email", "a@b.co"));
    assert_ne!(own, index("iso2", "email", "a@b.co"));
    assert_ne!(own, index("iso1", "phone", "a@b.co"));
    assert_ne!(own, index("iso1", "email", "b@b.co"));
    assert_ne!(index("a", "bc", "d"), index("ab", "c", "d"));
}

#[test]
fn a_new_version_is_learnt_before_it_is_used_and_old_ones_still_open() {
    let (vault, iso) = (vault(Environment::Sandbox), IsoId::new("iso1"));
    let (first, stored) = vault.data_key_create(&iso).expect("random");
    let old = first.seal(&AAD, b"secret").expect("short");
    let announced = vault.data_key_next(&iso, &stored).expect("versions are left");
    assert!(announced.has_next() && !stored.has_next());
    assert_eq!(vault.data_key_next(&iso, &announced).expect("as it is"), announced);
    let waiting = vault.data_key_open(&iso, &announced).expect("own key");
    assert_eq!(waiting.version(), KeyVersion::FIRST, "nobody seals with the new one yet");
    let activated = announced.activated();
    assert!(!activated.has_next());
    let new = vault.data_key_open(&iso, &activated).expect("own key");
    assert_eq!(new.version().get(), 2);
    let resealed = new.reseal(&AAD, &old).expect("opens").expect("another version");
    assert_eq!(waiting.open(&AAD, &resealed).expect("learnt before").expose(), b"secret");
    assert!(new.reseal(&AAD, &resealed).expect("opens").is_none());
    assert!(new.reseal(&AAD, b"").expect("erased").is_none());
    assert!(first.open(&AAD, &resealed).is_err(), "the old key opens nothing new");
    assert_eq!(new.open(&AAD, &old).expect("late writers").expose(), b"secret");
    let mut many = activated;
    for _ in 0..40 {
        many = vault.data_key_next(&iso, &many).expect("versions are left").activated();
    }
    assert_eq!((many.version().map(KeyVersion::get), many.0.len()), (Some(42), 16 * 75));
    assert!(vault.data_key_open(&iso, &WrappedKey(many.0[1..].to_vec())).is_err());
}

#[test]
fn one_master_key_follows_another_and_nothing_derived_changes() {
    let (old, new) = (MasterKey(Secret::new([7; 32])), MasterKey(Secret::new([8; 32])));
    let (iso, environment) = (IsoId::new("iso1"), Environment::Production);
    let vault = Vault::new(&old, environment);
    let by = Fingerprint::of(&new, environment);
    let (key, stored) = vault.data_key_create(&iso).expect("random");
    let stored = vault.data_key_next(&iso, &stored).expect("versions are left");
    let sealed = key.seal(&AAD, b"secret").expect("short");
    let of_site = vault.site_seal(&AAD, b"of the site").expect("short");
    assert!(vault.data_key_rewrap(&iso, &stored, by).is_err(), "the new key is not known yet");
    vault.accept(&new);
    assert!(vault.accepts(by) && vault.accepts_text(&by.to_string()));
    let rewrapped = vault.data_key_rewrap(&iso, &stored, by).expect("opens").expect("new");
    assert!(vault.data_key_rewrap(&iso, &rewrapped, by).expect("opens").is_none());
    let site = vault.site_key_wrapped(None).expect("wraps");
    let site = vault.site_key_rewrap(&site, by).expect("opens").expect("new");
    for wrapped in [&stored, &rewrapped] {
        let opened = vault.data_key_open(&iso, wrapped).expect("either is accepted");
        assert_eq!(opened.open(&AAD, &sealed).expect("same key").expose(), b"secret");
    }
    let kept = vault.keep(by).expect("known");
    vault.follow(&by.to_string());
    assert_eq!(vault.fingerprint(), by);

    let after = Vault::with_kept(&new, environment, &kept).expect("its own");
    assert!(Vault::with_kept(&old, environment, &kept).is_err());
    after.site_key_use(&site).expect("its own");
    let index = |vault: &Vault| vault.blind_index(&iso, "email", "a@b.co");
    let hash = |vault: &Vault| vault.api_key_hash("x", &iso, "*");
    let site_hash = |vault: &Vault| vault.site_hash("session", "x", "y");
    let id = |vault: &Vault| vault.id_permutation().merchant_id(5).expect("small");
    assert_eq!((index(&vault), hash(&vault)), (index(&after), hash(&after)));
    assert_eq!((site_hash(&vault), id(&vault)), (site_hash(&after), id(&after)));
    assert_eq!(after.site_open(&AAD, &of_site).expect("same key").expose(), b"of the site");
    assert!(after.data_key_open(&iso, &stored).is_err(), "what only the old key wrapped");
    let opened = after.data_key_open(&iso, &rewrapped).expect("its own");
    assert_eq!(opened.open(&AAD, &sealed).expect("same key").expose(), b"secret");
    assert!(Vault::new(&old, environment).data_key_open(&iso, &rewrapped).is_err());
}

#[test]
fn nothing_prints_a_key() {
    let master = MasterKey(Secret::new([7; KEY_LEN]));
    let text = format!("{master:?} {:?} {:?}", vault(Environment::Sandbox), data_key());
    assert!(text.contains("[secret]") && !text.contains("7, 7"), "{text}");
}

proptest! {
    #[test]
    fn what_is_sealed_opens(plaintext: Vec<u8>, id in ".{0,40}") {
        let key = data_key();
        let aad = Aad { id: &id, ..AAD };
        let sealed = key.seal(&aad, &plaintext).expect("short");
        let opened = key.open(&aad, &sealed).expect("own value");
        prop_assert_eq!(opened.expose(), &plaintext);
    }

    #[test]
    fn any_change_or_cut_is_noticed(plaintext: Vec<u8>, at: prop::sample::Index, bit in 0_u8..8) {
        let key = data_key();
        let mut sealed = key.seal(&AAD, &plaintext).expect("short");
        let at = at.index(sealed.len());
        prop_assert!(key.open(&AAD, &sealed[..at]).is_err());
        sealed[at] ^= 1 << bit;
        prop_assert!(key.open(&AAD, &sealed).is_err());
    }
}
