//! `terrace maintain import-completions FILE`: imports old completions of quests in batches and reports lines that
//! match nothing.

use crate::database::{open, ready_app};
use crate::follow_graph::{SHOWN, TURN, cannot_read, lines};
use crate::progress::Progress;
use crate::report;
use crate::settings::Settings;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::mem;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use terrace_app::App;
use terrace_ops::{
    COMPLETIONS_BATCH, Completion, CompletionLine, CompletionList, CompletionsImported, NotMatched,
    WhyNotMatched,
};

/// The lines that were left out: their number by reason, and the first of them.
#[derive(Default)]
struct LeftOut {
    unread: u64,
    not_matched: BTreeMap<WhyNotMatched, u64>,
    first: Vec<(u64, String)>,
}

impl LeftOut {
    fn count(&self) -> u64 {
        self.unread + self.not_matched.values().sum::<u64>()
    }

    /// Keeps the first lines by number. They do not arrive in order: unreadable lines of a batch are found before
    /// those that match nothing.
    fn show(&mut self, line: u64, words: String) {
        let place = self.first.partition_point(|(before, _)| *before < line);
        self.first.insert(place, (line, words));
        self.first.truncate(SHOWN);
    }

    fn unread(&mut self, line: u64, words: String) {
        self.unread += 1;
        self.show(line, words);
    }

    fn note(&mut self, not_matched: Vec<NotMatched>) {
        for NotMatched { line, why, about } in not_matched {
            *self.not_matched.entry(why).or_default() += 1;
            self.show(line, format!("{why}: {about:?}"));
        }
    }

    /// The number of lines for each reason, and the first lines, one entry each.
    fn describe(&self) -> Vec<String> {
        let unread = (self.unread > 0).then(|| ("cannot be read".to_owned(), self.unread));
        let not_matched = self.not_matched.iter().map(|(why, count)| (why.to_string(), *count));
        let reasons = unread.into_iter().chain(not_matched);
        let mut text: Vec<String> = reasons.map(|(why, count)| format!("{why}: {}", lines(count))).collect();
        text.extend(self.first.iter().map(|(number, words)| format!("line {number}: {words}")));
        let rest = self.count() - u64::try_from(self.first.len()).unwrap_or(self.count());
        text.extend((rest > 0).then(|| format!("and {rest} more")));
        text
    }
}

/// Imports all lines and prints a summary; exit code 1 if a line was left out.
pub(crate) async fn import(path: &Path, dry_run: bool, settings: Settings) -> anyhow::Result<ExitCode> {
    // Opened before anything is written.
    let file = File::open(path).with_context(|| cannot_read(path))?;
    let size = file.metadata().with_context(|| cannot_read(path))?.len();
    let list = CompletionList::new(BufReader::with_capacity(1 << 16, file));
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    if !dry_run {
        // Without seasons, which a server creates at its first start, no completion would belong to one.
        app.found_seasons().await.context("cannot make the first seasons")?;
    }
    let done = import_batches(&app, (path, size), list, dry_run).await;
    storage.close();
    let (all, left) = done?;
    report::line(&summary(&all, &left, dry_run))?;
    Ok(if left.count() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn import_batches(
    app: &App,
    (path, size): (&Path, u64),
    mut list: CompletionList<BufReader<File>>,
    dry_run: bool,
) -> anyhow::Result<(CompletionsImported, LeftOut)> {
    let (mut all, mut left) = (CompletionsImported::default(), LeftOut::default());
    let mut batch: Vec<(u64, Completion)> = Vec::with_capacity(COMPLETIONS_BATCH);
    let mut progress = Progress::new(size);
    loop {
        let line = list.next_line().with_context(|| cannot_read(path))?;
        let is_last = line.is_none();
        match line {
            Some(CompletionLine { number, completion: Ok(completion) }) => batch.push((number, completion)),
            Some(CompletionLine { number, completion: Err(words) }) => left.unread(number, words),
            None => {}
        }
        if batch.len() == COMPLETIONS_BATCH || (is_last && !batch.is_empty()) {
            let batch = mem::replace(&mut batch, Vec::with_capacity(COMPLETIONS_BATCH));
            let begun = Instant::now();
            let mut imported = terrace_ops::import_completions(app, batch, dry_run).await?;
            left.note(mem::take(&mut imported.not_matched));
            all += imported;
            // A server on the same embedded database only polls for the write lock.
            tokio::time::sleep(begun.elapsed() / TURN).await;
            progress.show(list.bytes())?;
        }
        if is_last {
            progress.end()?;
            return Ok((all, left));
        }
    }
}

fn summary(all: &CompletionsImported, left: &LeftOut, dry_run: bool) -> String {
    let CompletionsImported { recorded, before, steps, quests, records, points, .. } = all;
    let would = if dry_run { "would be " } else { "" };
    let count = left.count();
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
