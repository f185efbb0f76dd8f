//! Reports as text and as JSON.

use serde_json::{Value, json};
use terrace_kernel::num;
use terrace_ops::reports::{
    ContentKind, CurrentText, Report, ReportFilter, ReportList, ReportedContent, ShownReports,
};

/// The length of a reason in a list, in characters.
const SHORT: usize = 40;

/// A list, with a header and the number of pages.
pub(super) fn list(list: &ReportList, filter: ReportFilter, limit: u32, page: u32) -> Vec<String> {
    let total = list.total;
    if total == 0 {
        return vec![match filter {
            ReportFilter::Undecided => "no report waits for a decision".to_owned(),
            ReportFilter::All => "there are no reports".to_owned(),
        }];
    }
    let mut lines = vec![row(["ID", "KIND", "REPORTS", "STATE", "LAST REPORT", "AUTHOR", "REASONS"])];
    lines.extend(list.content.iter().map(|content| {
        let ReportedContent { reports, undecided, .. } = content;
        let reports = match filter {
            ReportFilter::Undecided => reports.to_string(),
            ReportFilter::All => format!("{undecided} of {reports}"),
        };
        let reasons: Vec<String> = content.reasons.iter().map(|reason| shortened(reason)).collect();
        row([
            &content.content.id.to_string(),
            content.content.kind.as_str(),
            &reports,
            state(content),
            &content.last_at.to_string(),
            &content.author,
            &reasons.join(" | "),
        ])
    }));
    let pages = total.div_ceil(u64::from(limit));
    lines.push(format!("{total} reported posts and comments, page {page} of {pages}"));
    lines
}

fn row([id, kind, reports, state, last, author, reasons]: [&str; 7]) -> String {
    let row = format!("{id:<36}  {kind:<7}  {reports:<8}  {state:<7}  {last:<24}  {author:<16}  {reasons}");
    row.trim_end().to_owned()
}

fn state(content: &ReportedContent) -> &'static str {
    if content.exists { "exists" } else { "deleted" }
}

