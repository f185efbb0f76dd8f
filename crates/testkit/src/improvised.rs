//! Commands and queries that a test writes down on the spot, and gates at which they wait for one another.

use crate::use_cases::PATIENCE;
use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use terrace_app::store::{ReadTx, Tx};
use terrace_app::{Command, Query};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};

/// The one refusal of improvised commands: the test said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidNo;

/// A command or query whose body is a closure.
pub struct Improvised<F, T> {
    run: F,
    output: PhantomData<fn() -> T>,
}

/// A command out of a closure, which is run as often as any other command's body.
pub fn body<F, T>(run: F) -> Improvised<F, T>
where
    F: Fn(&mut dyn Tx, &mut Ctx) -> Outcome<T, SaidNo> + Send + 'static,
    T: Send + 'static,
{
    Improvised { run, output: PhantomData }
}

/// A query out of a closure.
pub fn question<F, T>(ask: F) -> Asked<F, T>
where
    F: Fn(&mut dyn ReadTx) -> Result<T, StoreError> + Send + 'static,
    T: Send + 'static,
{
    Asked { ask, output: PhantomData }
}

/// A query whose body is a closure.
pub struct Asked<F, T> {
    ask: F,
    output: PhantomData<fn() -> T>,
}

impl<F, T> Command for Improvised<F, T>
where
    F: Fn(&mut dyn Tx, &mut Ctx) -> Outcome<T, SaidNo> + Send + 'static,
    T: Send + 'static,
{
    const NAME: &'static str = "improvised";
    type Output = T;
    type Refusal = SaidNo;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<T, SaidNo> {
        (self.run)(tx, ctx)
    }
}

impl<F, T> Query for Asked<F, T>
where
    F: Fn(&mut dyn ReadTx) -> Result<T, StoreError> + Send + 'static,
    T: Send + 'static,
{
    const NAME: &'static str = "improvised";
    type Output = T;
    type Refusal = SaidNo;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<T, SaidNo> {
        Ok((self.ask)(tx)?)
    }
}

/// Stays shut until it is opened, and then stays open. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// Lets everybody through who waits or will come.
    pub fn open(&self) {
        let (open, opened) = &*self.open;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        opened.notify_all();
    }

    /// Waits until it is open.
    ///
    /// # Panics
    ///
    /// When nobody opens it.
    pub fn pass(&self) {
        let (open, opened) = &*self.open;
        let shut = open.lock().unwrap_or_else(PoisonError::into_inner);
        let (shut, _) =
            opened.wait_timeout_while(shut, PATIENCE, |open| !*open).unwrap_or_else(PoisonError::into_inner);
        assert!(*shut, "a gate stays shut");
    }
}
