//! `terrace report`: the figures of a period, while servers run.

use crate::database::{open_with, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::{anyhow, ensure};
use clap::{Args, ValueEnum};
use std::process::ExitCode;
use std::time::Duration;
use terrace_app::App;
use terrace_kernel::{Failure, Timestamp};
use terrace_ops::operator_report::{Figure, OperatorReport, ReadOperatorReport, UnknownTeam};

/// How long a statement of a report may take on PostgreSQL. It aggregates the whole journal.
const LONGEST_STATEMENT: Duration = Duration::from_hours(1);

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for the terminal.
    Text,
    /// The columns section, item, unit, opening, amount and closing.
    Csv,
    /// One object.
    Json,
}

/// The period of a report, and its form.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ReportArgs {
    /// The first instant of the period: a date in UTC or an RFC 3339 time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    from: Timestamp,
    /// The first instant after the period; now by default.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    to: Option<Timestamp>,
    /// The key of a team: only fans whose favourite team it is now.
    #[arg(long, value_name = "KEY")]
    team: Option<String>,
    /// The form of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A date means its first instant in UTC.
fn instant(text: &str) -> Result<Timestamp, String> {
    let is_date = text.len() == 10;
    let full = if is_date { format!("{text}T00:00:00Z") } else { text.to_owned() };
    full.parse().map_err(|_| "neither a date such as 2026-05-01 nor an RFC 3339 time".to_owned())
}

/// Reads the report and prints it.
pub(crate) async fn report(arguments: ReportArgs, settings: Settings) -> anyhow::Result<ExitCode> {
    let mut config = settings.storage()?;
    config.statement_timeout = LONGEST_STATEMENT;
    let storage = open_with(config)?;
    let app = ready_app(&settings, &storage).await?;
    let read = read(&app, &arguments).await;
    storage.close();
    let report = read?;
    match arguments.format {
        Format::Text => text(&report).iter().try_for_each(|line| report::line(line))?,
        Format::Csv => csv(&report).iter().try_for_each(|line| report::line(line))?,
        Format::Json => report::line(&serde_json::to_string_pretty(&report)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn read(app: &App, arguments: &ReportArgs) -> anyhow::Result<OperatorReport> {
    let (from, to) = (arguments.from, arguments.to.unwrap_or_else(|| app.now()));
    ensure!(from <= to, "the period ends before it begins");
    let team = arguments.team.clone();
    app.query(ReadOperatorReport { from, to, team }).await.map_err(|failure| match failure {
        Failure::Refused(UnknownTeam) => {
            anyhow!("there is no team {:?}", arguments.team.as_deref().unwrap_or_default())
        }
        Failure::Broken(error) => error.into(),
    })
}

fn text(report: &OperatorReport) -> Vec<String> {
    let mut lines = vec![format!("from {} to {} (excluded)", report.from, report.to)];
    if let Some(team) = &report.team {
        lines.push(format!("fans of the team {team} only"));
    }
    lines.extend(report.not_attributed.map(ToOwned::to_owned));
    let mut section = "";
    for figure in &report.figures {
        if figure.section != section {
            section = figure.section;
            lines.extend([String::new(), section.to_owned()]);
        }
        let Figure { item, unit, opening, amount, closing, .. } = figure;
        let line = format!("  {item:<40} {amount:>16} {unit}");
        lines.push(match (opening, closing) {
            (Some(opening), Some(closing)) => format!("{line}, from {opening} to {closing}"),
            _ => line,
        });
    }
    lines
}

/// No field contains a comma, a quotation mark or a line break.
fn csv(report: &OperatorReport) -> Vec<String> {
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let row = |figure: &Figure| {
        let Figure { section, item, unit, opening, amount, closing } = figure;
        format!("{section},{item},{unit},{},{amount},{}", number(*opening), number(*closing))
    };
    let header = "section,item,unit,opening,amount,closing".to_owned();
    std::iter::once(header).chain(report.figures.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_instants() {
        let may: Timestamp = "2026-05-01T00:00:00Z".parse().unwrap();
        assert_eq!(instant("2026-05-01"), Ok(may));
        assert_eq!(instant("2026-05-01T02:00:00+02:00"), Ok(may));
        for wrong in ["", "yesterday", "2026-13-01", "2026-05-01T00:00"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_report_is_a_table_and_a_file() {
        let figure = |section, opening: Option<i64>, closing| Figure {
            section,
            item: "fans".to_owned(),
            unit: "points".to_owned(),
            opening,
            amount: 5,
            closing,
        };
        let figures = vec![figure("accounts", Some(2), Some(7)), figure("movements", None, None)];
        let report = OperatorReport {
            from: "a".to_owned(),
            to: "b".to_owned(),
            team: None,
            not_attributed: None,
            figures,
        };
        let rows = [
            "section,item,unit,opening,amount,closing",
            "accounts,fans,points,2,5,7",
            "movements,fans,points,,5,",
        ];
        assert_eq!(csv(&report), rows);
        let table = text(&report).join("\n");
        assert!(
            table.contains("\n\naccounts\n  fans ") && table.contains("5 points, from 2 to 7"),
            "{table}"
        );
    }
}
