//! `terrace doctor`: checks the configuration, the database and the machine, and prints one line for each
//! finding, with `ok`, `warn` or `fail`.

mod database;
mod findings;
mod setup;

use crate::database::{app, open};
use crate::doctor::findings::Findings;
use crate::settings::Settings;
use crate::{machine, report};
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::media::MediaStore;

/// Prints the findings; exit code 1 if one of them is a failure.
pub(crate) async fn doctor(settings: Settings) -> anyhow::Result<ExitCode> {
    let mut findings = Findings::default();
    setup::configuration(&settings, &mut findings);
    setup::machine(&settings, &mut findings);
    #[cfg(unix)]
    setup::permissions(&settings, &mut findings);
    if setup::database_is_there(&settings, &mut findings) {
        check_database(&settings, &mut findings).await;
        check_pictures(&settings, &mut findings).await;
    }
    for line in findings.lines() {
        report::line(&line)?;
    }
    Ok(if findings.any_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Checks that the storage for pictures responds. A missing folder is created with the database; this check
/// must not create it.
async fn check_pictures(settings: &Settings, findings: &mut Findings) {
    if settings.media.media_url.is_none() && !settings.media_folder().exists() {
        return findings.warn("pictures", "there is no folder for them yet: the next start makes it");
    }
    let place = match settings.open_media() {
        Ok(place) => place,
        Err(error) => return findings.fail("pictures", format!("{error:#}")),
    };
    match place.list(0).await {
        Ok(_) => findings.ok("pictures", "their place answers"),
        Err(error) => findings.fail("pictures", error.to_string()),
    }
}

async fn check_database(settings: &Settings, findings: &mut Findings) {
    let storage = match open(settings) {
        Ok(storage) => storage,
        Err(error) => return findings.fail("database", format!("{error:#}")),
    };
    let now = terrace_kernel::Clock::now(&machine::SystemClock);
    let app = Arc::new(app(settings, &storage));
    let usable = match storage.examine() {
        Ok(examination) => {
            let usable = database::judge(storage.kind(), &examination, findings);
            match app.compare_clocks().await {
                Ok(offset) => database::judge_clock(offset, findings),
                Err(error) => findings.fail("clock", error.to_string()),
            }
            usable
        }
        Err(error) => {
            findings.fail("database", error.to_string());
            false
        }
    };
    if let Some(replica) = storage.examine_replica() {
        database::judge_replica(replica, findings);
    }
    if usable {
        match app.query(terrace_app::platform::Overview).await {
            Ok(overview) => database::judge_work(settings, &overview, now, findings),
            Err(error) => findings.fail("work", error.to_string()),
        }
    }
    storage.close();
}
