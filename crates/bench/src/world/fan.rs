//! Fans that sign in over HTTP.

use super::FANS;
use crate::client::Caller;
use crate::http;
use anyhow::{Context, Result};

/// The password of every fan.
pub(crate) const PASSWORD: &str = "up the terrace";

/// A signed-in fan.
#[derive(Debug, Clone)]
pub(crate) struct Fan {
    pub(crate) name: String,
    /// The identifier in canonical form.
    pub(crate) id: String,
    /// The value of a `Cookie` header.
    pub(crate) cookie: String,
}

impl Fan {
    /// The identifier in hexadecimal digits.
    pub(super) fn digits(&self) -> String {
        self.id.replace('-', "")
    }
}

/// Registers and signs in [`FANS`] fans.
pub(super) fn register(caller: &mut Caller) -> Result<Vec<Fan>> {
    (0..FANS).map(|number| register_one(caller, format!("regular{number}"))).collect()
}

fn register_one(caller: &mut Caller, name: String) -> Result<Fan> {
    let body = serde_json::json!({"username": name, "password": PASSWORD}).to_string();
    let answer = caller.expect(201, &http::request("POST", "/api/register", &[], Some(&body)))?;
    let cookie = answer.header("set-cookie").and_then(|set| set.split(';').next());
    let cookie = cookie.context("registration sets no cookie")?.to_owned();
    let user: serde_json::Value = serde_json::from_slice(&answer.body)?;
    let id = user.pointer("/user/id").and_then(serde_json::Value::as_str);
    Ok(Fan { name, id: id.context("registration answers no id")?.to_owned(), cookie })
}
