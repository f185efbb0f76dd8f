//! `terrace verify`: whether a pack gave what its answer says, from the answer alone.

use crate::report;
use anyhow::{Context, ensure};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use terrace_web::verify_opening;

/// The largest answer that is read: a thousand collectibles in each of twenty slots fit.
const LARGEST: u64 = 16 << 20;

/// Recomputes the draw in a file, or on the standard input where it is `-`; 1 where it is not what it is said to be.
pub(crate) fn verify(file: &Path) -> anyhow::Result<ExitCode> {
    let text = if file == Path::new("-") {
        read(std::io::stdin().lock()).context("cannot read the standard input")?
    } else {
        let opened = fs::File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
        read(opened).with_context(|| format!("cannot read {}", file.display()))?
    };
    let slots = match verify_opening(&text) {
        Ok(slots) => slots,
        Err(fault) => {
            report::line(&format!("wrong: {fault}"))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    for (number, slot) in slots.iter().enumerate() {
        let name = slot.name.clone().unwrap_or_else(|| slot.collectible.to_string());
        let serial = slot.serial.map(|serial| format!(", no. {serial}")).unwrap_or_default();
        report::line(&format!("slot {number}: {}, {name}{serial}", slot.rarity))?;
    }
    report::line("the draw is what it is said to be; compare serverSeedHash with that of the purchase")?;
    Ok(ExitCode::SUCCESS)
}

fn read(from: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(LARGEST + 1).read_to_string(&mut text)?;
    ensure!(u64::try_from(text.len()).is_ok_and(|length| length <= LARGEST), "more than {LARGEST} bytes");
    Ok(text)
}
