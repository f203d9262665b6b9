//! What a caller tells of a merchant or a store. **Each field is one line of a list here**: its
//! published name, the name it is kept by, its kind, and whether it is a column of the row or part
//! of the sealed contact. What a new object is made from, what a patch may change or clear, and
//! what is shown follow from the list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Result, Secret, reference};
use vault::{Aad, DataKey, Vault};

use crate::fields::{
    AddressLine, Dba, Ebt, Email, FirstName, IsdCode, IsoAgentReference, IsoMerchant, LastName,
    LogoUrl, MccCode, PhoneNumber, TextField, ZipCode, listed_fields,
};
use crate::patch::Edit;
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::text;

/// The person to talk to, and where. Sealed as one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Contact {
    /// First name.
    pub(crate) first_name: String,
    /// Last name.
    pub(crate) last_name: Option<String>,
    /// E-mail address.
    pub(crate) email: String,
    /// First line of the street address.
    pub(crate) address_line1: String,
    /// Second line of the street address.
    pub(crate) address_line2: Option<String>,
    /// Phone number without the country's calling code.
    pub(crate) phone_number: String,
    /// Country calling code.
    #[serde(rename = "ISDcode")]
    pub(crate) isd_code: String,
}

impl Contact {
    /// Seals it for the object of this kind and id.
    pub(crate) fn seal(&self, data_key: &DataKey, kind: &str, id: &str) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self).map_err(|error| {
            Error::internal("personal data cannot be written as JSON").because(error)
        })?;
        data_key.seal(&Aad { kind, id, column: "sealed" }, Secret::new(plain).expose())
    }

    pub(crate) fn open(data_key: &DataKey, kind: &str, id: &str, sealed: &[u8]) -> Result<Self> {
        let plain = data_key.open(&Aad { kind, id, column: "sealed" }, sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("stored personal data cannot be read").because(error))
    }

    pub(crate) fn of_merchant(data_key: &DataKey, row: &MerchantRow) -> Result<Self> {
        Self::open(data_key, "merchant", row.merchant_id.as_str(), &row.sealed)
    }
}

/// Published name of a field, and whether it may be absent.
type Field = (&'static str, bool);

/// A field that must be given, or one that may be absent.
trait Detail {
    type Kind: TextField;
    type Kept;
    const IS_OPTIONAL: bool;

    fn keep(self) -> Self::Kept;

    fn edit(edit: &mut Edit, name: &'static str, kept: &mut Self::Kept, new: Option<&Self::Kind>);
}

impl<K: TextField> Detail for K {
    type Kind = K;
    type Kept = String;
    const IS_OPTIONAL: bool = false;

    fn keep(self) -> String {
        self.as_ref().to_owned()
    }

    fn edit(edit: &mut Edit, name: &'static str, kept: &mut String, new: Option<&K>) {
        edit.value(name, kept, new.map(|new| new.as_ref().to_owned()));
    }
}

impl<K: TextField> Detail for Option<K> {
    type Kind = K;
    type Kept = Option<String>;
    const IS_OPTIONAL: bool = true;

    fn keep(self) -> Option<String> {
        self.map(Detail::keep)
    }

    fn edit(edit: &mut Edit, name: &'static str, kept: &mut Option<String>, new: Option<&K>) {
        edit.optional(name, kept, new.map(|new| new.as_ref().to_owned()));
    }
}

/// What the columns that nobody gives are made with: blind indexes and the sealed contact.
pub(crate) struct Sealer<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) data_key: &'a DataKey,
}

