//! Which characters a field may have, and the forms in which text is kept and compared.
//!
//! Each check answers for the characters and the pattern alone; **lengths are the caller's**, since
//! a wrong length has an error of its own and comes second. Checks expect text that went through
//! [`clean`]. Letters of all scripts are letters; what cannot be seen is refused everywhere, even
//! where Unicode counts it among the letters. Nothing here looks anything up.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{
    CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed,
};
use types::{Error, address_range};

const EMAIL_LOCAL_LEN_MAX: usize = 64;
const NAME_LEN_MAX: usize = 100;
const HOST_LEN_MAX: usize = 253;
const LABEL_LEN_MAX: usize = 63;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();
const NFD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
const NFKD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfkd();
const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();
const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::new();
const INVISIBLE: CodePointSetDataBorrowed<'static> =
    CodePointSetData::new::<DefaultIgnorableCodePoint>();

/// The form in which text is stored: no blanks at the ends, NFC.
pub fn clean(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if trimmed.is_ascii() { Cow::Borrowed(trimmed) } else { NFC.normalize(trimmed) }
}

/// The form in which names are compared: NFKC, single blanks, no case.
pub fn dba_key(text: &str) -> String {
    if text.is_ascii() {
        let mut key = single_spaces(text);
        key.make_ascii_lowercase();
        return key;
    }
    // The compatibility caseless match of the Unicode standard (D146); folding once is not enough,
    // because a folded letter may decompose into letters that fold again.
    let folded = CASES.fold_string(&NFD.normalize(text)).into_owned();
    let folded = CASES.fold_string(&NFKD.normalize(&folded)).into_owned();
    single_spaces(&NFKC.normalize(&folded))
}

/// The form in which e-mail addresses are compared: the domain has no case; the local part has.
pub(crate) fn email_key(email: &str) -> String {
    match email.rsplit_once('@') {
        Some((local, domain)) => format!("{local}@{}", domain.to_lowercase()),
        None => email.to_owned(),
    }
}

fn single_spaces(text: &str) -> String {
    let mut single = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !single.is_empty() {
            single.push(' ');
        }
        single.push_str(word);
    }
    single
}

/// Names of businesses and lines of addresses: letters, digits, blanks and the listed signs, with a
/// letter or digit among them.
pub fn is_text(text: &str) -> bool {
    let mut has_letter_or_digit = false;
    let mut previous = Class::Other;
    for character in text.chars() {
        let class = Class::of(character);
        let is_allowed = match class {
            Class::Letter | Class::Digit => true,
            Class::Mark => matches!(previous, Class::Letter | Class::Mark),
            Class::Other => is_text_sign(character),
        };
        if !is_allowed {
            return false;
        }
        has_letter_or_digit |= class != Class::Other;
        previous = class;
    }
    has_letter_or_digit
}

fn is_text_sign(character: char) -> bool {
    " &'-.,#/()@+:;!*_\"$%?=|~^[]".contains(character)
}

/// Names of persons: letters, and between them blanks, apostrophes, hyphens and periods.
pub fn is_name(text: &str) -> bool {
    let mut previous = Class::Other;
    for (index, character) in text.chars().enumerate() {
        let class = Class::of(character);
        let is_allowed = match class {
            Class::Letter => true,
            Class::Digit => false,
            Class::Mark => matches!(previous, Class::Letter | Class::Mark),
            Class::Other => index > 0 && matches!(character, ' ' | '\'' | '-' | '.'),
        };
        if !is_allowed {
            return false;
        }
        previous = class;
    }
    matches!(previous, Class::Letter | Class::Mark)
}

