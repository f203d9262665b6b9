//! Handing a consumer key to an application: it sends a user here, who signs in and approves; the
//! key goes to the application's own address, from this server, and the user goes back to it.
//!
//! **Whatever is wrong is told on a page, with the same status**, and nothing is believed twice:
//! each step reads and checks what the application asks for anew. The approval is bound to the
//! session and to all of it, so that what was read is what is granted. **A key is its user's**, who
//! must be able to manage the shop; it never may more than they.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::{clean, form};
use frame::auth::application_password::NAME_LENGTH_MAX;
use frame::auth::consumer_key::{NewKey, Permissions};
use frame::auth::login::SignIn;
use frame::outbound::{Fetch, Method, Overlong};
use frame::pages::Address;
use serde_json::json;
use types::{Capability, Result, Secret};

use super::answer::WebAnswer;
use super::callback::{Callback, encoded};
use super::form::{Fields, Visitor};
use super::local_path::local_path;
use super::page_path::{KEY_GRANT_ROOT, Spelling};
use super::page_request::{PageRequest, Session};
use super::sign_in::{Keep, STALE, WRONG, told_to_wait, typed_login};
use crate::pages::{self, GRANT_TOKEN_FIELD, GrantErrorPage, GrantLoginPage, GrantPage, Policy};
use crate::users::consumer_keys::issue;

const KIND: &str = "page:key-grant";
const LOGIN: &str = "login";
const AUTHORIZE: &str = "authorize";
const GRANTED: &str = "access_granted";
const SIGN_IN: &str = "key-grant-log-in";
const APPROVAL: &str = "key-grant";
/// For the application to take its key. Well within the time in which a page is answered.
const CALLBACK_TIMEOUT: Duration = Duration::from_secs(6);
/// Of its answer nothing but the status counts.
const CALLBACK_BYTES_MAX: usize = 16 * 1024;
/// The parameters in the order in which they are asked for, and written.
const PARAMETERS: [&str; 5] = ["app_name", "user_id", "return_url", "callback_url", "scope"];

/// What an application asks for.
#[derive(Debug)]
struct KeyRequest {
    app_name: String,
    /// The application's own name for whoever connects.
    user_id: String,
    return_url: Callback,
    callback_url: Callback,
    permissions: Permissions,
    /// The parameters as they are handed from step to step.
    parameters: [String; 5],
}

