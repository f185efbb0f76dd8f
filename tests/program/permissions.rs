//! The files of the program can be read only by the account that it runs as.

use anyhow::{Context, Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use terrace_testkit::Invocation;

/// Everything under a folder, the folder too.
fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(all(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

fn mode(path: &Path) -> Result<u32> {
    Ok(fs::metadata(path).with_context(|| path.display().to_string())?.permissions().mode() & 0o777)
}

fn others_read_nothing(folder: &Path) -> Result<()> {
    for path in all(folder)? {
        let mode = mode(&path)?;
        ensure!(mode.trailing_zeros() >= 6, "{} is {mode:o}", path.display());
    }
    Ok(())
}

#[test]
fn files_of_the_program_are_for_its_account_alone() -> Result<()> {
    let invocation = Invocation::new()?.without_env("DATABASE_URL");
    let data = invocation.folder().join("data");
    let mut program = invocation.serve()?;
    program.client().register("mia");
    ensure!(data.join("terrace.db-wal").exists(), "the log of the database is part of it");
    others_read_nothing(&data)?;
    invocation.clone().args(["backup", "copy.db"]).run()?.succeeded()?;
    program.stop()?;
    assert_eq!(mode(&invocation.folder().join("copy.db"))?, 0o600);
    invocation.clone().args(["restore", "copy.db", "--force"]).run()?.succeeded()?;
    others_read_nothing(&data)
}

#[test]
fn wider_permissions_are_narrowed_and_reported_by_the_doctor() -> Result<()> {
    let invocation = Invocation::new()?.without_env("DATABASE_URL");
    let data = invocation.folder().join("data");
    invocation.serve()?.stop()?;
    let widen = || -> Result<()> {
        for path in [data.clone(), data.join("media")] {
            fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        for name in ["terrace.db", "secret"] {
            fs::set_permissions(data.join(name), Permissions::from_mode(0o644))?;
        }
        Ok(())
    };
    let said = |subject: &str| -> Result<Vec<String>> {
        let said = invocation.clone().args(["doctor"]).run()?.said;
        Ok(said.lines().filter(|line| line.contains(subject)).map(str::to_owned).collect())
    };
    widen()?;
    let warned = said("permissions")?;
    assert_eq!(warned.len(), 4, "{warned:?}");
    for command in ["chmod 700 data", "chmod 600 data/terrace.db", "chmod 600 data/secret"] {
        ensure!(warned.iter().any(|line| line.ends_with(command)), "{warned:?}");
    }
    invocation.serve()?.stop()?;
    others_read_nothing(&data)?;
    ensure!(said("permissions")?.iter().all(|line| line.starts_with("ok")), "{:?}", said("permissions")?);

    // The program does not close a folder with other files in it; it does close its own files there.
    fs::write(data.join("of-another"), "x")?;
    widen()?;
    invocation.serve()?.stop()?;
    assert_eq!((mode(&data)?, mode(&data.join("terrace.db"))?), (0o755, 0o600));
    Ok(())
}
