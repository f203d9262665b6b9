//! Merchants that may be the same as another: scored, told, and never blocked.
//!
//! E-mail address and phone number are compared by their blind indexes. Names and addresses are
//! compared among those that share one of these, the ZIP code, or the beginning of the name.

use std::collections::BTreeSet;

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{MerchantId, Result, Scope};

use super::details::Contact;
use crate::rows::merchant::{self, MerchantRow};
use crate::{Caller, Cx, change, text};

/// Merchants that are compared at most, the newest first.
const COMPARED_MAX: i64 = 500;
/// Merchants that are shown at most.
const SHOWN_MAX: usize = 20;
/// The score from which a merchant is shown.
const SCORE_MIN: u32 = 30;
/// Letters of the name that two merchants of different places must share to be compared.
const DBA_START_LENGTH: usize = 4;

/// What each agreement adds to the score.
const SAME_EMAIL: u32 = 40;
const SAME_PHONE: u32 = 35;
const SAME_ADDRESS: u32 = 30;
/// For equal names; similar ones add a part of it.
const SAME_DBA: u32 = 40;
/// How similar names must be, in percent.
const SIMILAR_FROM: u32 = 50;
const SCORE_MAX: u32 = 100;

/// Show merchants that may be the same as this one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantDuplicates {
    /// Id of the merchant.
    merchant_id: MerchantId,
}

/// Merchants that may be the same.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DuplicatesView {
    /// Up to 20 merchants, the most similar first.
    data: Vec<DuplicateView>,
}

/// A merchant that may be the same.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicateView {
    /// Id of the other merchant.
    merchant_id: MerchantId,
    /// Its trading name.
    dba: String,
    /// Its state.
    status: String,
    /// From 30, a little alike, to 100, surely the same.
    score: u32,
    /// What agrees: `dba`, `email`, `phone`, `address`.
    reasons: Vec<&'static str>,
}

impl Endpoint<Cx> for MerchantDuplicates {
    const ROUTE: Route =
        Route::get("/v1/merchants/{merchantId}/duplicates").scope(Scope::MerchantsRead);
    type Reply = DuplicatesView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<DuplicatesView>, Failure> {
        let caller = cx.caller()?.clone();
        let data = cx.platform.store.list(move |conn| {
            let id = self.merchant_id.as_str();
            let merchant: MerchantRow = change::load(conn, caller.iso_id(), id)?;
            let start: String = merchant.dba_key.chars().take(DBA_START_LENGTH).collect();
            let others = merchant::like(conn, &merchant, &start, COMPARED_MAX)?;
            score_all(&caller, &merchant, others)
        });
        Ok(Answer::new(DuplicatesView { data: data.await? }))
    }
}

fn score_all(
    caller: &Caller,
    merchant: &MerchantRow,
    others: Vec<MerchantRow>,
) -> Result<Vec<DuplicateView>> {
    let contact = Contact::of_merchant(caller.data_key(), merchant)?;
    let address = address_key(merchant, &contact);
    let mut found = Vec::new();
    for other in others {
        let contact = Contact::of_merchant(caller.data_key(), &other)?;
        let facts = Facts {
            dba: similarity(&merchant.dba_key, &other.dba_key),
            email: merchant.email_index == other.email_index,
            phone: merchant.phone_index == other.phone_index,
            address: address == address_key(&other, &contact),
        };
        let (score, reasons) = facts.score();
        if score >= SCORE_MIN {
            let MerchantRow { merchant_id, dba, status, .. } = other;
            found.push(DuplicateView { merchant_id, dba, status, score, reasons });
        }
    }
    found.sort_by(|one, other| {
        other.score.cmp(&one.score).then_with(|| one.merchant_id.cmp(&other.merchant_id))
    });
    found.truncate(SHOWN_MAX);
    Ok(found)
}

/// What two merchants have in common.
struct Facts {
    /// In percent.
    dba: u32,
    email: bool,
    phone: bool,
    address: bool,
}

impl Facts {
    fn score(&self) -> (u32, Vec<&'static str>) {
        let dba = if self.dba < SIMILAR_FROM { 0 } else { SAME_DBA * self.dba / 100 };
        let when = |holds: bool, score: u32| if holds { score } else { 0 };
        let parts = [
            ("dba", dba),
            ("email", when(self.email, SAME_EMAIL)),
            ("phone", when(self.phone, SAME_PHONE)),
            ("address", when(self.address, SAME_ADDRESS)),
        ];
        let agreeing = parts.into_iter().filter(|(_, score)| *score > 0);
        let reasons = agreeing.map(|(reason, _)| reason).collect();
        (parts.iter().map(|(_, score)| score).sum::<u32>().min(SCORE_MAX), reasons)
    }
}

fn address_key(merchant: &MerchantRow, contact: &Contact) -> String {
    let second = contact.address_line2.as_deref().unwrap_or_default();
    let lines = text::dba_key(&format!("{} {second}", contact.address_line1));
    format!("{} {lines}", merchant.zip)
}

/// How similar two folded names are, in percent: the share of the pairs of letters that both have.
fn similarity(one: &str, other: &str) -> u32 {
    let (one, other) = (pairs(one), pairs(other));
    let all = u32::try_from(one.len() + other.len()).unwrap_or(u32::MAX);
    let shared = u32::try_from(one.intersection(&other).count()).unwrap_or_default();
    (200 * shared).checked_div(all).unwrap_or_default()
}

/// Neighbouring letters and digits; signs and blanks do not count.
fn pairs(name: &str) -> BTreeSet<(char, char)> {
    let letters: Vec<char> = name.chars().filter(|c| c.is_alphanumeric()).collect();
    letters.iter().copied().zip(letters.iter().copied().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found_similar() {
        for (one, other, at_least, at_most) in [
            ("harbor cafe", "harbor cafe", 100, 100),
            ("harbor cafe", "harbor-cafe", 100, 100),
            ("harbor cafe", "harbour cafe", 80, 99),
            ("harbor cafe", "harbor cafe 2", 90, 99),
            ("harbor cafe", "north star books", 0, 45),
            ("x", "y", 0, 0),
            ("", "", 0, 0),
        ] {
            let found = similarity(one, other);
            assert!((at_least..=at_most).contains(&found), "{one} {other}: {found}");
            assert_eq!(found, similarity(other, one));
        }
    }

    #[test]
    fn scores_add_up_and_end_at_a_hundred() {
        let facts = |dba, email, phone, address| Facts { dba, email, phone, address }.score();
        assert_eq!(facts(100, true, true, true), (100, vec!["dba", "email", "phone", "address"]));
        assert_eq!(facts(49, false, true, false), (35, vec!["phone"]));
        assert_eq!(facts(50, false, false, false), (20, vec!["dba"]));
        assert_eq!(facts(0, false, false, false), (0, vec![]));
    }
}