impl PageRequest<'_> {
    pub(super) async fn key_grant(&self, step: &str) -> Result<WebAnswer> {
        let asked = match self.key_request() {
            Ok(asked) => asked,
            Err(message) => return Ok(self.grant_refused(&message)),
        };
        let session = self.session().await?;
        let user_id = session.as_ref().map(|session| session.user.id());
        let mut answer = match (step, session) {
            (LOGIN, None) if self.request.method == "POST" => self.grant_login(&asked).await?,
            (LOGIN, None) => self.grant_login_form(&asked, 200, None)?,
            (LOGIN, Some(_)) => self.to_step(AUTHORIZE, &asked),
            (AUTHORIZE, None) => self.to_step(LOGIN, &asked),
            (AUTHORIZE | GRANTED, Some(session)) if !may_grant(&session) => {
                self.grant_refused("Your account is not allowed to manage this store.")
            }
            (AUTHORIZE, Some(session)) => self.grant_question(&session, &asked),
            (GRANTED, Some(session)) => self.grant(&session, &asked).await?,
            (GRANTED, None) => self.grant_refused("Sign in first."),
            _ => self.grant_refused("There is no such step."),
        };
        answer.user_id = answer.user_id.or(user_id);
        Ok(answer)
    }

    /// Reads and checks what is asked for, or says what is wrong with it.
    fn key_request(&self) -> std::result::Result<KeyRequest, String> {
        let (query, form) = (self.query(), self.form());
        let given = |name| match query.text(name) {
            "" => form.text(name),
            text => text,
        };
        let mut parameters = PARAMETERS.map(|name| clean::text_field(given(name)));
        for (name, value) in PARAMETERS.iter().zip(&mut parameters) {
            if value.is_empty() {
                return Err(format!("The parameter {name} is missing."));
            }
            if name.ends_with("_url") {
                *value = with_scheme(given(name).trim());
            }
        }
        let [app_name, user_id, return_url, callback_url, scope] = &parameters;
        let address = |name: &str, text: &str| {
            Callback::parse(text).map_err(|error| format!("{name}: {}", error.message()))
        };
        let return_url = address("return_url", return_url)?;
        let callback_url = address("callback_url", callback_url)?;
        let is_web = matches!(callback_url.url().scheme(), "http" | "https");
        if !is_web || callback_url.is_plain() {
            return Err(String::from("The callback_url must use https."));
        }
        if let Err(refusal) = self.site.outbound().may_ever_ask(callback_url.url()) {
            return Err(format!("The callback_url cannot be used: {refusal}."));
        }
        let permissions = Permissions::parse(scope);
        let permissions = permissions.ok_or("The scope must be read, write or read_write.")?;
        let (app_name, user_id) = (app_name.clone(), user_id.clone());
        Ok(KeyRequest { app_name, user_id, return_url, callback_url, permissions, parameters })
    }

    fn grant_refused(&self, message: &str) -> WebAnswer {
        let page = GrantErrorPage { site: self.masthead(), message };
        self.private_page((KIND, 401), Policy::Page, pages::grant_error(&page))
    }

    fn to_step(&self, step: &str, asked: &KeyRequest) -> WebAnswer {
        WebAnswer::redirect(KIND, &self.visit.page(&asked.path(step)))
    }

    fn grant_login_form(
        &self,
        asked: &KeyRequest,
        status: u16,
        refused: Option<(&str, &str)>,
    ) -> Result<WebAnswer> {
        let visitor = self.visitor()?;
        let csrf = self.token(SIGN_IN, visitor.holder());
        let action = asked.path(LOGIN);
        let redirect = self.visit.page(&asked.form_path(AUTHORIZE));
        let page = GrantLoginPage {
            site: self.masthead(),
            app_name: &asked.app_name,
            action: Address::new(&action),
            redirect: &redirect,
            referer: &action,
            csrf: &csrf,
            error: refused.map(|(message, _)| message),
            login: refused.map_or("", |(_, login)| login),
        };
        let body = pages::grant_login(&page);
        let mut answer = self.private_page((KIND, status), Policy::Page, body);
        let cookie = self.visitor_cookie(&visitor);
        answer.headers.extend(cookie.map(|cookie| ("set-cookie", cookie)));
        Ok(answer)
    }

    async fn grant_login(&self, asked: &KeyRequest) -> Result<WebAnswer> {
        let fields = self.form();
        let login = typed_login(fields.text("username"));
        let again = |status, message: &str| {
            self.grant_login_form(asked, status, Some((message, login.as_str())))
        };
        let token = fields.text(pages::LOGIN_TOKEN_FIELD);
        let is_own = |visitor: Visitor| self.is_token(SIGN_IN, visitor.holder(), token);
        if !self.is_sent_from_here() || !self.known_visitor().is_some_and(is_own) {
            return again(200, STALE);
        }
        let password = Secret::new(fields.text("password").to_owned());
        match self.site.sign_in(self.request, &login, password).await? {
            SignIn::Welcome(user) => {
                let target = self.after_login(asked, &fields);
                self.welcome(user.id(), &target, Keep::Usual).await
            }
            SignIn::Wrong => {
                tracing::info!(reason = "wrong password or account", "sign-in refused");
                again(200, WRONG)
            }
            SignIn::Wait(wait) => told_to_wait(wait, |message| again(429, message)),
        }
    }

    /// Where the form says, as long as that is a page of this site.
    fn after_login(&self, asked: &KeyRequest, fields: &Fields) -> String {
        let wanted = local_path(&self.visit.home, fields.text("redirect"));
        self.visit.page(&wanted.unwrap_or_else(|| asked.form_path(AUTHORIZE)))
    }

    fn grant_question(&self, session: &Session, asked: &KeyRequest) -> WebAnswer {
        let token = self.token(&asked.approval(), session.holder());
        let approve = format!("{}&{GRANT_TOKEN_FIELD}={token}", asked.path(GRANTED));
        let deny = asked.back(false);
        let back = asked.path(AUTHORIZE);
        let logout = self.sign_out_path(Spelling::Known, session, Some(&back));
        let user = &session.user.row;
        let page = GrantPage {
            site: self.masthead(),
            user_name: if user.display_name.is_empty() { &user.login } else { &user.display_name },
            app_name: &asked.app_name,
            recipient: asked.callback_url.url().host_str().unwrap_or_default(),
            permissions: asked.permissions,
            approve: Address::new(&approve),
            deny: Address::of_app(&deny),
            logout: Address::new(&logout),
        };
        self.private_page((KIND, 200), Policy::Page, pages::grant(&page))
    }

    async fn grant(&self, session: &Session, asked: &KeyRequest) -> Result<WebAnswer> {
        let query = self.query();
        let token = query.text(GRANT_TOKEN_FIELD);
        let is_own = self.is_token(&asked.approval(), session.holder(), token);
        if !self.is_sent_from_here() || !is_own {
            return Ok(self.grant_refused("The page has expired; nothing was approved."));
        }
        let Some(key) = self.new_key(session, asked).await? else {
            return Ok(self.grant_refused("Your account has too many keys; delete some first."));
        };
        if let Err(reason) = self.hand_over(asked, &key).await {
            tracing::info!(reason, "an application did not take its key");
            let key_id = key.row.key_id;
            let delete = move |conn: &mut dyn db::Conn| {
                site_rows::consumer_key::delete(conn, key_id).map(drop)
            };
            self.site.store().write(delete).await?;
            let message = "The application did not accept its key; nothing was approved.";
            return Ok(self.grant_refused(message));
        }
        Ok(WebAnswer::redirect(KIND, &asked.back(true)))
    }

    async fn new_key(&self, session: &Session, asked: &KeyRequest) -> Result<Option<NewKey>> {
        let (site, now, user_id) = (Arc::clone(self.site), self.visit.now, session.user.id());
        let permissions = asked.permissions;
        let name = asked.app_name.chars().take(NAME_LENGTH_MAX);
        let description: String = name.collect();
        let made = self.site.store().write(move |conn| {
            issue(conn, site.vault(), user_id, (permissions, &description), now)
        });
        made.await
    }

    /// Sends the key to the application. Nobody but the application learns why it failed.
    async fn hand_over(&self, asked: &KeyRequest, key: &NewKey) -> std::result::Result<(), String> {
        let body = json!({
            "key_id": key.row.key_id,
            "user_id": asked.user_id,
            "consumer_key": key.key.expose(),
            "consumer_secret": key.secret.expose(),
            "key_permissions": asked.permissions.name(),
        });
        let media_type = String::from("application/json;charset=UTF-8");
        let fetch = Fetch {
            method: Method::Post,
            url: asked.callback_url.url().clone(),
            headers: vec![(String::from("Content-Type"), media_type)],
            body: body.to_string().into_bytes(),
            max_bytes: CALLBACK_BYTES_MAX,
            overlong: Overlong::Cut,
            timeout: CALLBACK_TIMEOUT,
            max_redirects: 0,
        };
        let fetched = self.site.outbound().fetch(fetch).await.map_err(|error| error.to_string())?;
        if fetched.status == 200 { Ok(()) } else { Err(format!("status {}", fetched.status)) }
    }
}

impl KeyRequest {
    fn path(&self, step: &str) -> String {
        self.path_encoded(step, encoded)
    }

    /// The path in the encoding of forms.
    fn form_path(&self, step: &str) -> String {
        self.path_encoded(step, form::url_encode)
    }

    fn path_encoded(&self, step: &str, encode: impl Fn(&str) -> String) -> String {
        let pairs = PARAMETERS.iter().zip(&self.parameters);
        let query: Vec<String> =
            pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
        format!("{KEY_GRANT_ROOT}{step}/?{}", query.join("&"))
    }

    /// The action that an approval's token is for: this request and no other.
    fn approval(&self) -> String {
        format!("{APPROVAL} {}", self.path(GRANTED))
    }

    /// Where the user goes afterwards.
    fn back(&self, success: bool) -> String {
        let success = if success { "1" } else { "0" };
        self.return_url.with(&[("success", success), ("user_id", &self.user_id)])
    }
}

fn may_grant(session: &Session) -> bool {
    session.user.can(Capability::ManageWoocommerce)
}

/// The address as it was given; one without a scheme is meant for TLS.
fn with_scheme(text: &str) -> String {
    if text.contains("://") { text.to_owned() } else { format!("https://{text}") }
}
