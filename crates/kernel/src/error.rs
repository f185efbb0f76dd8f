//! The two ways in which a command can fail: a rule said no, or something broke.

use std::error::Error as StdError;
use std::fmt;

/// Something broke below the rules. None of it is the caller's fault, and its words are for the log only.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, refuses new work or did not answer in time. Trying later may help.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Concurrent work got in the way (a serialization failure, a deadlock, a busy database). The adapter has
    /// tried a few times already.
    #[error("the store is contended: {0}")]
    Contended(String),
    /// A stored value is not what was ever written there.
    #[error("corrupt value in {table}.{column}: {detail}")]
    Corrupt {
        /// The table that holds the value.
        table: &'static str,
        /// The column that holds the value.
        column: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// Anything else: a defect of ours.
    #[error("{context}: {cause}")]
    Defect {
        /// What was being done.
        context: String,
        /// The driver's own words. They are part of this error's, so it is not called its source.
        cause: Box<dyn StdError + Send + Sync>,
    },
}

impl StoreError {
    /// A defect, with what was being done when it showed.
    pub fn defect(context: impl Into<String>, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Defect { context: context.into(), cause: cause.into() }
    }
}

/// Why a command or query did not do what it was asked to: `R` is the command's own list of refusals.
#[derive(Debug)]
pub enum Failure<R> {
    /// A rule said no; nothing was changed.
    Refused(R),
    /// Something broke; nothing was changed.
    Broken(StoreError),
}

impl<R> Failure<R> {
    /// The same failure with its refusal in the terms of another list.
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

/// What a command or query comes to.
pub type Outcome<T, R> = Result<T, Failure<R>>;
