//! What the minter reports back, and how it is applied.

use crate::App;
use crate::payments::{Header, NoticeFault, is_name};
use crate::platform::webhooks::{SIGNATURE_HEADER, WebhookSecret};
use crate::store::minting::{MintReport, MintReportOutcome, MintReportWrite};
use crate::store::{Command, into_infallible};
use serde::Deserialize;
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use terrace_packs::{MintedToken, OwnedId, ReportStatus, reported};

/// The field that decides whether a message concerns a copy.
#[derive(Deserialize)]
struct Head {
    status: String,
}

/// The body of a report. Other fields are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    event_id: String,
    owned_id: String,
    network: Option<String>,
    contract: Option<String>,
    token_id: Option<String>,
    transaction_id: Option<String>,
}

/// Verifies the signature of a message, and parses it then; `None` for a status that is not known here.
///
/// # Errors
///
/// If the message is not signed with the secret, or cannot be read.
pub fn read_signed_report(
    secret: &WebhookSecret,
    header: Header<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<Option<MintReport>, NoticeFault> {
    let signature = header(SIGNATURE_HEADER).ok_or(NoticeFault::Unsigned)?;
    secret.verify(signature, body, now)?;
    read_report(body)
}

fn read_report(body: &[u8]) -> Result<Option<MintReport>, NoticeFault> {
    let malformed = |what: &str| NoticeFault::Malformed(what.to_owned());
    let parsed = |error: serde_json::Error| NoticeFault::Malformed(error.to_string());
    let Head { status } = serde_json::from_slice(body).map_err(parsed)?;
    let Ok(status) = status.parse::<ReportStatus>() else { return Ok(None) };
    let message: Message = serde_json::from_slice(body).map_err(parsed)?;
    if !is_name(&message.event_id) {
        return Err(malformed("eventId is 1 to 255 visible ASCII characters"));
    }
    let owned: OwnedId = message.owned_id.parse().map_err(|_| malformed("ownedId is an id"))?;
    let Message { network, contract, token_id, transaction_id, .. } = message;
    let token = match (network, contract, token_id, transaction_id) {
        (Some(network), Some(contract), Some(token), Some(transaction)) => {
            let token = MintedToken::new(&network, &contract, &token, &transaction);
            Some(token.map_err(|error| NoticeFault::Malformed(error.to_string()))?)
        }
        _ if status == ReportStatus::Minted => {
            return Err(malformed("a minted token has a network, a contract, a tokenId and a transactionId"));
        }
        _ => None,
    };
    Ok(Some(MintReport { event_id: message.event_id, owned, status, token }))
}

/// The outcome of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportTaken {
    /// The copy's token changed.
    Applied,
    /// No change was necessary.
    Nothing,
    /// The same event was received before; nothing changed.
    Before,
    /// It fits no copy, another token is known, or the event was received before with other content; it is kept.
    Mismatch,
}

impl ReportTaken {
    /// Stable name, as used in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Nothing => "nothing",
            Self::Before => "before",
            Self::Mismatch => "mismatch",
        }
    }
}

/// Applies a report at most once, in the transaction that also stores it.
struct TakeMintReport {
    report: MintReport,
}

impl Command for TakeMintReport {
    const NAME: &'static str = "take_mint_report";
    type Ports = dyn MintReportWrite;
    type Output = ReportTaken;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MintReportWrite, ctx: &mut Ctx) -> Outcome<ReportTaken, Infallible> {
        let report = &self.report;
        // The lock keeps two reports of a copy in order.
        let state = tx.lock_token(report.owned)?;
        let decision = match &state {
            Some(state) => reported(state, report.status, report.token.as_ref()).map_err(drop),
            None => Err(()),
        };
        let outcome = match &decision {
            Ok(Some(_)) => MintReportOutcome::Applied,
            Ok(None) => MintReportOutcome::Nothing,
            Err(()) => MintReportOutcome::Mismatch,
        };
        if !tx.insert_mint_report(report, outcome, ctx.now())? {
            let before = tx.mint_report(&report.event_id)?.ok_or_else(|| {
                StoreError::defect("take a report", "a report that was received before is gone")
            })?;
            return Ok(if before == *report { ReportTaken::Before } else { ReportTaken::Mismatch });
        }
        Ok(match decision {
            Ok(Some(state)) => {
                tx.put_token(report.owned, &state)?;
                ReportTaken::Applied
            }
            Ok(None) => ReportTaken::Nothing,
            Err(()) => ReportTaken::Mismatch,
        })
    }
}

impl App {
    /// Verifies and parses a message from the minter. The outer `None` means that there is no minter, the inner one that
    /// the status is not known here.
    ///
    /// # Errors
    ///
    /// Why the message is rejected.
    pub fn read_mint_report(
        &self,
        header: Header<'_>,
        body: &[u8],
    ) -> Option<Result<Option<MintReport>, NoticeFault>> {
        Some(self.minter.as_ref()?.read_report(header, body, self.now()))
    }

    /// Applies a verified report.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn take_mint_report(&self, report: MintReport) -> Result<ReportTaken, StoreError> {
        let status = report.status.as_str();
        let taken = into_infallible(self.execute(TakeMintReport { report }).await)?;
        metrics::counter!("terrace_mint_reports_total", "status" => status, "outcome" => taken.as_str())
            .increment(1);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNED: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

    fn read(body: &str) -> Result<Option<MintReport>, NoticeFault> {
        read_report(body.as_bytes())
    }

    #[test]
    fn reports_are_read_and_other_messages_are_refused_or_ignored() {
        let minted = format!(
            r#"{{"eventId":"e1","ownedId":"{OWNED}","status":"minted","network":"polygon","contract":"0xab","tokenId":"7","transactionId":"0x1","gas":3}}"#
        );
        let report = read(&minted).unwrap().unwrap();
        assert_eq!((report.status, report.event_id.as_str()), (ReportStatus::Minted, "e1"));
        assert_eq!(report.token.map(|token| token.token_id).as_deref(), Some("7"));
        let failed = read(&format!(r#"{{"eventId":"e2","ownedId":"{OWNED}","status":"failed"}}"#));
        assert_eq!(failed.unwrap().unwrap().token, None);
        assert_eq!(read(r#"{"status":"pending"}"#), Ok(None), "a status of a newer minter");
        for wrong in [
            String::new(),
            "[]".to_owned(),
            "{}".to_owned(),
            minted.replace(r#""tokenId":"7","#, ""),
            minted.replace(OWNED, "7"),
            minted.replace(r#""e1""#, r#""""#),
            minted.replace(r#""e1""#, &format!(r#""{}""#, "x".repeat(256))),
            minted.replace("0xab", "0x ab"),
            minted.replace("0xab", &"x".repeat(129)),
            minted.replace(r#""7""#, "7"),
        ] {
            assert!(matches!(read(&wrong), Err(NoticeFault::Malformed(_))), "{wrong}");
        }
    }
}
