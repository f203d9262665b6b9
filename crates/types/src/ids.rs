//! Ids are text that means one kind of thing; the compiler keeps them apart.

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    )*};
}

text_ids! {
    /// An independent sales organisation, the tenant of the onboarding side.
    IsoId;
    /// The public part of an API key.
    KeyId;
    /// A merchant: 12 characters.
    MerchantId;
    /// A store of a merchant: 12 characters.
    StoreId;
    /// A terminal profile: 12 digits, the last one a Luhn check digit.
    Tpn;
    /// A template of terminal parameters.
    TemplateId;
}