macro_rules! details {
    (
        $(#[doc = $doc:literal])*
        $details:ident, $changes:ident, $shown:ident of
        $object:literal ($row:ident: $row_type:ident, $contact:ident) {
            $($(#[doc = $field_doc:literal])*
            $name:literal => $field:ident: $type:ty, $place:ident;)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        pub struct $details {
            $($(#[doc = $field_doc])* #[serde(rename = $name)] $field: $type,)*
        }

        impl $details {
            const FIELDS: &[Field] = &[$(($name, <$type as Detail>::IS_OPTIONAL),)*];

            /// The row and the contact, with nothing in them but what was given.
            pub(crate) fn keep(self) -> ($row_type, Contact) {
                let (mut $row, mut $contact) = ($row_type::default(), Contact::default());
                $($place.$field = self.$field.keep();)*
                $row.dba_key = text::dba_key(&$row.dba);
                ($row, $contact)
            }
        }

        /// What a patch sends of it.
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        pub(crate) struct $changes {
            $($(#[doc = $field_doc])* #[serde(rename = $name)]
            $field: Option<<$type as Detail>::Kind>,)*
        }

        impl $changes {
            pub(crate) fn edit(
                &self,
                edit: &mut Edit,
                $row: &mut $row_type,
                $contact: &mut Contact,
            ) {
                let dba = $row.dba.clone();
                $(<$type as Detail>::edit(
                    edit, $name, &mut $place.$field, self.$field.as_ref(),
                );)*
                if $row.dba != dba {
                    $row.dba_key = text::dba_key(&$row.dba);
                }
            }
        }

        impl $row_type {
            /// Sets the columns that follow from what was given.
            pub(crate) fn complete(
                &mut self,
                contact: &Contact,
                sealer: &Sealer<'_>,
            ) -> Result<()> {
                let index = |kind: &str, value: &str| {
                    sealer.vault.blind_index(&self.iso_id, kind, value).to_vec()
                };
                let email_index = index("email", &text::email_key(&contact.email));
                self.phone_index = index("phone", &contact.phone_number);
                self.email_index = email_index;
                let id = crate::change::Record::id(self);
                self.sealed = contact.seal(sealer.data_key, $object, id)?;
                let city = city_of(&self.zip);
                city.city.clone_into(&mut self.city);
                city.state.clone_into(&mut self.state);
                Ok(())
            }
        }

        shown!($shown of $row_type, $row, [] $($name => $field: $type, $place;)*);
    };
}

/// The fields that are columns, as they are shown.
macro_rules! shown {
    (
        $shown:ident of $row_type:ident, $row:ident, [$($found:tt)*]
        $name:literal => $field:ident: $type:ty, row; $($rest:tt)*
    ) => {
        shown!($shown of $row_type, $row, [$($found)* $name => $field: $type;] $($rest)*);
    };
    (
        $shown:ident of $row_type:ident, $row:ident, [$($found:tt)*]
        $name:literal => $field:ident: $type:ty, contact; $($rest:tt)*
    ) => {
        shown!($shown of $row_type, $row, [$($found)*] $($rest)*);
    };
    (
        $shown:ident of $row_type:ident, $row:ident,
        [$($name:literal => $field:ident: $type:ty;)*]
    ) => {
        /// What is shown of it beside the contact.
        #[derive(Debug, Serialize, JsonSchema)]
        pub(crate) struct $shown {
            $(
                #[serde(rename = $name)]
                #[schemars(extend("description" = <$type as Detail>::Kind::DESCRIPTION))]
                $field: <$type as Detail>::Kept,
            )*
        }

        impl From<&$row_type> for $shown {
            fn from($row: &$row_type) -> Self {
                Self { $($field: $row.$field.clone(),)* }
            }
        }
    };
}

details! {
    /// Details of a new merchant. City and state follow from the ZIP code.
    MerchantDetails, MerchantChanges, MerchantShown of "merchant" (row: MerchantRow, contact) {
        "dba" => dba: Dba, row;
        "firstName" => first_name: FirstName, contact;
        "lastName" => last_name: Option<LastName>, contact;
        "email" => email: Email, contact;
        "addressLine1" => address_line1: AddressLine, contact;
        "addressLine2" => address_line2: Option<AddressLine>, contact;
        "zipCode" => zip: ZipCode, row;
        "phoneNumber" => phone_number: PhoneNumber, contact;
        /// Applies to all stores of the merchant that have no number of their own.
        "ebt" => ebt: Option<Ebt>, row;
        "isoAgentReference" => iso_agent_reference: Option<IsoAgentReference>, row;
        "isoMerchant" => iso_merchant: Option<IsoMerchant>, row;
        "merchantLogoUrl" => logo_url: Option<LogoUrl>, row;
        "ISDcode" => isd_code: IsdCode, contact;
    }
}

details! {
    /// Details of a new store.
    StoreDetails, StoreChanges, StoreShown of "store" (row: StoreRow, contact) {
        "mccCode" => mcc: MccCode, row;
        "firstName" => first_name: FirstName, contact;
        "lastName" => last_name: Option<LastName>, contact;
        "dba" => dba: Dba, row;
        "addressLine1" => address_line1: AddressLine, contact;
        "addressLine2" => address_line2: Option<AddressLine>, contact;
        "zipCode" => zip: ZipCode, row;
        "email" => email: Email, contact;
        "phoneNumber" => phone_number: PhoneNumber, contact;
        "ISDcode" => isd_code: IsdCode, contact;
        /// Applies to this store and outranks the merchant's.
        "ebt" => ebt: Option<Ebt>, row;
    }
}

listed_fields! {
    /// An optional field of a merchant.
    MerchantOptional, optional_fields(MerchantDetails::FIELDS);
    /// An optional field of a store.
    StoreOptional, optional_fields(StoreDetails::FIELDS);
}

fn optional_fields(fields: &[Field]) -> Vec<&'static str> {
    let optional = fields.iter().filter(|(_, is_optional)| *is_optional).map(|(name, _)| *name);
    optional.chain(["externalReference", "metadata"]).collect()
}

/// The fields of a merchant that a review may ask for, as `PATCH` knows them.
pub(crate) fn merchant_fields() -> impl Iterator<Item = &'static str> {
    MerchantDetails::FIELDS.iter().map(|(name, _)| *name).chain(["externalReference"])
}

/// The city of a ZIP code.
fn city_of(zip: &str) -> reference::Place {
    reference::zip_place(zip).expect("the us-zip format lets only known codes pass")
}
