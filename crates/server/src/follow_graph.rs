//! `terrace seed --follow-graph FILE`: imports an edge list in batches and shows the progress.

use crate::import_file::{ImportFile, lines};
use crate::report;
use anyhow::bail;
use std::path::Path;
use terrace_app::App;
use terrace_kernel::num;
use terrace_ops::{Edge, IMPORT_BATCH, Imported, Line, LineFaults, Lines};

/// An edge list whose beginning is valid, and of which nothing is imported yet.
pub(crate) struct GraphFile {
    file: ImportFile<Edge>,
    strict: bool,
}

/// Opens an edge list. A strict one is read to its end first, so that nothing is imported from a file with bad
/// lines.
pub(crate) fn open(path: &Path, strict: bool) -> anyhow::Result<GraphFile> {
    if strict {
        let mut bad = LineFaults::default();
        let mut file = ImportFile::open(path, Lines::after_header)?;
        while let Some(Line { number, content }) = file.next_line()? {
            if let Err(why) = content {
                bad.note(number, why);
            }
        }
        if bad.count() > 0 {
            let (name, lines, shown) = (path.display(), lines(bad.count()), bad.text("line ").join("\n"));
            bail!("{name} has {lines} that cannot be read; nothing was imported\n{shown}");
        }
    }
    Ok(GraphFile { file: ImportFile::open(path, Lines::after_header)?, strict })
}

impl GraphFile {
    /// Imports all edges and prints a summary.
    pub(crate) async fn bring_in(self, app: &App) -> anyhow::Result<()> {
        let Self { file, strict } = self;
        let name = file.path().display().to_string();
        let (mut bad, mut all, mut edges) = (LineFaults::default(), Imported::default(), 0_u64);
        let import = async |batch: Vec<Line<Edge>>| {
            let mut good = Vec::with_capacity(batch.len());
            for Line { number, content } in batch {
                match content {
                    Ok(edge) => good.push(edge),
                    Err(why) if strict => {
                        bail!("{name} changed during the import: line {number}: {why}");
                    }
                    Err(why) => bad.note(number, why),
                }
            }
            edges += num::to_u64(good.len());
            if good.is_empty() {
                return Ok(());
            }
            all += terrace_ops::import_follows(app, good).await?;
            Ok(())
        };
        file.import(IMPORT_BATCH, import).await?;
        report::line(&summary(edges, &all, &bad))?;
        Ok(())
    }
}

fn summary(edges: u64, all: &Imported, bad: &LineFaults) -> String {
    let Imported { fans, follows, duplicates, selves, left_out } = *all;
    let mut text = vec![format!("{}: {fans} new fans, {follows} new follows", lines(edges + bad.count()))];
    for (count, what) in [
        (duplicates, "nothing new"),
        (selves, "self-follows"),
        (left_out, "skipped (a name is taken, or an account was closed)"),
        (bad.count(), "bad"),
    ] {
        if count > 0 {
            text.push(format!("{what}: {}", lines(count)));
        }
    }
    text.extend(bad.text("line "));
    text.join("\n")
}
