//! `terrace verify`: checks the result of a pack opening or of a spin, or the proof of a round, from its response alone.

use crate::machine::runtime;
use crate::report;
use anyhow::{Context, ensure};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use terrace_outbound::{Caller, Endpoint};
use terrace_web::{is_round_proof, is_spin, verify_opening, verify_round_response, verify_spin_response};

/// Maximum size in bytes of a response: a thousand collectibles in each of twenty slots fit.
const LARGEST: u64 = 16 << 20;
/// How long fetching a response may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Recomputes the draw in a file, at a URL, or on standard input for `-`; exit code 1 if the draw does not match the
/// response.
pub(crate) fn verify(place: &OsStr) -> anyhow::Result<ExitCode> {
    let text = if place == "-" {
        read(std::io::stdin().lock()).context("cannot read the standard input")?
    } else if let Some(address) = address(place) {
        fetch(address?).with_context(|| format!("cannot fetch {}", place.display()))?
    } else {
        let file = Path::new(place);
        let opened = fs::File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
        read(opened).with_context(|| format!("cannot read {}", file.display()))?
    };
    if is_spin(&text) {
        return verify_spin(&text);
    }
    if is_round_proof(&text) {
        return verify_round(&text);
    }
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
    report::line("the draw is correct; compare serverSeedHash with that of the purchase")?;
    Ok(ExitCode::SUCCESS)
}

fn verify_spin(text: &str) -> anyhow::Result<ExitCode> {
    match verify_spin_response(text) {
        Ok(segment) => {
            report::line(&format!("segment {segment}"))?;
            report::line(
                "the draw is correct; compare serverSeedHash with the one that was shown before the spin",
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            report::line(&format!("wrong: {fault}"))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn verify_round(text: &str) -> anyhow::Result<ExitCode> {
    match verify_round_response(text) {
        Ok(rights) => {
            for (question, right) in rights {
                report::line(&format!("{question} {right}"))?;
            }
            report::line(
                "the proof is correct; compare the commitment with the one that was shown before the round",
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            report::line(&format!("wrong: {fault}"))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The URL, if `place` is one and not a file name.
fn address(place: &OsStr) -> Option<anyhow::Result<Endpoint>> {
    let text = place.to_str()?;
    let is_one = ["http://", "https://"]
        .iter()
        .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    is_one.then(|| text.parse().with_context(|| format!("{text} is no address")))
}

fn fetch(from: Endpoint) -> anyhow::Result<String> {
    let body = runtime()?.block_on(Caller::new(PATIENCE).fetch(from, LARGEST))?;
    Ok(String::from_utf8(body)?)
}

fn read(from: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(LARGEST + 1).read_to_string(&mut text)?;
    ensure!(u64::try_from(text.len()).is_ok_and(|length| length <= LARGEST), "more than {LARGEST} bytes");
    Ok(text)
}
