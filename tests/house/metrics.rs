//! The dashboard for Grafana (`docs/deploy/grafana.json`) asks for metrics that the service has, with labels that they have.

use super::files::{root, texts};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const DASHBOARD: &str = "docs/deploy/grafana.json";
const PAGE: &str = "docs/operations/monitoring.md";
/// Labels that Prometheus adds, and that of the buckets of a histogram.
const ADDED: [&str; 2] = ["instance", "le"];
/// The suffixes of the series of a histogram.
const SERIES: [&str; 3] = ["_bucket", "_sum", "_count"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
}

fn is_metric(word: &str) -> bool {
    word.starts_with("terrace_") || word.starts_with("http_")
}

/// The metrics of the page, each with its labels.
fn documented() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let table = page.split("| Metric | Labels | Meaning |").nth(1).context("the table is elsewhere")?;
    let mut metrics = BTreeMap::new();
    for row in table.lines().skip(1).take_while(|line| line.is_empty() || line.starts_with('|')) {
        let mut cells = row.split('|').skip(1);
        let (Some(names), Some(labels)) = (cells.next(), cells.next()) else { continue };
        let labels: BTreeSet<String> = labels.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        metrics.extend(
            words(names).filter(|word| is_metric(word)).map(|name| (name.to_owned(), labels.clone())),
        );
    }
    ensure!(metrics.len() > 40, "the table is elsewhere");
    Ok(metrics)
}

/// The metrics that the service records, and which of them are histograms.
fn recorded() -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let (mut all, mut histograms) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in texts("crates", &[".rs"])? {
        if path.starts_with("crates/bench") || path.contains("/tests") {
            continue;
        }
        let literals = text.split('"').skip(1).step_by(2);
        all.extend(literals.filter(|text| is_metric(text)).map(str::to_owned));
        for made in text.split("histogram!(").skip(1) {
            let name = made.split('"').nth(1).unwrap_or_default();
            histograms.extend(is_metric(name).then(|| name.to_owned()));
        }
    }
    ensure!(histograms.len() > 5, "metrics are recorded otherwise");
    Ok((all, histograms))
}

fn dashboard() -> Result<Value> {
    let text = fs::read_to_string(root().join(DASHBOARD))?;
    serde_json::from_str(&text).context(DASHBOARD)
}

fn expressions(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    targets.filter_map(|target| target["expr"].as_str()).collect()
}

/// The metric of a series: of a histogram without the suffix.
fn metric<'s>(series: &'s str, histograms: &BTreeSet<String>) -> &'s str {
    let stems = SERIES.iter().filter_map(|suffix| series.strip_suffix(suffix));
    stems.into_iter().find(|stem| histograms.contains(*stem)).unwrap_or(series)
}

/// The labels that an expression selects or groups by.
fn labels(expression: &str) -> BTreeSet<&str> {
    let selected = expression.split(['{', ',']).filter_map(|part| {
        let name = part.trim().split(['=', '!']).next().filter(|name| name.len() < part.trim().len())?;
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_').then_some(name)
    });
    let grouped = expression.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
    selected
        .chain(grouped.flat_map(|list| list.split(',').map(str::trim)))
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_exist() -> Result<()> {
    let (documented, (recorded, histograms), dashboard) = (documented()?, recorded()?, dashboard()?);
    let mut asked = BTreeSet::new();
    for expression in expressions(&dashboard) {
        let series: Vec<&str> = words(expression).filter(|word| is_metric(word)).collect();
        assert!(!series.is_empty(), "{expression} asks for no metric");
        for series in series {
            let name = metric(series, &histograms);
            assert!(recorded.contains(name), "nothing records {name}: {expression}");
            let known = documented.get(name).with_context(|| format!("{PAGE} has no {name}"))?;
            assert_eq!(name != series, histograms.contains(name), "{series} of {name}: {expression}");
            let unknown: Vec<_> = labels(expression)
                .into_iter()
                .filter(|label| !ADDED.contains(label) && !known.contains(*label))
                .collect();
            assert!(unknown.is_empty(), "{name} has no label {unknown:?}: {expression}");
            asked.insert(name.to_owned());
        }
    }
    ensure!(asked.len() > 40, "panels ask otherwise");
    Ok(())
}

#[test]
fn every_documented_metric_is_recorded() -> Result<()> {
    let (documented, (recorded, _)) = (documented()?, recorded()?);
    let unknown: Vec<_> = documented.keys().filter(|name| !recorded.contains(*name)).collect();
    assert!(unknown.is_empty(), "nothing records {unknown:?}");
    Ok(())
}

#[test]
fn panels_have_ids_of_their_own_and_do_not_overlap() -> Result<()> {
    let dashboard = dashboard()?;
    let panels = dashboard["panels"].as_array().context("no panels")?;
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].to_string()).collect();
    assert_eq!(ids.len(), panels.len());
    let mut cells = BTreeSet::new();
    for panel in panels {
        let [x, y, w, h] =
            ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap_or_default());
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(cells.insert(cell) && cell.0 < 24, "{} lies on another panel", panel["title"]);
        }
    }
    Ok(())
}

#[test]
fn labels_of_an_expression_are_found() {
    let expression = r#"topk(3, sum by (route, le) (rate(http_requests_total{instance=~"$instance", status!="200"}[5m])))"#;
    assert_eq!(labels(expression), ["instance", "le", "route", "status"].into());
    let histograms = ["a_seconds".to_owned()].into();
    assert_eq!(metric("a_seconds_bucket", &histograms), "a_seconds");
    assert_eq!(metric("b_count", &histograms), "b_count");
}
