//! The two ways in which a command can fail: a rule refuses it, or the store fails.

use std::error::Error as StdError;
use std::fmt;

/// A failure below the rules. The caller did not cause it, and its message is for the log only.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, rejects new work or did not answer in time. A later retry may succeed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A conflict with concurrent work (a serialization failure, a deadlock, a busy database). The adapter has already
    /// retried a few times.
    #[error("the store is contended: {0}")]
    Contended(String),
    /// A stored value that the service cannot have written.
    #[error("corrupt value in {table}.{column}: {detail}")]
    Corrupt {
        /// Name of the table that holds the value.
        table: &'static str,
        /// Name of the column that holds the value.
        column: &'static str,
        /// Why the value is invalid.
        detail: String,
    },
    /// Any other failure: a defect in the service.
    #[error("{context}: {cause}")]
    Defect {
        /// The operation that failed.
        context: String,
        /// The driver's error. This error's message already includes it, so it is not exposed as its `source`.
        cause: Box<dyn StdError + Send + Sync>,
    },
}

impl StoreError {
    /// Creates a [`Defect`](Self::Defect) from the operation that failed and its cause.
    pub fn defect(context: impl Into<String>, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Defect { context: context.into(), cause: cause.into() }
    }
}

/// Why a command or query failed. `R` is the enum of its refusals.
#[derive(Debug)]
pub enum Failure<R> {
    /// A rule refused the command; nothing was changed.
    Refused(R),
    /// The store failed; nothing was changed.
    Broken(StoreError),
}

impl<R> Failure<R> {
    /// Converts the refusal, if this is one, into another type.
    pub fn map<S>(self, convert: impl FnOnce(R) -> S) -> Failure<S> {
        match self {
            Self::Refused(refusal) => Failure::Refused(convert(refusal)),
            Self::Broken(error) => Failure::Broken(error),
        }
    }
}

impl<R> From<StoreError> for Failure<R> {
    fn from(error: StoreError) -> Self {
        Self::Broken(error)
    }
}

impl<R: fmt::Display> fmt::Display for Failure<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Broken(error) => error.fmt(f),
        }
    }
}

impl<R: fmt::Debug + fmt::Display> StdError for Failure<R> {}

/// The result of a command or query.
pub type Outcome<T, R> = Result<T, Failure<R>>;
