//! `terrace claim`: claims of rewards and the codes of pools, while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::secret::{self, check_secret};
use crate::settings::Settings;
use anyhow::{Context, anyhow, bail};
use clap::Subcommand;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;
use terrace_app::App;
use terrace_app::rewards::{
    AddCodes, ClaimId, ClaimStatus, Code, CodesAdded, ListClaims, RevokeClaim, ShownClaim,
};
use terrace_kernel::{Failure, Limit};

/// The largest file of codes, in bytes.
const LARGEST: u64 = 64 << 20;
/// Number of codes in one transaction.
const PORTION: usize = 500;

/// The commands for claims.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ClaimCommand {
    /// List claims, the newest first, without their codes.
    List {
        /// Only claims of the reward with this key.
        #[arg(long, value_name = "KEY")]
        reward: Option<String>,
        /// Only claims in this state: issued, used, expired or revoked.
        #[arg(long, value_parser = status)]
        status: Option<ClaimStatus>,
        /// The number of claims.
        #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(i64).range(1..=100))]
        limit: i64,
    },
    /// Revoke a claim whose code was not used; the fan has the cost back.
    Revoke {
        /// The id of the claim.
        #[arg(value_parser = id)]
        claim: ClaimId,
        /// Return nothing: the claim still counts towards the limit of the fan.
        #[arg(long)]
        keep_cost: bool,
    },
    /// Add codes to the pool of a reward: one on each line. Codes that exist are skipped.
    AddCodes {
        /// The key of the reward.
        reward: String,
        /// The file, or `-` for standard input.
        #[arg(value_name = "FILE")]
        file: OsString,
    },
}

fn status(text: &str) -> Result<ClaimStatus, String> {
    text.parse().map_err(|_| "no state of a claim".to_owned())
}

fn id(text: &str) -> Result<ClaimId, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(crate) async fn claim(command: ClaimCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let codes = match &command {
        ClaimCommand::AddCodes { file, .. } => Some(read_codes(file)?),
        ClaimCommand::List { .. } | ClaimCommand::Revoke { .. } => None,
    };
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = match codes {
        // Codes are encrypted under the service's secret.
        Some(codes) => add_as_service(app, &settings, command, codes).await,
        None => run(&app, command, Vec::new()).await,
    };
    storage.close();
    for line in done? {
        report::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn add_as_service(
    app: App,
    settings: &Settings,
    command: ClaimCommand,
    codes: Vec<Code>,
) -> anyhow::Result<Vec<String>> {
    let app = app.with_secret(&secret::read(settings)?);
    check_secret(&app, settings).await?;
    run(&app, command, codes).await
}

async fn run(app: &App, command: ClaimCommand, codes: Vec<Code>) -> anyhow::Result<Vec<String>> {
    match command {
        ClaimCommand::List { reward, status, limit } => list(app, reward, status, limit).await,
        ClaimCommand::Revoke { claim, keep_cost } => {
            match app.execute(RevokeClaim { claim, returns: !keep_cost }).await {
                Ok(revoked) => Ok(vec![match (revoked.cost, revoked.is_returned) {
                    (Some(cost), true) => {
                        format!("{claim}: revoked, {} {} returned", cost.amount, cost.kind)
                    }
                    (Some(_), false) => format!("{claim}: revoked, nothing returned"),
                    (None, _) => format!("{claim}: revoked"),
                }]),
                Err(Failure::Refused(refusal)) => bail!("{claim}: {refusal}; nothing was changed"),
                Err(Failure::Broken(error)) => Err(error.into()),
            }
        }
        ClaimCommand::AddCodes { reward, .. } => add(app, &reward, &codes).await,
    }
}

async fn list(
    app: &App,
    reward: Option<String>,
    status: Option<ClaimStatus>,
    limit: i64,
) -> anyhow::Result<Vec<String>> {
    let book = app.reward_book().await?;
    let reward = match &reward {
        None => None,
        Some(key) => {
            let found = book.rewards().iter().find(|reward| reward.key.as_str() == key);
            Some(found.with_context(|| format!("{key}: there is no such reward"))?.id)
        }
    };
    let limit = Limit::new(limit).map_err(|error| anyhow!("{error}"))?;
    let list = ListClaims { user: None, reward, status, limit, after: None, cipher: None };
    let page = match app.query(list).await {
        Ok(page) => page,
        Err(Failure::Refused(never)) => match never {},
        Err(Failure::Broken(error)) => return Err(error.into()),
    };
    let line = |shown: &ShownClaim| {
        let claim = &shown.claim;
        let key =
            book.reward(claim.reward).map_or_else(|| claim.reward.to_string(), |one| one.key.to_string());
        let used = claim.used_at.map(|at| format!(", used at {at}")).unwrap_or_default();
        format!("{} {key} {} by {} at {}{used}", claim.id, claim.status, claim.user, claim.created_at)
    };
    let mut lines: Vec<_> = page.items.iter().map(line).collect();
    if page.next.is_some() {
        lines.push("there are more".to_owned());
    }
    Ok(lines)
}

/// Reads codes, one on each line; empty lines are skipped. No message repeats a code.
fn read_codes(file: &OsString) -> anyhow::Result<Vec<Code>> {
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().take(LARGEST).read_to_string(&mut text)
    } else {
        File::open(file).and_then(|opened| opened.take(LARGEST).read_to_string(&mut text))
    };
    let name = file.to_string_lossy();
    let length = read.with_context(|| format!("cannot read {name}"))?;
    if u64::try_from(length).is_ok_and(|length| length >= LARGEST) {
        bail!("{name} is larger than {} MiB; nothing was changed", LARGEST >> 20);
    }
    let lines = text.lines().zip(1_usize..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(line, number)| {
            Code::parse(line).map_err(|error| anyhow!("{name}:{number}: {error}; nothing was changed"))
        })
        .collect()
}

async fn add(app: &App, reward: &str, codes: &[Code]) -> anyhow::Result<Vec<String>> {
    let mut all = CodesAdded { added: 0, known: 0 };
    for codes in codes.chunks(PORTION) {
        let command =
            AddCodes { reward: reward.to_owned(), codes: codes.to_vec(), cipher: app.code_cipher()? };
        match app.execute(command).await {
            Ok(CodesAdded { added, known }) => {
                all = CodesAdded { added: all.added + added, known: all.known + known };
            }
            Err(Failure::Refused(refusal)) => bail!("{reward}: {refusal}; {} codes were added", all.added),
            Err(Failure::Broken(error)) => {
                return Err(error).with_context(|| format!("{} codes were added; run it again", all.added));
            }
        }
    }
    Ok(vec![format!("{reward}: {} codes added, {} skipped that exist", all.added, all.known)])
}
