//! The HTML pages of the site: logging in, connecting an application, posts, the documentation.
//! Each is a pure function from values to text; no page needs a script or a file from elsewhere.
//!
//! **Values are escaped by construction**: the templates escape whatever they show, an address that
//! could run a script cannot become an [`Address`], and only [`TrustedHtml`] and our own guides go
//! in as they are. Send each page with the header of its [`Policy`].

mod content;
mod forms;
mod guides;
mod policy;
#[cfg(test)]
mod tests;
mod theme;
mod values;

use askama::Template;

pub use self::content::{AuthorPage, EmbedPage, FrontPage, PostPage, PostSummary};
pub use self::content::{author, embed, front, post};
pub use self::forms::{AuthorizePage, AuthorizedPage, ErrorPage, LinkPage, LoginPage};
pub use self::forms::{authorize, authorized, error, link, login};
pub use self::guides::{DocsIndexPage, DocsPage, DocsSearchPage};
pub use self::guides::{docs_index, docs_page, docs_search};
pub use self::policy::Policy;
pub(crate) use self::theme::LetterLook;
pub use self::theme::{THEME_OPTION, Theme};
pub use self::values::{Address, Date, Link, TrustedHtml};

/// The type of every page.
pub const CONTENT_TYPE: &str = "text/html; charset=UTF-8";

/// The form's field with the token that proves that the form is ours.
pub const CSRF_FIELD: &str = "_wpnonce";
/// The query parameter of [`docs_search`], at the address of [`docs_index`].
pub const SEARCH_FIELD: &str = "q";
pub const APP_NAME_CHARS_MAX: usize = 200;

const STYLE: &str = include_str!("../templates/style.css");
/// The mark of the header, as an address of its own: a browser would ask for a file otherwise.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 24 24' fill='%230b6f82'%3E%3Cpath d='M9 3h6l1.32 3.4H7.68z\
    M7.09 7.9h9.82l1.32 3.4H5.77zM5.19 12.8h13.62l1.32 3.4H3.87zM3.28 17.7h17.44L22 21H2z'\
    /%3E%3C/svg%3E";

/// What every page shows of the site.
#[derive(Clone, Copy, Debug)]
pub struct Masthead<'a> {
    pub name: &'a str,
    pub home: Address<'a>,
    /// The root of the REST interface.
    pub rest_root: Address<'a>,
    /// How the pages look, unless as usual.
    pub theme: Option<&'a Theme>,
}

impl Masthead<'_> {
    /// The theme's own mark.
    fn logo(&self) -> Option<&str> {
        self.theme.and_then(|theme| theme.logo.as_deref())
    }
}

fn rendered(page: &impl Template) -> String {
    page.render().expect("the values' own texts are written to memory, which cannot fail")
}
