//! What all pages share: the style sheet, the mark, and the head.

use askama::Template;
use frame::pages::{Address, Theme};

use crate::docs;

pub use crate::appearance::dress::Dress;

pub(crate) use frame::pages::STYLE;

/// The mark of the header as a picture, for `/favicon.ico`, which browsers ask for by themselves.
pub(crate) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" \
    fill=\"#0b6f82\"><path d=\"M9 3h6l1.32 3.4H7.68zM7.09 7.9h9.82l1.32 3.4H5.77z\
    M5.19 12.8h13.62l1.32 3.4H3.87zM3.28 17.7h17.44L22 21H2z\"/></svg>\n";

/// What every page shows of the site.
#[derive(Clone, Copy, Debug)]
pub struct Masthead<'a> {
    pub name: &'a str,
    pub home: Address<'a>,
    /// The root of the REST interface.
    pub rest_root: Address<'a>,
    /// How the pages look, unless as usual.
    pub theme: Option<&'a Theme>,
    /// Shown above everything; empty for nothing.
    pub notice: &'a str,
    /// What people made of header, menu and footer.
    pub dress: &'a Dress,
}

impl Masthead<'_> {
    /// The theme's own mark.
    pub fn logo(&self) -> Option<&str> {
        self.theme.and_then(|theme| theme.logo.as_deref())
    }

    pub fn style(&self) -> &'static str {
        STYLE
    }

    /// Where the documentation is.
    pub fn docs(&self) -> &'static str {
        docs::ROOT_PATH
    }
}

/// The text of a page.
pub fn rendered(page: &impl Template) -> String {
    page.render().expect("the values' own texts are written to memory, which cannot fail")
}