/// A text on one line.
fn on_one_line(text: &str) -> String {
    safe(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text on one line, cut to the length of a reason in a list.
fn shortened(text: &str) -> String {
    let line = on_one_line(text);
    match line.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// A text without characters that control a terminal or change the direction of a line.
fn safe(text: &str) -> String {
    let is_safe = |letter: char| {
        let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        matches!(letter, '\n' | '\t') || !(turns || letter.is_control())
    };
    text.chars().map(|letter| if is_safe(letter) { letter } else { '\u{fffd}' }).collect()
}

/// All that is known of a reported post or comment.
pub(super) fn shown(shown: &ShownReports) -> Vec<String> {
    let ShownReports { summary, current, post, reports } = shown;
    let ReportedContent { content, author, .. } = summary;
    let mut lines = vec![
        format!("{} {} by {author}, {}", content.kind.as_str(), content.id, state(summary)),
        format!(
            "{} reports, {} undecided, from {} to {}",
            summary.reports, summary.undecided, summary.first_at, summary.last_at
        ),
    ];
    if let Some(text) = current {
        push_text(&mut lines, &format!("the text now, {}:", times(text)), &text.body);
    }
    match (content.kind, post) {
        (ContentKind::Post, _) => {}
        (ContentKind::Comment, Some(text)) => {
            let head = format!("on the post {} by {}, {}:", content.post, text.author, times(text));
            push_text(&mut lines, &head, &text.body);
        }
        (ContentKind::Comment, None) => lines.push(format!("on the post {}, deleted", content.post)),
    }
    let mut printed = None;
    for report in reports {
        push_report(&mut lines, report, &mut printed);
    }
    let more = summary.reports.saturating_sub(num::to_u64(reports.len()));
    if more > 0 {
        lines.push(format!("and {more} more reports"));
    }
    lines
}

fn times(text: &CurrentText) -> String {
    match text.edited_at {
        Some(at) => format!("created {}, edited {at}", text.created_at),
        None => format!("created {}", text.created_at),
    }
}

fn push_text(lines: &mut Vec<String>, head: &str, text: &str) {
    lines.push(String::new());
    lines.push(head.to_owned());
    lines.extend(safe(text).lines().map(|line| format!("  {line}")));
}

/// Appends a report, with its text and picture if they differ from those that were `printed` last.
fn push_report<'r>(
    lines: &mut Vec<String>,
    report: &'r Report,
    printed: &mut Option<(&'r str, Option<String>)>,
) {
    let Report { reporter, reason, created_at, .. } = report;
    let decided =
        report.decided.map_or_else(String::new, |(decision, at)| format!(", {} {at}", decision.as_str()));
    push_text(lines, &format!("reported by {reporter} {created_at}{decided}:"), reason);
    let Some(body) = &report.body else { return };
    let picture = report.picture.as_ref().map(|picture| match &picture.alt {
        Some(alt) => format!("  with the picture {}: {}", picture.hash, on_one_line(alt)),
        None => format!("  with the picture {}", picture.hash),
    });
    if printed.as_ref() == Some(&(body.as_str(), picture.clone())) {
        return;
    }
    lines.push("  the text as reported:".to_owned());
    lines.extend(safe(body).lines().map(|line| format!("    {line}")));
    lines.extend(picture.clone());
    *printed = Some((body, picture));
}

/// A list as one JSON document.
pub(super) fn list_json(list: &ReportList, page: u32) -> anyhow::Result<Vec<String>> {
    let content: Vec<Value> = list.content.iter().map(summary_json).collect();
    document(&json!({"total": list.total, "page": page, "content": content}))
}

/// A reported post or comment as one JSON document.
pub(super) fn shown_json(shown: &ShownReports) -> anyhow::Result<Vec<String>> {
    let text = |text: &CurrentText| {
        json!({
            "author": text.author,
            "body": text.body,
            "createdAt": text.created_at.to_string(),
            "editedAt": text.edited_at.map(|at| at.to_string()),
        })
    };
    let mut document_of = summary_json(&shown.summary);
    if let Value::Object(fields) = &mut document_of {
        fields.insert("current".to_owned(), shown.current.as_ref().map_or(Value::Null, text));
        fields.insert("post".to_owned(), shown.post.as_ref().map_or(Value::Null, text));
        fields.insert("shown".to_owned(), shown.reports.iter().map(report_json).collect());
    }
    document(&document_of)
}

fn document(value: &Value) -> anyhow::Result<Vec<String>> {
    Ok(vec![serde_json::to_string_pretty(value)?])
}

fn summary_json(summary: &ReportedContent) -> Value {
    let content = summary.content;
    json!({
        "id": content.id.to_string(),
        "kind": content.kind.as_str(),
        "postId": content.post.to_string(),
        "author": {"id": content.author.to_string(), "username": summary.author},
        "exists": summary.exists,
        "reports": summary.reports,
        "undecided": summary.undecided,
        "reasons": summary.reasons,
        "firstAt": summary.first_at.to_string(),
        "lastAt": summary.last_at.to_string(),
    })
}

fn report_json(report: &Report) -> Value {
    json!({
        "reporter": report.reporter,
        "reason": report.reason,
        "body": report.body,
        "picture": report.picture.as_ref().map(|picture| {
            json!({"hash": picture.hash.to_string(), "alt": picture.alt})
        }),
        "createdAt": report.created_at.to_string(),
        "decision": report.decided.map(|(decision, _)| decision.as_str()),
        "decidedAt": report.decided.map(|(_, at)| at.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_fans_do_not_control_the_terminal() {
        assert_eq!(shortened("Spam\n\tagain"), "Spam again");
        assert_eq!(safe("a\u{1b}[2Jb\u{202e}c\n"), "a\u{fffd}[2Jb\u{fffd}c\n");
        assert_eq!(shortened(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
        assert_eq!(shortened(&"é".repeat(40)), "é".repeat(40));
    }
}
