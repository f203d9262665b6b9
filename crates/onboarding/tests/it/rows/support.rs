//! Databases to test on, and rows to put in them.

use onboarding::rows::api_key::ApiKeyRow;
use onboarding::rows::idempotency::StoredAnswer;
use onboarding::rows::merchant::{MerchantRow, StoreRow};
use onboarding::rows::template::TemplateRow;
use onboarding::rows::tpn::{ProfileRow, TpnRow};
use site_rows::iso::IsoRow;
use types::{IsoId, KeyId, MerchantId, StoreId, TemplateId, Tpn};

pub(crate) use testkit::database::{TestDatabase, count, number, time, together};

pub(crate) fn iso_id() -> IsoId {
    IsoId::new("iso_1")
}

pub(crate) fn iso() -> IsoRow {
    IsoRow {
        iso_id: iso_id(),
        name: "Ænglish & Søn \u{1f3a1} \"quoted\"\n".to_owned(),
        response_style: "plain".to_owned(),
        data_key: (0..=255).collect(),
        created: time(1),
    }
}

pub(crate) fn key(name: &str) -> ApiKeyRow {
    ApiKeyRow {
        iso_id: iso_id(),
        key_id: KeyId::new(name),
        hash: vec![0; 32],
        name: name.to_owned(),
        scopes: "merchants:write".to_owned(),
        created: time(2),
        expires: Some(time(3)),
        revoked: None,
        last_used: None,
        last_ip: Some("192.0.2.1".to_owned()),
        allowed_ips: "192.0.2.0/24".to_owned(),
        created_by: "system".to_owned(),
        warned_days: None,
    }
}

pub(crate) fn template(name: &str) -> TemplateRow {
    TemplateRow {
        iso_id: iso_id(),
        template_id: TemplateId::new(format!("tpl_{name}")),
        name: name.to_owned(),
        version: 3,
        parameters: r#"{"tip":true}"#.to_owned(),
        created: time(4),
        updated: time(4),
        retired: None,
    }
}

pub(crate) fn merchant(id: &str, dba: &str) -> MerchantRow {
    MerchantRow {
        iso_id: iso_id(),
        merchant_id: MerchantId::new(id),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        dba: dba.to_owned(),
        dba_key: dba.to_lowercase(),
        zip: "08401".to_owned(),
        city: "Atlantic City".to_owned(),
        state: "NJ".to_owned(),
        ebt: Some("1234567".to_owned()),
        iso_agent_reference: None,
        iso_merchant: Some(String::new()),
        logo_url: None,
        external_reference: Some("ref 1".to_owned()),
        metadata: None,
        requirements: Some("[]".to_owned()),
        email_index: vec![1; 16],
        phone_index: vec![],
        sealed: vec![0, 255, 10, 34],
        created: time(5),
        updated: time(6),
    }
}

pub(crate) fn shop(id: &str, merchant_id: &str, dba: &str) -> StoreRow {
    StoreRow {
        iso_id: iso_id(),
        store_id: StoreId::new(id),
        merchant_id: MerchantId::new(merchant_id),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        dba: dba.to_owned(),
        dba_key: dba.to_lowercase(),
        mcc: "5812".to_owned(),
        zip: "08401".to_owned(),
        city: "Atlantic City".to_owned(),
        state: "NJ".to_owned(),
        ebt: None,
        external_reference: None,
        metadata: Some(r#"{"a":"b"}"#.to_owned()),
        email_index: vec![3; 16],
        phone_index: vec![4; 16],
        sealed: vec![5; 100],
        created: time(7),
        updated: time(8),
    }
}

pub(crate) fn tpn(number: &str, merchant_id: &str, store_id: &str) -> TpnRow {
    TpnRow {
        iso_id: iso_id(),
        tpn: Tpn::new(number),
        merchant_id: MerchantId::new(merchant_id),
        store_id: Some(StoreId::new(store_id)),
        status: "active".to_owned(),
        status_reason: Some("it is".to_owned()),
        version: 1,
        device_manufacturer: "Acme".to_owned(),
        device_model: "P1".to_owned(),
        application_sign: "app".to_owned(),
        routing_type: "auto".to_owned(),
        default_label: Some("Front desk".to_owned()),
        template: Some((TemplateId::new("tpl_basic"), i64::MAX)),
        tpn_bin: None,
        processor: "first".to_owned(),
        parameters: Some("{}".to_owned()),
        external_reference: Some(String::new()),
        metadata: None,
        created: time(9),
        updated: time(10),
    }
}

pub(crate) fn profile(number: &str, profile_id: &str) -> ProfileRow {
    ProfileRow {
        iso_id: iso_id(),
        tpn: Tpn::new(number),
        profile_id: profile_id.to_owned(),
        processor: "first".to_owned(),
        status: "active".to_owned(),
        tpn_bin: Some("001".to_owned()),
        mid: Some("42".to_owned()),
        identifiers: r#"{"mid":"42"}"#.to_owned(),
        identity_index: vec![6; 16],
        sealed: vec![7; 64],
        created: time(11),
    }
}

pub(crate) fn answer(key_hash: &[u8], expires: i64) -> StoredAnswer {
    StoredAnswer {
        iso_id: iso_id(),
        key_hash: key_hash.to_vec(),
        body_hash: vec![8; 32],
        status: 201,
        answer: r#"{"ok":true}"#.to_owned(),
        headers: r#"{"x-existing-merchant-id":"M1"}"#.to_owned(),
        created: time(0),
        expires: time(expires),
    }
}
