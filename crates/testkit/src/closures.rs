//! Commands and queries made of closures, and gates that synchronise them.

use crate::use_cases::PATIENCE;
use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use terrace_app::store::{ReadTx, Tx};
use terrace_app::{Command, Query};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};

/// The refusal of commands made by [`body`]: the test refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestRefusal;

/// A command whose body is a closure.
pub struct ClosureCommand<F, T> {
    run: F,
    output: PhantomData<fn() -> T>,
}

/// Makes a command of a closure. The closure runs as often as the body of any other command.
pub fn body<F, T>(run: F) -> ClosureCommand<F, T>
where
    F: Fn(&mut dyn Tx, &mut Ctx) -> Outcome<T, TestRefusal> + Send + 'static,
    T: Send + 'static,
{
    ClosureCommand { run, output: PhantomData }
}

/// Makes a query of a closure.
pub fn question<F, T>(ask: F) -> ClosureQuery<F, T>
where
    F: Fn(&mut dyn ReadTx) -> Result<T, StoreError> + Send + 'static,
    T: Send + 'static,
{
    ClosureQuery { ask, output: PhantomData }
}

/// A query whose body is a closure.
pub struct ClosureQuery<F, T> {
    ask: F,
    output: PhantomData<fn() -> T>,
}

impl<F, T> Command for ClosureCommand<F, T>
where
    F: Fn(&mut dyn Tx, &mut Ctx) -> Outcome<T, TestRefusal> + Send + 'static,
    T: Send + 'static,
{
    const NAME: &'static str = "closure";
    type Ports = dyn Tx;
    type Output = T;
    type Refusal = TestRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<T, TestRefusal> {
        (self.run)(tx, ctx)
    }
}

impl<F, T> Query for ClosureQuery<F, T>
where
    F: Fn(&mut dyn ReadTx) -> Result<T, StoreError> + Send + 'static,
    T: Send + 'static,
{
    const NAME: &'static str = "closure";
    type Ports = dyn ReadTx;
    type Output = T;
    type Refusal = TestRefusal;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<T, TestRefusal> {
        Ok((self.ask)(tx)?)
    }
}

/// A gate that is shut until it is opened, and then stays open. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// Opens the gate for all current and future waiters.
    pub fn open(&self) {
        let (open, opened) = &*self.open;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        opened.notify_all();
    }

    /// Waits until it is open.
    ///
    /// # Panics
    ///
    /// Panics if the gate is not opened in time.
    pub fn pass(&self) {
        let (open, opened) = &*self.open;
        let shut = open.lock().unwrap_or_else(PoisonError::into_inner);
        let (shut, _) =
            opened.wait_timeout_while(shut, PATIENCE, |open| !*open).unwrap_or_else(PoisonError::into_inner);
        assert!(*shut, "a gate stays shut");
    }
}
