//! Tills: devices that redeem codes.

use crate::TillId;
use terrace_kernel::Timestamp;
use terrace_kernel::text::{TextError, line};

/// A device that redeems codes with a token of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Till {
    /// Id of the till.
    pub id: TillId,
    /// The unique name that an operator gave to it.
    pub name: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// When its token was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// SHA-256 of the token of a till, the only part of it that is stored.
pub type TillHash = [u8; 32];

/// Validates the name of a till: one line of 1 to 60 characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn till_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 60)
}
