//! `terrace maintain import-completions FILE`: imports old completions of quests in batches and reports lines that
//! match nothing.

use crate::database::{open, ready_app};
use crate::import_file::{ImportFile, lines};
use crate::report;
use crate::settings::Settings;
use anyhow::Context;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::mem;
use std::path::Path;
use std::process::ExitCode;
use terrace_ops::{
    COMPLETIONS_BATCH, Completion, CompletionsImported, Line, LineFaults, Lines, NotMatched, WhyNotMatched,
};

/// The lines that were left out: their number by reason, and the first of them.
#[derive(Default)]
struct LeftOut {
    unread: u64,
    not_matched: BTreeMap<WhyNotMatched, u64>,
    faults: LineFaults,
}

impl LeftOut {
    fn unread(&mut self, line: u64, words: String) {
        self.unread += 1;
        self.faults.note(line, words);
    }

    fn note(&mut self, not_matched: Vec<NotMatched>) {
        for NotMatched { line, why, about } in not_matched {
            *self.not_matched.entry(why).or_default() += 1;
            self.faults.note(line, format!("{why}: {about:?}"));
        }
    }

    /// The number of lines for each reason, and the first lines, one entry each.
    fn describe(&self) -> Vec<String> {
        let unread = (self.unread > 0).then(|| ("cannot be read".to_owned(), self.unread));
        let not_matched = self.not_matched.iter().map(|(why, count)| (why.to_string(), *count));
        let reasons = unread.into_iter().chain(not_matched);
        let reasons = reasons.map(|(why, count)| format!("{why}: {}", lines(count)));
        reasons.chain(self.faults.text("line ")).collect()
    }
}

/// Imports all lines and prints a summary; exit code 1 if a line was left out.
pub(crate) async fn import(path: &Path, dry_run: bool, settings: Settings) -> anyhow::Result<ExitCode> {
    // Opened before anything is written.
    let file = ImportFile::open(path, |input| Ok::<_, Infallible>(Lines::new(input)))?;
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    if !dry_run {
        // Without seasons, which a server creates at its first start, no completion would belong to one.
        app.found_seasons().await.context("cannot make the first seasons")?;
    }
    let (mut all, mut left) = (CompletionsImported::default(), LeftOut::default());
    let import = async |batch: Vec<Line<Completion>>| {
        let mut good = Vec::with_capacity(batch.len());
        for Line { number, content } in batch {
            match content {
                Ok(completion) => good.push((number, completion)),
                Err(words) => left.unread(number, words),
            }
        }
        if good.is_empty() {
            return Ok(());
        }
        let mut imported = terrace_ops::import_completions(&app, good, dry_run).await?;
        left.note(mem::take(&mut imported.not_matched));
        all += imported;
        Ok(())
    };
    let done = file.import(COMPLETIONS_BATCH, import).await;
    storage.close();
    done?;
    report::line(&summary(&all, &left, dry_run))?;
    Ok(if left.faults.count() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn summary(all: &CompletionsImported, left: &LeftOut, dry_run: bool) -> String {
    let CompletionsImported { recorded, before, steps, quests, records, points, .. } = all;
    let would = if dry_run { "would be " } else { "" };
    let count = left.faults.count();
    let mut text = vec![
        format!(
            "{}: {recorded} {would}recorded, {before} already recorded, {count} skipped",
            lines(recorded + before + count)
        ),
        format!("steps: {steps}, quests completed by them: {quests}, points: {points} in {records} records"),
    ];
    text.extend(dry_run.then(|| "nothing was written".to_owned()));
    text.extend(left.describe());
    text.join("\n")
}
