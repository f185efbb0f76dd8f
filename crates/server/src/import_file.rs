//! Files that are imported line by line, in batches.

use crate::progress::Progress;
use anyhow::Context;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use terrace_ops::{FileLine, Line, Lines, yield_to_writers};

/// Cache size of an embedded database during the import, in KiB. Follows are inserted at random places of their
/// indexes, and a page outside the cache is read and written again for each of them.
pub(crate) const CACHE_KIB: u32 = 262_144;
/// Threshold for the slow-query log: statements that write thousands of rows take longer than usual.
pub(crate) const SLOW: Duration = Duration::from_secs(10);

/// A file whose beginning is valid.
pub(crate) struct ImportFile<T> {
    path: PathBuf,
    lines: Lines<BufReader<File>, T>,
    size: u64,
}

impl<T: FileLine> ImportFile<T> {
    /// Opens a file; `begin` reads its header, if it has one.
    pub(crate) fn open<E: std::error::Error + Send + Sync + 'static>(
        path: &Path,
        begin: impl FnOnce(BufReader<File>) -> Result<Lines<BufReader<File>, T>, E>,
    ) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| cannot_read(path))?;
        let size = file.metadata().with_context(|| cannot_read(path))?.len();
        let lines = begin(BufReader::with_capacity(1 << 16, file)).with_context(|| cannot_read(path))?;
        Ok(Self { path: path.to_owned(), lines, size })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next line that is not blank; `None` at the end.
    pub(crate) fn next_line(&mut self) -> anyhow::Result<Option<Line<T>>> {
        self.lines.next_line().with_context(|| cannot_read(&self.path))
    }

    /// Imports all lines, up to `size` at once, and shows the progress.
    pub(crate) async fn import(
        mut self,
        size: usize,
        mut import: impl AsyncFnMut(Vec<Line<T>>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut progress = Progress::new(self.size);
        loop {
            let mut batch = Vec::with_capacity(size);
            while batch.len() < size
                && let Some(line) = self.next_line()?
            {
                batch.push(line);
            }
            if batch.is_empty() {
                return Ok(progress.end()?);
            }
            let begun = Instant::now();
            import(batch).await?;
            yield_to_writers(begun.elapsed()).await;
            progress.show(self.lines.bytes())?;
        }
    }
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

/// A number of lines as text.
pub(crate) fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
