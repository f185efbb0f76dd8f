//! The system's clock and randomness, which all other code receives as parameters, and process-wide memory and
//! priority settings.

use anyhow::Context;
use rand::Rng;
use std::time::{SystemTime, UNIX_EPOCH};
use terrace_kernel::{Clock, Entropy, Timestamp, num};

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the system clock itself")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(num::to_i64(since_epoch.as_micros()))
    }
}

/// The thread's cryptographic generator, seeded by the operating system.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        #[expect(clippy::disallowed_methods, reason = "the source of randomness itself")]
        rand::rng().fill_bytes(&mut seed);
        seed
    }
}

/// Lowers the priority of this process, so that maintenance does not take CPU time from servers on this
/// machine.
pub(crate) fn step_back() {
    #[cfg(unix)]
    if let Err(error) = rustix::process::nice(BEHIND) {
        log::debug!("the priority of maintenance could not be lowered: {error}");
    }
}

/// The niceness that is added for maintenance.
#[cfg(unix)]
const BEHIND: i32 = 10;

/// Disables transparent huge pages, which the allocator requests. With huge pages, each of thousands of connections
/// takes half as much memory again, because its buffers are mostly untouched.
pub(crate) fn keep_to_small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        log::debug!("transparent huge pages could not be disabled: {error}");
    }
}

/// Starts the asynchronous runtime.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name("terrace")
        .enable_all()
        .build()
        .context("cannot start the runtime")
}