/// Names of persons where an ISO asks for A to Z alone.
pub fn is_name_strict(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

pub fn is_alphanumeric(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Hours and minutes of a day, such as 23:30.
pub fn is_time_of_day(text: &str) -> bool {
    let below = |part: &str, end: u8| {
        part.len() == 2 && is_digits(part) && part.parse::<u8>().is_ok_and(|number| number < end)
    };
    text.split_once(':').is_some_and(|(hour, minute)| below(hour, 24) && below(minute, 60))
}

pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A plus sign and digits, as many as there are. Whether the code is assigned does not matter.
pub fn is_plus_digits(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(is_digits)
}

/// One `@`, a local part of 1 to 64 characters, and a domain of two or more labels of 1 to 63.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let local_len = local.chars().count();
    // An address can have these only in quotes, which nobody means when typing them.
    let is_special = |character| "\"(),:;<>@[\\]".contains(character);
    let is_local = |character: char| is_visible(character) && !is_special(character);
    (1..=EMAIL_LOCAL_LEN_MAX).contains(&local_len)
        && local.chars().all(is_local)
        && domain.contains('.')
        && domain.split('.').all(is_domain_label)
}

fn is_domain_label(label: &str) -> bool {
    let is_allowed = |character| character == '-' || Class::of(character) != Class::Other;
    (1..=LABEL_LEN_MAX).contains(&label.chars().count())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(is_allowed)
}

/// An absolute http or https address of a public host, without credentials.
///
/// Only visible ASCII is accepted, as RFC 3986 has it: a host in another script is to be written in
/// its `xn--` form. A name that resolves to a private address is not noticed here; whoever fetches
/// it has to ask [`types::address_range::is_public`] when connecting.
pub fn is_logo_url(text: &str) -> bool {
    let is_url_byte = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    let after = |scheme: &str| {
        let (start, rest) = text.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    let Some(rest) = after("https://").or_else(|| after("http://")) else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    text.bytes().all(is_url_byte) && is_public_authority(authority)
}

fn is_public_authority(authority: &str) -> bool {
    // An `@` ends credentials, and no host contains one: it fails in all branches below.
    if let Some(bracketed) = authority.strip_prefix('[') {
        let Some((address, port)) = bracketed.split_once(']') else { return false };
        let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        let address: Option<Ipv6Addr> = address.parse().ok();
        return is_port && address.is_some_and(|address| address_range::is_public(address.into()));
    }
    match authority.split_once(':') {
        Some((host, port)) => is_port(port) && is_public_host(host),
        None => is_public_host(authority),
    }
}

fn is_port(text: &str) -> bool {
    is_digits(text) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_public_host(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label =
        |label: &str| (1..=LABEL_LEN_MAX).contains(&label.len()) && label.bytes().all(is_host_byte);
    // A name without a dot is found in the local network only.
    let Some((_, last_label)) = host.rsplit_once('.') else { return false };
    if host.len() > HOST_LEN_MAX || !host.split('.').all(is_label) {
        return false;
    }
    // Browsers read any host with a numeric end as an IPv4 address, 0x7f.1 and 127.1 too. Of these
    // forms only the plain one is accepted.
    if is_digits(last_label) || last_label.starts_with("0x") {
        let address: Option<Ipv4Addr> = host.parse().ok();
        return address.is_some_and(|address| address_range::is_public(address.into()));
    }
    let is_private_label = matches!(
        last_label,
        "localhost"
            | "localdomain"
            | "local"
            | "internal"
            | "intranet"
            | "lan"
            | "home"
            | "corp"
            | "private"
    );
    !is_private_label && host != "home.arpa" && !host.ends_with(".home.arpa")
}

/// A name that the operator gave to an ISO or a key, as it is kept.
pub(crate) fn checked_name(name: &str) -> types::Result<String> {
    let name = clean(name);
    let length = name.chars().count();
    if length == 0 || length > NAME_LEN_MAX || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "a name must have 1 to {NAME_LEN_MAX} characters and no control characters"
        )));
    }
    Ok(name.into_owned())
}

/// What a character is, as far as the checks above care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// An accent or vowel sign that belongs to the letter before it.
    Mark,
    Other,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' | 'A'..='Z' => return Self::Letter,
            '0'..='9' => return Self::Digit,
            '\0'..='\x7f' => return Self::Other,
            _ if INVISIBLE.contains(character) => return Self::Other,
            _ => {}
        }
        match category(character) {
            GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter => Self::Letter,
            GeneralCategory::DecimalNumber => Self::Digit,
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark => Self::Mark,
            _ => Self::Other,
        }
    }
}

pub(crate) fn category(character: char) -> GeneralCategory {
    CATEGORIES.get(character)
}

