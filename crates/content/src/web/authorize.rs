//! Connecting an application: it sends a user here, the user approves or rejects, and goes back to
//! it with a password or without.
//!
//! **Nothing of the request is believed twice**: the form brings back what the page was asked for,
//! and every check is made again.

use contract::rest::{clean, formats};
use frame::auth::application_password::{create_password, in_groups};
use frame::pages::{Address, Link};
use types::{Result, Secret};

use super::answer::WebAnswer;
use super::callback::{Callback, encoded};
use super::form::Fields;
use super::page_path::Spelling;
use super::page_request::{PageRequest, Session};
use crate::pages::{self, APP_NAME_CHARS_MAX, AuthorizePage, AuthorizedPage, Policy};
use crate::users::application_passwords::PASSWORDS_MAX;

const ACTION: &str = "authorize-application";
const KIND: &str = "page:authorize";

/// What an application asks for.
#[derive(Debug)]
struct AuthorizeRequest {
    app_name: String,
    /// May be empty.
    app_id: String,
    success_url: Option<Callback>,
    reject_url: Option<Callback>,
}

impl PageRequest<'_> {
    pub(super) async fn authorize(&self, spelling: Spelling) -> Result<WebAnswer> {
        let is_post = self.request.method == "POST";
        let fields = if is_post { self.form() } else { self.query() };
        let path = path_of(spelling, &fields);
        let Some(session) = self.session().await? else {
            return Ok(WebAnswer::redirect(KIND, &self.sign_in_address(spelling, &path)));
        };
        let mut answer = match self.asked(&fields) {
            Err(answer) => answer,
            Ok(asked) if !self.visit.application_passwords => self.unavailable(&asked),
            Ok(asked) if is_post => self.decide(spelling, &session, &asked, &fields).await?,
            Ok(asked) => self.question(spelling, &session, &asked, None),
        };
        answer.user_id = Some(session.user.id());
        Ok(answer)
    }

    /// Reads and checks the request, or says on a page what is wrong with it.
    fn asked(&self, fields: &Fields) -> Result<AuthorizeRequest, WebAnswer> {
        let refuse = |title: &str, message: &str| {
            let home = Link { text: "Go to the home page", href: Address::new("/") };
            self.error((KIND, 400), (title, message), Some(home))
        };
        let app_id = fields.text("app_id");
        if !app_id.is_empty() && !formats::is_uuid(app_id) {
            let message = "The application ID must be a lower-case UUID.";
            return Err(refuse("Invalid application ID", message));
        }
        let address = |name: &str, title: &str| {
            Callback::read(fields.text(name), self.site.environment())
                .map_err(|error| refuse(title, error.message()))
        };
        Ok(AuthorizeRequest {
            app_name: clean::text_field(fields.text("app_name")),
            app_id: app_id.to_owned(),
            success_url: address("success_url", "Invalid success URL")?,
            reject_url: address("reject_url", "Invalid reject URL")?,
        })
    }

    fn unavailable(&self, asked: &AuthorizeRequest) -> WebAnswer {
        let back = asked.rejection().map(|callback| callback.with(&[("error", "disabled")]));
        let href = back.as_deref().map_or(Address::new("/"), Address::of_app);
        let message = "Applications can be connected only over HTTPS. Open this site with \
                       https://.";
        let title = "Cannot connect applications";
        self.error((KIND, 501), (title, message), Some(Link { text: "Go back", href }))
    }

    fn question(
        &self,
        spelling: Spelling,
        session: &Session,
        asked: &AuthorizeRequest,
        error: Option<&str>,
    ) -> WebAnswer {
        let path = asked.path(spelling);
        let logout = self.sign_out_path(spelling, session, Some(&path));
        let csrf = self.token(ACTION, session.holder());
        let user = &session.user.row;
        let app_name: String = asked.app_name.chars().take(APP_NAME_CHARS_MAX).collect();
        let success_url = asked.success_url.as_ref().map(Callback::as_str);
        let reject_url = asked.reject_url.as_ref().map(Callback::as_str);
        let page = AuthorizePage {
            site: self.masthead(),
            action: Address::new(spelling.authorize()),
            csrf: &csrf,
            user_name: if user.display_name.is_empty() { &user.login } else { &user.display_name },
            app_name: &app_name,
            app_id: &asked.app_id,
            success_url,
            reject_url,
            logout: Some(Address::new(&logout)),
            error,
        };
        let policy = Policy::Authorize { success_url, reject_url };
        let status = if error.is_some() { 400 } else { 200 };
        self.private_page((KIND, status), policy, pages::authorize(&page))
    }

    async fn decide(
        &self,
        spelling: Spelling,
        session: &Session,
        asked: &AuthorizeRequest,
        fields: &Fields,
    ) -> Result<WebAnswer> {
        if !self.is_genuine(ACTION, session.holder(), fields) {
            let path = asked.path(spelling);
            let link = Link { text: "Review again", href: Address::new(&path) };
            let message = "The page has expired, or the request came from another site. Nothing \
                           was changed.";
            return Ok(self.error((KIND, 403), ("Not connected", message), Some(link)));
        }
        // Who presses both is asked for neither.
        if fields.has("reject") {
            let home = self.visit.page("/");
            return Ok(match (&asked.reject_url, &asked.success_url) {
                (Some(callback), _) => WebAnswer::redirect(KIND, callback.as_str()),
                (None, Some(callback)) => {
                    WebAnswer::redirect(KIND, &callback.with(&[("success", "false")]))
                }
                (None, None) => WebAnswer::redirect(KIND, &home),
            });
        }
        if !fields.has("approve") {
            return Ok(self.question(spelling, session, asked, None));
        }
        if asked.app_name.is_empty() {
            let error = "Give the connection a name";
            return Ok(self.question(spelling, session, asked, Some(error)));
        }
        if asked.app_name.chars().count() > APP_NAME_CHARS_MAX {
            let error = format!("Use a name of at most {APP_NAME_CHARS_MAX} characters");
            return Ok(self.question(spelling, session, asked, Some(&error)));
        }
        let Some(password) = self.new_password(session, asked).await? else {
            let error = "Your account has too many applications; revoke some first";
            return Ok(self.question(spelling, session, asked, Some(error)));
        };
        Ok(self.approved(session, asked, &password))
    }

    /// Nothing if the user has as many as anybody may have.
    async fn new_password(
        &self,
        session: &Session,
        asked: &AuthorizeRequest,
    ) -> Result<Option<Secret<String>>> {
        let (site, now, user_id) = (self.site.clone(), self.visit.now, session.user.id());
        let (name, app_id) = (asked.app_name.clone(), asked.app_id.clone());
        let made = self.site.store().write(move |conn| {
            if site_rows::application_password::list(conn, user_id)?.len() >= PASSWORDS_MAX {
                return Ok(None);
            }
            let vault = site.vault();
            let (_, password) = create_password(conn, vault, user_id, (&name, &app_id), now)?;
            Ok(Some(password))
        });
        let password = made.await?;
        self.site.note_write();
        Ok(password.map(|password| Secret::new(in_groups(password.expose()))))
    }

    /// Hands the password over, or shows it once.
    fn approved(
        &self,
        session: &Session,
        asked: &AuthorizeRequest,
        password: &Secret<String>,
    ) -> WebAnswer {
        let user_login = session.user.row.login.as_str();
        if let Some(callback) = &asked.success_url {
            let location = callback.with(&[
                ("site_url", &self.visit.home),
                ("user_login", user_login),
                ("password", password.expose()),
            ]);
            return WebAnswer::redirect(KIND, &location);
        }
        let page = AuthorizedPage {
            site: self.masthead(),
            app_name: &asked.app_name,
            user_login,
            password,
            done: Some(Address::new("/")),
        };
        self.private_page((KIND, 200), Policy::Page, pages::authorized(&page))
    }
}

impl AuthorizeRequest {
    /// Where a refusal is told.
    fn rejection(&self) -> Option<&Callback> {
        self.reject_url.as_ref().or(self.success_url.as_ref())
    }

    /// The path of the question, as it was asked.
    fn path(&self, spelling: Spelling) -> String {
        let address = |callback: &Option<Callback>| {
            callback.as_ref().map(|callback| callback.as_str().to_owned()).unwrap_or_default()
        };
        let pairs = [
            ("app_name", self.app_name.clone()),
            ("app_id", self.app_id.clone()),
            ("success_url", address(&self.success_url)),
            ("reject_url", address(&self.reject_url)),
        ];
        path_with(spelling, &pairs)
    }
}

/// The path of the question before anything about it was checked.
fn path_of(spelling: Spelling, fields: &Fields) -> String {
    let pairs = ["app_name", "app_id", "success_url", "reject_url"]
        .map(|name| (name, fields.text(name).to_owned()));
    path_with(spelling, &pairs)
}

fn path_with(spelling: Spelling, pairs: &[(&str, String)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let query: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if query.is_empty() {
        return spelling.authorize().to_owned();
    }
    format!("{}?{}", spelling.authorize(), query.join("&"))
}
