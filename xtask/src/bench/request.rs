//! The request that every client sends: a full onboarding as bytes, with a number to fill in.

use std::ops::Range;

/// Stands where the number of the request goes; as long as the number's text.
const PLACEHOLDER: &str = "##########";

/// Everything that an ISO would send: a merchant, a store and a TPN with one profile.
const BODY: &str = concat!(
    r#"{"merchantData":{"dba":"Bench Cafe ##########","firstName":"Maria","lastName":"Lindqvist","#,
    r#""email":"owner-##########@bench.example","addressLine1":"12 Pier Road","#,
    r#""addressLine2":"Suite 4","zipCode":"10001","phoneNumber":"2125550142","#,
    r#""isoAgentReference":"AGENT7","ISDcode":"+1"},"#,
    r#""storeData":{"mccCode":"5812","firstName":"Maria","lastName":"Lindqvist","#,
    r#""dba":"Bench Cafe ##########","addressLine1":"12 Pier Road","addressLine2":"Suite 4","#,
    r#""zipCode":"10001","email":"store-##########@bench.example","#,
    r#""phoneNumber":"2125550142","ISDcode":"+1"},"#,
    r#""tpnData":{"deviceManufacturer":"Kozen","deviceModel":"P3","tpnApplicationSign":"CRDT","#,
    r#""tpnRoutingType":"SIMPLE","tpnProcessor":{"processorName":"CKNX","#,
    r#""profile":[{"profileId":"01","apiKey":"processor-key-##########"}]}}}"#
);

/// A request without its number.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Request {
    pub(crate) fn new(authority: &str, key: &str) -> Self {
        let text = format!(
            "POST /v1/onboardmerchant HTTP/1.1\r\nHost: {authority}\r\n\
             Authorization: api-key {key}\r\nContent-Type: application/json\r\n\
             User-Agent: boardwalk-bench\r\nAccept: application/json\r\n\
             Content-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        let matches = text.match_indices(PLACEHOLDER);
        let places = matches.map(|(start, found)| start..start + found.len()).collect();
        Self { bytes: text.into_bytes(), places }
    }

    /// The request with this number: new names, addresses and accounts.
    pub(crate) fn numbered(&mut self, number: u64) -> &[u8] {
        let text = number_text(number);
        for place in &self.places {
            if let Some(bytes) = self.bytes.get_mut(place.clone()) {
                bytes.copy_from_slice(text.as_bytes());
            }
        }
        &self.bytes
    }
}

/// The body alone, as a row of a file.
pub(crate) fn row(number: u64) -> String {
    BODY.replace(PLACEHOLDER, &number_text(number))
}

pub(crate) fn number_text(number: u64) -> String {
    format!("{number:0width$}", width = PLACEHOLDER.len())
}
