//! Method, path and permission of an endpoint.
//!
//! **A route without a permission is not a route**: [`Route::get`] and its siblings return a
//! [`Draft`], which becomes a [`Route`] only by naming who may call it. Leaving it out does not
//! compile:
//!
//! ```compile_fail
//! const OPEN_BY_MISTAKE: contract::Route = contract::Route::get("/v1/merchants");
//! ```
//!
//! ```
//! use types::Scope;
//! const MERCHANTS: contract::Route =
//!     contract::Route::get("/v1/merchants").scope(Scope::MerchantsRead);
//! ```

use types::Scope;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether parameters come from a JSON body rather than from the query string.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Everybody, without credentials.
    Public,
    /// Whoever was sent a link: its token is a parameter, which the endpoint checks. They save what
    /// they type, and so may call more often than others without credentials.
    Link,
    /// Holders of an API key with this scope.
    Scope(Scope),
    /// Devices, by the token that they were given when they were paired.
    Device,
    /// Devices that hold a one-time pairing code.
    Pairing,
    /// Administrators of the site who are signed in.
    Administrator,
    /// Administrators of an ISO who are signed in, and those of the site who act for it. **No key
    /// will do**: people outlive keys, and a key gives away no more than it has.
    IsoAdministrator,
}

#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    /// The path with its variables in braces, such as `/v1/merchants/{merchantId}`.
    pub path: &'static str,
    pub permission: Permission,
    /// The kinds of file that the route takes in place of a JSON body; usually none.
    pub files: &'static [FileKind],
}

/// A kind of file that a route takes. The endpoint gets its name as the parameter [`FILE_KIND`],
/// and what is in it, which must be UTF-8, as [`FILE_CONTENT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    pub name: &'static str,
    pub media_types: &'static [&'static str],
}

pub const FILE_KIND: &str = "format";
pub const FILE_CONTENT: &str = "content";

/// A route that still lacks its permission.
#[derive(Clone, Copy, Debug)]
#[must_use = "a route needs a permission: call .scope(…) or .public()"]
pub struct Draft {
    method: Method,
    path: &'static str,
}

impl Route {
    pub const fn get(path: &'static str) -> Draft {
        Draft { method: Method::Get, path }
    }

    pub const fn post(path: &'static str) -> Draft {
        Draft { method: Method::Post, path }
    }

    pub const fn put(path: &'static str) -> Draft {
        Draft { method: Method::Put, path }
    }

    pub const fn patch(path: &'static str) -> Draft {
        Draft { method: Method::Patch, path }
    }

    pub const fn delete(path: &'static str) -> Draft {
        Draft { method: Method::Delete, path }
    }

    /// The same route for a file in place of a JSON body.
    #[must_use]
    pub const fn taking(self, files: &'static [FileKind]) -> Self {
        Self { files, ..self }
    }

    /// The kind of file of that media type, if the route takes it.
    pub fn file_kind(&self, media_type: &str) -> Option<&'static FileKind> {
        let is_it = |name: &&str| name.eq_ignore_ascii_case(media_type);
        self.files.iter().find(|kind| kind.media_types.iter().any(is_it))
    }

    /// The names between braces, in order.
    pub fn path_variables(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Draft {
    /// Callable with an API key that has this scope.
    pub const fn scope(self, scope: Scope) -> Route {
        Route {
            method: self.method,
            path: self.path,
            permission: Permission::Scope(scope),
            files: &[],
        }
    }

    /// Callable by a paired device.
    pub const fn device(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Device, files: &[] }
    }

    /// Callable with a pairing code.
    pub const fn pairing(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Pairing, files: &[] }
    }

    /// Callable by a signed-in administrator of the site.
    pub const fn administrator(self) -> Route {
        Route {
            method: self.method,
            path: self.path,
            permission: Permission::Administrator,
            files: &[],
        }
    }

    /// Callable by a signed-in administrator of an ISO.
    pub const fn iso_administrator(self) -> Route {
        Route {
            method: self.method,
            path: self.path,
            permission: Permission::IsoAdministrator,
            files: &[],
        }
    }

    /// Callable with the token of a link, which is one of the parameters.
    pub const fn link(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Link, files: &[] }
    }

    /// Callable without credentials.
    pub const fn public(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Public, files: &[] }
    }
}