fn is_visible(character: char) -> bool {
    match character {
        '\0'..='\x7f' => character.is_ascii_graphic(),
        _ => Class::of(character) != Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both lists are texts with a line feed between, since blanks and all signs are being tested.
    fn check(predicate: fn(&str) -> bool, good: &str, bad: &str) {
        for text in good.split('\n') {
            assert!(predicate(text), "refused: {text:?}");
        }
        for text in bad.split('\n') {
            assert!(!predicate(text), "accepted: {text:?}");
        }
    }

    #[test]
    fn cleaning_trims_and_composes() {
        assert_eq!(clean(" \t Kit 7\t\n"), "Kit 7");
        assert_eq!(clean("\u{a0}\u{3000}Cafe\u{301}\u{2003}"), "Caf\u{e9}");
        assert_eq!(clean("\u{200b}x"), "\u{200b}x");
        assert_eq!(clean("  "), "");
        for text in [" plain ", " Caf\u{e9} "] {
            assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn names_are_compared_without_case_width_and_blanks() {
        for (text, key) in [
            ("  Kit   7  CAFE ", "kit 7 cafe"),
            ("\u{ff2b}\u{ff49}\u{ff54} 7", "kit 7"),
            ("Kit\u{a0}7", "kit 7"),
            ("Stra\u{df}e", "strasse"),
            ("STRASSE", "strasse"),
            ("Cafe\u{301}", "caf\u{e9}"),
            ("CAF\u{c9}", "caf\u{e9}"),
            ("\u{fb01}sh", "fish"),
            ("\u{3a3}\u{3a3}", "\u{3c3}\u{3c3}"),
            ("\u{3c3}\u{3c2}", "\u{3c3}\u{3c3}"),
        ] {
            assert_eq!(dba_key(text), key, "{text}");
        }
        assert_ne!(dba_key("Cafe"), dba_key("Caf\u{e9}"));
        assert_ne!(dba_key("Kit 7-Cafe"), dba_key("Kit 7 Cafe"));
        assert_ne!(dba_key("Kit7"), dba_key("Kit 7"));
    }

    #[test]
    fn texts() {
        check(
            is_text,
            "Q\n1234567890\nKit 7 &'-.,#/()@+:;!*_\"$%?=|~^[]\n\u{d1}and\u{fa} 7\nCafe\u{301} 7\n\
             Ph\u{1edf} H\u{e0} N\u{1ed9}i\n\u{674e}\u{660e} 7\n\u{ff2b}\u{ff29}\u{ff34} \u{ff17}\n\
             \u{92e}\u{941}\u{902}\u{92c}\u{908}\n\u{663}\u{639}",
            "\n \n&-.#\nA<B\nA>B\nA{B\nA}B\nA\\B\nA`B\nA\tB\nA\rB\nA\0B\nA\x7fB\nA\u{85}B\n\
             A \u{1f600}\nA \u{1f468}\u{200d}\u{1f469}\nA\u{200b}B\nA \u{202e}B\nA \u{fffd}\n\
             A\u{a0}B\nA\u{3000}B\nA\u{b2}\nA \u{20ac}\nA \u{2122}\nA\u{ad}B\n\u{feff}A\nA\u{fe0f}\n\
             A \u{301}\n7\u{301}\n\u{301}A\n\u{3164}\nA\u{115f}\nA\u{e000}\nA\u{2028}B\n\
             A \u{2019} B\nA\u{34f}B",
        );
        assert!(!is_text("A\nB"));
    }

    #[test]
    fn person_names() {
        check(
            is_name,
            "F\nAl\nDe La Cruz\nO'Brien\nMary-Ann\nSt.James\nRen\u{e9}e\nFran\u{e7}ois\n\
             \u{141}ukasz\nNguy\u{1ec5}n\n\u{de}orl\u{e1}kur\n\u{674e}\u{660e}\nZoe\u{308}\n\
             \u{414}\u{43c}\u{438}\u{442}\u{440}\u{438}\u{439}\nJ. R. Smith",
            "\nAnna_B\nAnn<B>\nAnn\x07B\nMar1a\nAnn@B\n-'-\nAnn\u{1f600}\nAnn\u{b2}\nAn\u{200b}na\n\
             Henry Jr.\n-Ann\n'Ann\n Ann\nAnn \nO\u{2019}Brien\nAnn\u{a0}B\nAnn\u{663}\n\u{301}Ann\n\
             \u{3164}\nAnn,B",
        );
        check(is_name_strict, "Ann", "\nO'Brien\nDe La\nRen\u{e9}e\nAnn2");
    }

    #[test]
    fn numbers_and_codes() {
        check(is_alphanumeric, "aB7\n7", "\nA-7\nA 7\nCaf\u{e9}\n\u{ff17}");
        check(is_digits, "0\n0123456789", "\n1 2\n12A\n-1\n\u{663}\n\u{ff17}");
        check(is_plus_digits, "+1\n+44\n+999", "\n+\n1\n+1A\n++1\n-44\n0044\n+1 \n+\u{ff11}");
        check(is_plus_digits, "+1\n+1234", "\n+\n++1\n1234");
    }

    #[test]
    fn emails() {
        check(
            is_email,
            "a@b.c\na@b.co\nown+er.7@example.com\nOwner@Example.COM\no'b@example.com\n\
             x@mail.shop.example.co.uk\njos\u{e9}@caf\u{e9}.example",
            "\nowner.example.com\nown@er@example.com\n@example.com\nowner@\nowner@example\n\
             owner@.example.com\nowner@example.com.\nowner@exa..mple.com\nown er@example.com\n\
             own\x01er@example.com\nowner@exa mple.com\nown\u{a0}er@example.com\n\
             own\u{200b}er@example.com\nowner@-a.com\nowner@a-.com\nowner@a_b.com\n\
             <o@example.com>\no,p@example.com\n\"o\"@example.com",
        );
        let (m64, d63) = ("m".repeat(64), "d".repeat(63));
        assert!(is_email(&format!("{m64}@{d63}.{d63}.{d63}.com")));
        assert!(!is_email(&format!("m{m64}@example.com")));
        assert!(!is_email(&format!("owner@d{d63}.com")));
    }

    #[test]
    fn logo_addresses() {
        check(
            is_logo_url,
            "http://www.example.com/a.png\nHTTPS://Example.COM\nhttps://example.com:8443/a\n\
             https://example.com?a=b@c\nhttps://example.com/a@b:c\nhttps://example.com.\n\
             https://xn--caf-dma.example/\nhttp://8.8.8.8/a\nhttps://[2606:4700::1111]:443/\n\
             https://my_bucket.s3.example.com/a%20b.png\nhttps://local.example.com\n\
             https://10.example.com",
            "\nexample.com/a.png\n//example.com/a\n/a.png\nftp://example.com/a.png\n\
             javascript:alert(1)\ndata:image/png;base64,AA\nhttps:example.com\nhttps:///a.png\n\
             https://\nhttps://:443/a\nhttps://example.com:/a\nhttps://example.com:0\n\
             https://example.com:65536\nhttps://example.com:1:2\nhttps://example.com:+80\n\
             https://a b.com\nhttps://example.com/a b\nhttps://example.com\\a\nhttps://exa\tmple.com\n\
             https://ex%61mple.com\nhttps://.example.com\nhttps://example..com\n\
             https://example.com..\nhttps://caf\u{e9}.com\nhttps://user:pw@example.com/a\n\
             https://user@example.com\nhttps://@example.com\nhttps://8.8.8.8@example.com\n\
             https://[::1]@example.com",
        );
        assert!(is_logo_url(&format!("https://example.com/{}", "p".repeat(2_048))));
    }

    #[test]
    fn private_hosts_are_no_logo_addresses() {
        let hosts = "localhost LOCALHOST localhost. a.localhost printer.local printer.local. \
            intranet db.internal nas.lan router.home.arpa home.arpa 0 0.0.0.0 10.1.2.3 127.0.0.1 \
            127.0.0.1. 127.9.9.9 100.64.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.9 \
            198.18.0.1 224.0.0.1 255.255.255.255 2130706433 0x7f000001 0x7f.1 127.1 127.0.1 \
            0177.0.0.1 017700000001 010.0.0.1 8.8.8 1.2.3.4.5 256.1.1.1 8.8.8.0x8 a.0x7f \
            \u{ff11}27.0.0.1 127\u{3002}0.0.1 [::] [::1] [0:0:0:0:0:0:0:1] [fe80::1] \
            [fe80::1%25eth0] [fc00::1] [fd12::1] [fec0::1] [ff02::1] [::ffff:127.0.0.1] \
            [::ffff:7f00:1] [::ffff:8.8.8.8] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] \
            [2001::1] [2001:db8::1] [127.0.0.1] [::1 ::1 [::1]x []";
        for host in hosts.split(' ') {
            assert!(!is_logo_url(&format!("http://{host}/a.png")), "{host}");
            assert!(!is_logo_url(&format!("http://{host}:80/a.png")), "{host}:80");
        }
    }

    proptest! {
        #[test]
        fn a_clean_text_stays_as_it_is(text: String) {
            let cleaned = clean(&text);
            prop_assert_eq!(clean(&cleaned), cleaned.as_ref());
        }

        #[test]
        fn a_key_is_its_own_key_and_has_no_case(text: String) {
            let key = dba_key(&text);
            prop_assert_eq!(dba_key(&key), key.as_str());
            prop_assert_eq!(dba_key(&clean(&text)), key.as_str());
            prop_assert_eq!(dba_key(&format!("  {text}\t")), key.as_str());
        }

        #[test]
        fn the_fast_way_to_a_key_agrees_with_the_slow_one(text in "[ -~\t]{0,40}") {
            let slow = dba_key(&format!("{text} \u{e9}"));
            let fast = dba_key(&format!("{text} e"));
            prop_assert_eq!(fast.strip_suffix('e'), slow.strip_suffix('\u{e9}'));
        }

        #[test]
        fn private_ipv4_is_refused_in_every_spelling(
            network in prop::sample::select(vec![0x0a00_0000_u32, 0x7f00_0000]), host in 0_u32..1 << 24,
        ) {
            let address = network | host;
            let [a, b, c, d] = address.to_be_bytes();
            for text in [
                format!("{a}.{b}.{c}.{d}"), format!("{address}"), format!("{address:#x}"),
                format!("0{address:o}"), format!("{a}.{host}"), format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
                format!("[::ffff:{a}.{b}.{c}.{d}]"),
            ] {
                prop_assert!(!is_logo_url(&format!("https://{text}/")), "{}", text);
            }
        }

        #[test]
        fn no_text_makes_a_check_panic(text: String) {
            for predicate in [is_text, is_name, is_email, is_plus_digits, is_logo_url] {
                let _ = predicate(&text);
                let _ = predicate(&format!("http://{text}"));
            }
        }
    }
}
