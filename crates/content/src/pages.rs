//! The HTML pages of the site: logging in, connecting an application, posts, the documentation.
//! Each is a pure function from values to text; no page needs a script or a file from elsewhere.
//!
//! **Values are escaped by construction**: the templates escape whatever they show, an address that
//! could run a script cannot become an [`Address`](frame::pages::Address), and only
//! [`TrustedHtml`](frame::pages::TrustedHtml) and our own guides go in as they are. Send each page
//! with the header of its [`Policy`].

mod content;
mod forms;
mod grants;
mod guides;
pub(crate) mod masthead;
mod policy;
#[cfg(test)]
mod tests;

pub use self::content::{
    ArchivePage, AuthorPage, CommentView, Commenter, EmbedPage, FrontPage, NotFoundPage, PostPage,
    PostSummary, UnlockPage,
};
pub use self::content::{
    SearchPage, archive, author, embed, front, not_found, post, search, unlock,
};
pub use self::forms::{AuthorizePage, AuthorizedPage, ErrorPage, LinkPage, LoginPage, NoticePage};
pub use self::forms::{CodePage, ForgotPage, NewPasswordPage, code, forgot, new_password};
pub use self::forms::{authorize, authorized, error, link, login, notice};
pub use self::grants::{GRANT_TOKEN_FIELD, LOGIN_TOKEN_FIELD};
pub use self::grants::{GrantErrorPage, GrantLoginPage, GrantPage};
pub use self::grants::{grant, grant_error, grant_login};
pub use self::guides::{DocsIndexPage, DocsPage, DocsSearchPage};
pub use self::guides::{docs_index, docs_page, docs_search};
pub use self::masthead::{Dress, Masthead, rendered};
pub use self::policy::Policy;

/// The type of every page.
pub const CONTENT_TYPE: &str = "text/html; charset=UTF-8";

/// The form's field with the token that proves that the form is ours.
pub const CSRF_FIELD: &str = "_wpnonce";
/// The form's field with the proof that the password was shown before a code is.
pub const STEP_FIELD: &str = "second_factor";
/// The query parameter of [`docs_search`], at the address of [`docs_index`].
pub const SEARCH_FIELD: &str = "q";
pub const APP_NAME_CHARS_MAX: usize = 200;
