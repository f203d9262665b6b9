//! What can be wrong with a store, or with its copy: a code for programs and a sentence for people.

use std::time::Duration;

use frame::outbound::Method;

macro_rules! codes {
    ($($(#[$about:meta])* $variant:ident = $name:literal, $message:literal;)*) => {
        /// What is wrong with a store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$about])* $variant,)*
        }

        impl Code {
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means, and what to do.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

codes! {
    Unreachable = "unreachable",
        "The store cannot be reached. Check that it is online.";
    Tls = "tls",
        "The store's TLS certificate is not valid. Renew it.";
    TimedOut = "timed_out",
        "The store did not answer in time. It is asked again with smaller pages.";
    NotJson = "not_json",
        "The store answered with a page instead of data. Check its maintenance mode and firewall.";
    TooLarge = "too_large",
        "An answer of the store is too large. It is asked again with smaller pages.";
    CutOff = "cut_off",
        "The store's answer is not complete. It is asked again.";
    RateLimited = "rate_limited",
        "The store limits how often it is asked. It is asked again later.";
    ServerError = "server_error",
        "The store failed to answer. Check its error log.";
    KeyRejected = "key_rejected",
        "The store rejects the key. Create a new key there and change the connection.";
    NotAllowed = "not_allowed",
        "The key may not read everything. Create one with read and write permission.";
    NoInterface = "no_interface",
        "There is no WooCommerce REST API at this URL. Check the URL and the permalinks.";
    Redirected = "redirected",
        "The store redirects to another URL. Change the URL of the connection.";
    Refused = "refused",
        "The store rejected the request.";
    NotFound = "not_found",
        "The store does not have the record.";
    EndlessList = "endless_list",
        "A list of the store does not end. Check which plugins change its REST API.";
    TooManyRecords = "too_many_records",
        "The store has more records than a copy may have. Have the limit raised.";
    Storage = "storage",
        "The copy could not be written. It is tried again.";
}

impl Code {
    /// Whether asking for less may help.
    pub fn is_of_page(self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::CutOff | Self::ServerError | Self::NotJson | Self::TooLarge
        )
    }

    /// Whether the same request may be answered the next time. One that changes something may have
    /// been carried out, unless the store refused to look at it.
    pub(crate) fn passes(self, method: Method) -> bool {
        let is_of_moment = self.is_of_page() && self != Self::TooLarge;
        let may_repeat = method != Method::Post;
        self == Self::RateLimited || (may_repeat && (is_of_moment || self == Self::Unreachable))
    }

    /// Whether only the owner of the store can do something about it.
    pub fn needs_owner(self) -> bool {
        matches!(
            self,
            Self::KeyRejected
                | Self::NotAllowed
                | Self::NoInterface
                | Self::Redirected
                | Self::Tls
                | Self::EndlessList
                | Self::TooManyRecords
        )
    }
}

/// Why a store, or its copy, did not do what was asked.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub code: Code,
    /// For people.
    pub message: String,
    /// How long the store wants to be left alone.
    pub wait: Option<Duration>,
    pub status: u16,
}

impl Trouble {
    pub fn new(code: Code) -> Self {
        Self { code, message: code.message().to_owned(), wait: None, status: 0 }
    }
}

impl From<types::Error> for Trouble {
    fn from(error: types::Error) -> Self {
        tracing::warn!(error = %error.report(), "the copy of a store could not be used");
        Self::new(Code::Storage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_done_is_not_done_again() {
        for code in [Code::TimedOut, Code::CutOff, Code::ServerError, Code::Unreachable] {
            assert!(code.passes(Method::Get) && code.passes(Method::Put), "{code:?}");
            assert!(!code.passes(Method::Post), "{code:?}");
        }
        assert!(Code::RateLimited.passes(Method::Post));
        assert!(!Code::TooLarge.passes(Method::Get));
    }
}
