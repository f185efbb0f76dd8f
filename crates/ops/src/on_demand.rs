//! Jobs that operators request over HTTP.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_app::platform::{Job, RequestedRun};
use terrace_kernel::StoreError;
use terrace_store::BoxFuture;

/// How long a request waits for a run in progress.
const PATIENCE: Duration = Duration::from_secs(30);

/// A periodic job whose result a request may wait for.
pub(crate) struct RequestedJob<T> {
    pub(crate) name: &'static str,
    /// Period of the job.
    pub(crate) every: Duration,
    /// One run of the job.
    pub(crate) run: fn(Arc<App>) -> BoxFuture<'static, Result<T, StoreError>>,
    /// The error if the run fails.
    pub(crate) failed: &'static str,
    /// The error if another run lasts too long.
    pub(crate) busy: &'static str,
}

/// Result of a request.
pub(crate) struct Requested<T> {
    /// Whether this request did the work.
    pub(crate) refreshed: bool,
    /// Duration of the request.
    pub(crate) took: Duration,
    /// Result of the run, if this request did the work.
    pub(crate) result: Option<T>,
}

impl<T: Send + 'static> RequestedJob<T> {
    pub(crate) fn job(&self) -> Job {
        self.storing(Arc::default())
    }

    /// The same job, which stores its result in `done`.
    fn storing(&self, done: Arc<Mutex<Option<T>>>) -> Job {
        let run = self.run;
        Job::new(self.name, self.every, move |app| {
            let done = Arc::clone(&done);
            async move {
                let result = run(app).await?;
                *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                Ok(())
            }
        })
    }

    /// Runs the job, whether or not it is due. Of concurrent calls, in any process, one does the work and the others
    /// wait for it.
    pub(crate) async fn request(&self, app: &Arc<App>) -> Result<Requested<T>, StoreError> {
        let (began, done) = (Instant::now(), Arc::default());
        let unavailable = |why: &str| Err(StoreError::Unavailable(why.to_owned()));
        let refreshed = match app.run_now(self.storing(Arc::clone(&done)), PATIENCE).await? {
            RequestedRun::Done => true,
            RequestedRun::Joined => false,
            RequestedRun::Failed => return unavailable(self.failed),
            RequestedRun::Busy => return unavailable(self.busy),
        };
        let result = done.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Requested { refreshed, took: began.elapsed(), result })
    }
}
