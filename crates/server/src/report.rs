//! Texts for the terminal.

use std::io::Write;
use terrace_app::store::CounterCheck;
use terrace_app::{DEMO_FAN, DEMO_PASSWORD, DemoOutcome};
use terrace_ops::maintenance::{RoundReport, TaskRun};

/// Prints a line to standard output; a closed pipe is an error, not a panic.
pub(crate) fn line(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")
}

/// The result of loading demo content.
pub(crate) fn demo(outcome: DemoOutcome) -> String {
    match outcome {
        DemoOutcome::Loaded { fans, posts, comments, awards } => {
            format!(
                "loaded demo content: {fans} fans, {posts} posts, {comments} comments, {awards} awards of points"
            )
        }
        DemoOutcome::AlreadyThere => {
            "the demo content, or an account of one of its names, is there".to_owned()
        }
        DemoOutcome::NotNew => "the database is not new; no demo content was loaded".to_owned(),
    }
}

/// The rows that a repair would change, from its dry run.
pub(crate) fn pending_repairs(ran: &TaskRun) -> String {
    let counts: Vec<String> = ran.counts.iter().map(|(kind, rows)| format!("{rows} {kind}")).collect();
    let what = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    format!("{} would repair {what}", ran.task)
}

/// How to sign in as a demo fan.
pub(crate) fn how_to_sign_in() -> String {
    format!("sign in as {DEMO_FAN} with the password {DEMO_PASSWORD}")
}

/// The number of removed rows by kind.
pub(crate) fn swept(report: &RoundReport) -> String {
    let kinds = [
        "idempotency keys",
        "sessions and tokens",
        "events",
        "messages to the minter",
        "reports",
        "uploads",
        "pictures",
        "stray files of pictures",
    ];
    format!("removed {}", kinds.map(|kind| format!("{} {kind}", report.count(kind))).join(", "))
}

/// The result of one counter check.
pub(crate) fn counter(check: &CounterCheck) -> String {
    let examples = check.examples.iter().map(|example| {
        format!("\n  {}: stored {}, counted {}", example.row, example.stored, example.counted)
    });
    format!("{}: {} checked, {} wrong", check.counter, check.checked, check.wrong)
        + &examples.collect::<String>()
}
