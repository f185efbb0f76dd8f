//! Wheels: content, spins and their proofs. The rules are in `terrace-games`, the draw is that of `terrace-draws`.
//!
//! The server seed of a fan's next spin is an HMAC under a key that is derived from the service's secret ([`WheelSeeds`]), of
//! the wheel, the fan and the number of the spin. It need not be stored: reading the hash of the next seed writes nothing, and
//! every process computes the same one. The spin names this hash, so that a fan never spins with a seed that was not shown.
//!
//! [`SpinWheel`] is one transaction, under the lock on the fan's account: it takes the price, draws, counts the grant of a
//! limited segment, gives the grant, and writes the spin with the fan's standing after it. A segment whose stock is used up,
//! or whose grant cannot be given, gives its substitute instead; the draw does not depend on stocks, so the odds of all
//! other segments stay as they are published.
//!
//! On PostgreSQL, spins that wait at the same time are one transaction with a fixed number of statements (`spin_batch`), unless
//! their wheel has limited segments.
//!
//! Free spins go by the local dates of daily visits (`terrace_quests::Visits`): a spin stores the fan's calendar, so that a
//! later change of the time zone counts from the next midnight of the old one.

mod content;
mod due_spin;
mod erasure;
pub mod export;
mod load_wheels;
mod queries;
mod seeds;
mod spin;
mod spin_batch;

pub use content::{WheelContent, WheelSummary};
pub(crate) use erasure::ERASURE;
pub use load_wheels::LoadWheels;
pub use queries::{FanAtWheels, ListSpins, ReadFanAtWheels, ReadSegmentsGiven};
pub use seeds::WheelSeeds;
pub use spin::{SpinWheel, SpinWheelRefusal, SpinWheelRequest, WheelSpun};

use crate::App;
use crate::content::ContentFaults;
use crate::store::into_infallible;
use crate::wheels::queries::ReadWheels;
use std::sync::Arc;
use terrace_games::{Wheel, WheelId};
use terrace_kernel::{Outcome, StoreError, UserId};

/// All wheels.
#[derive(Debug, Clone, Default)]
pub struct WheelBook {
    wheels: Vec<Wheel>,
}

impl WheelBook {
    pub(crate) fn new(wheels: Vec<Wheel>) -> Self {
        Self { wheels }
    }

    /// All wheels in the order of the content, including retired ones.
    pub fn wheels(&self) -> &[Wheel] {
        &self.wheels
    }

    /// The wheel with this id.
    pub fn wheel(&self, id: WheelId) -> Option<&Wheel> {
        self.wheels.iter().find(|wheel| wheel.id == id)
    }
}

impl App {
    /// All wheels, at most one second old, and current if this process has changed them.
    pub async fn wheel_book(&self) -> Result<Arc<WheelBook>, StoreError> {
        if let Some(book) = self.wheel_books.get(&()) {
            return Ok(book);
        }
        let book = Arc::new(into_infallible(self.query(ReadWheels).await)?);
        self.wheel_books.insert((), Arc::clone(&book));
        Ok(book)
    }

    /// Drops the cached wheels, so that they are read again.
    pub fn forget_wheel_book(&self) {
        self.wheel_books.invalidate_all();
    }

    /// Loads wheels by their keys; wheels that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_wheels(&self, content: WheelContent) -> Outcome<WheelSummary, ContentFaults> {
        let loaded = self.execute(LoadWheels { content }).await;
        self.forget_wheel_book();
        loaded
    }

    /// The seeds of spins; an error if this process has no secret key.
    pub fn wheel_seeds(&self) -> Result<Arc<WheelSeeds>, StoreError> {
        let seeds = self.wheel_seeds.as_ref().map(Arc::clone);
        seeds.ok_or_else(|| StoreError::defect("spin wheels", "this process has no secret"))
    }

    /// Builds the command by which a fan spins a wheel.
    ///
    /// # Errors
    ///
    /// If wheels or packs cannot be read, or this process has no secret key.
    pub async fn spin_wheel(
        &self,
        user: UserId,
        wheel: WheelId,
        request: SpinWheelRequest,
    ) -> Result<SpinWheel, StoreError> {
        Ok(SpinWheel {
            user,
            wheel,
            request,
            book: self.wheel_book().await?,
            seeds: self.wheel_seeds()?,
            granter: self.granter().await?,
            awards: self.awards.clone(),
            new_account_age: self.config.new_account_age,
        })
    }
}
