//! Changes of an ISO's own limits, as the command line takes them.

/// A limit to be set: its name, and its value or none.
pub type Change = (String, Option<u32>);

/// Reads `merchants=500` or `tpns=none`.
pub fn parse_change(text: &str) -> Result<Change, String> {
    let wrong = || format!("`{text}` is not a limit; use merchants=500 or merchants=none");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    match value {
        "none" => Ok((name.to_owned(), None)),
        number => Ok((name.to_owned(), Some(number.parse().map_err(|_| wrong())?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_its_limit() {
        assert_eq!(parse_change("tpns=12"), Ok((String::from("tpns"), Some(12))));
        assert_eq!(parse_change("tpns=none"), Ok((String::from("tpns"), None)));
        for wrong in ["", "tpns", "tpns=", "tpns=-1", "tpns=many", "tpns=4294967296"] {
            assert!(parse_change(wrong).is_err(), "{wrong}");
        }
    }
}
