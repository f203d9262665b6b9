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
    /// Holders of an API key with this scope.
    Scope(Scope),
    /// Devices, by the token that they were given when they were paired.
    Device,
    /// Devices that hold a one-time pairing code.
    Pairing,
}

#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    /// The path with its variables in braces, such as `/v1/merchants/{merchantId}`.
    pub path: &'static str,
    pub permission: Permission,
}

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

    /// The names between braces, in order.
    pub fn path_variables(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Draft {
    /// Callable with an API key that has this scope.
    pub const fn scope(self, scope: Scope) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Scope(scope) }
    }

    /// Callable by a paired device.
    pub const fn device(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Device }
    }

    /// Callable with a pairing code.
    pub const fn pairing(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Pairing }
    }

    /// Callable without credentials.
    pub const fn public(self) -> Route {
        Route { method: self.method, path: self.path, permission: Permission::Public }
    }
}
