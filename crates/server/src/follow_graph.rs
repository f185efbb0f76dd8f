//! `terrace seed --follow-graph FILE`: imports an edge list in batches and shows the progress.

use crate::progress::Progress;
use crate::report;
use anyhow::{Context, bail};
use std::fs::File;
use std::io::BufReader;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_ops::{BadLine, EdgeList, IMPORT_BATCH, Imported, Line};

/// Cache size of an embedded database during the import, in KiB. Follows are inserted at random places of their
/// indexes, and a page outside the cache is read and written again for each of them.
pub(crate) const CACHE_KIB: u32 = 262_144;
/// Threshold for the slow-query log: statements that write thousands of rows take longer than usual.
pub(crate) const SLOW: Duration = Duration::from_secs(10);
/// After each batch the import pauses for the duration of the batch divided by this, so that other writers get a
/// turn.
pub(crate) const TURN: u32 = 10;
/// Maximum number of bad lines that are printed.
pub(crate) const SHOWN: usize = 20;

/// An edge list whose beginning is valid, and of which nothing is imported yet.
pub(crate) struct GraphFile {
    path: PathBuf,
    list: EdgeList<BufReader<File>>,
    size: u64,
    strict: bool,
}

/// Bad lines: their number, and the first of them.
#[derive(Default)]
struct BadLines {
    count: u64,
    first: Vec<(u64, BadLine)>,
}

impl BadLines {
    fn note(&mut self, number: u64, bad: BadLine) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push((number, bad));
        }
    }

    /// The first of them, one per line.
    fn shown(&self) -> String {
        let lines = self.first.iter().map(|(number, bad)| format!("\nline {number}: {bad}"));
        let rest = self.count - u64::try_from(self.first.len()).unwrap_or(self.count);
        let more = if rest > 0 { format!("\nand {rest} more") } else { String::new() };
        lines.collect::<String>() + &more
    }
}

/// Opens an edge list. A strict one is read to its end first, so that nothing is imported from a file with bad
/// lines.
pub(crate) fn open(path: &Path, strict: bool) -> anyhow::Result<GraphFile> {
    if strict {
        let mut bad = BadLines::default();
        let (mut list, _) = read(path)?;
        while let Some(Line { number, edge }) = list.next_line().with_context(|| cannot_read(path))? {
            if let Err(why) = edge {
                bad.note(number, why);
            }
        }
        if bad.count > 0 {
            let (name, lines) = (path.display(), lines(bad.count));
            bail!("{name} has {lines} that cannot be read; nothing was imported{}", bad.shown());
        }
    }
    let (list, size) = read(path)?;
    Ok(GraphFile { path: path.to_owned(), list, size, strict })
}

fn read(path: &Path) -> anyhow::Result<(EdgeList<BufReader<File>>, u64)> {
    let file = File::open(path).with_context(|| cannot_read(path))?;
    let size = file.metadata().with_context(|| cannot_read(path))?.len();
    let list = EdgeList::new(BufReader::with_capacity(1 << 16, file)).with_context(|| cannot_read(path))?;
    Ok((list, size))
}

pub(crate) fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

impl GraphFile {
    /// Imports all edges and prints a summary.
    pub(crate) async fn bring_in(mut self, app: &App) -> anyhow::Result<()> {
        let (mut bad, mut all, mut edges) = (BadLines::default(), Imported::default(), 0_u64);
        let mut batch = Vec::with_capacity(IMPORT_BATCH);
        let mut progress = Progress::new(self.size);
        loop {
            let line = self.list.next_line().with_context(|| cannot_read(&self.path))?;
            let is_last = line.is_none();
            match line {
                Some(Line { edge: Ok(edge), .. }) => {
                    batch.push(edge);
                    edges += 1;
                }
                Some(Line { number, edge: Err(why) }) if self.strict => {
                    bail!("{} changed during the import: line {number}: {why}", self.path.display());
                }
                Some(Line { number, edge: Err(why) }) => bad.note(number, why),
                None => {}
            }
            if batch.len() == IMPORT_BATCH || (is_last && !batch.is_empty()) {
                let batch = mem::replace(&mut batch, Vec::with_capacity(IMPORT_BATCH));
                let begun = Instant::now();
                all += terrace_ops::import_follows(app, batch).await?;
                // A server on the same embedded database only polls for the write lock.
                tokio::time::sleep(begun.elapsed() / TURN).await;
                progress.show(self.list.bytes())?;
            }
            if is_last {
                break;
            }
        }
        progress.end()?;
        report::line(&summary(edges, &all, &bad))?;
        Ok(())
    }
}

fn summary(edges: u64, all: &Imported, bad: &BadLines) -> String {
    let Imported { fans, follows, duplicates, selves, left_out } = *all;
    let mut text = format!("{}: {fans} new fans, {follows} new follows", lines(edges + bad.count));
    for (count, what) in [
        (duplicates, "nothing new"),
        (selves, "self-follows"),
        (left_out, "skipped (a name is taken, or an account was closed)"),
        (bad.count, "bad"),
    ] {
        if count > 0 {
            text.extend(["\n", what, ": ", &lines(count)]);
        }
    }
    text + &bad.shown()
}

pub(crate) fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
