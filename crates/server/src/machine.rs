//! The one place where the program asks its machine for the time and for randomness, and says what memory it wants.

use rand::Rng;
use std::time::{SystemTime, UNIX_EPOCH};
use terrace_kernel::{Clock, Entropy, Timestamp};

/// The machine's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is given")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The thread's cryptographic generator, seeded by the operating system.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        #[expect(clippy::disallowed_methods, reason = "this is the randomness that everybody else is given")]
        rand::rng().fill_bytes(&mut seed);
        seed
    }
}

/// Lets servers on this machine go first: maintenance takes what they leave of the processors.
pub(crate) fn step_back() {
    #[cfg(unix)]
    if let Err(error) = rustix::process::nice(BEHIND) {
        log::debug!("maintenance is no nicer than others: {error}");
    }
}

/// By how much nicer maintenance is than a server.
#[cfg(unix)]
const BEHIND: i32 = 10;

/// Has the kernel give memory page by page. With huge pages, which the allocator asks for, each of thousands of
/// connections pays for buffers that it hardly touches: half as much again for each.
pub(crate) fn keep_to_small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        log::debug!("the kernel gives memory as it likes: {error}");
    }
}
