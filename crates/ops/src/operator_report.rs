//! The report of a period for operators, from the journal and the tables in one state of the database.
//!
//! Every amount comes from the journal, so that the parts add up: of each account, the opening balance and the change come
//! to the closing balance, and all accounts of a unit come to zero.

use serde::Serialize;
use std::collections::BTreeMap;
use terrace_games::Wheel;
use terrace_kernel::{Failure, GrantKind, Outcome, PriceKind, TeamId, Timestamp, num};
use terrace_ledger::{AccountKind, House};
use terrace_store::operator_report::{Flow, ReportScope, SpinFigures};
use terrace_store::{OpsReadTx, Query};

/// Reads the report of a period.
#[derive(Debug, Clone)]
pub struct ReadOperatorReport {
    /// The first instant of the period.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// The key of a team: only fans whose favourite team it is now.
    pub team: Option<String>,
}

/// No team has this key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownTeam;

/// A figure of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The part of the report: `fans`, `accounts`, `movements`, `revenue`, `orders`, `packs`, `rewards`, `wheels`, `trivia` or
    /// `flows`.
    pub section: &'static str,
    /// What it is the figure of.
    pub item: String,
    /// What is counted: `points`, `coins`, a currency in minor units, a kind of grant, `fans`, `orders`, `copies`, `claims`,
    /// `spins`, `players` or `answers`.
    pub unit: String,
    /// The balance at the beginning of the period; for accounts only.
    pub opening: Option<i64>,
    /// The amount of the period; of an account, its change.
    pub amount: i64,
    /// The balance at the end of the period; for accounts only.
    pub closing: Option<i64>,
}

/// The report of a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorReport {
    /// The first instant of the period, RFC 3339.
    pub from: String,
    /// The first instant after it.
    pub to: String,
    /// The key of the team.
    pub team: Option<String>,
    /// What the restriction to a team leaves out.
    pub not_attributed: Option<&'static str>,
    /// The figures, in the order of the sections.
    pub figures: Vec<Figure>,
}

/// What a report of a team leaves out.
const NOT_ATTRIBUTED: &str = "Fans count for the team that is their favourite now, in the whole period. Fans without a \
    favourite team, and deleted accounts, count for no team.";

/// The accounts of fans.
const FANS: Option<House> = None;

impl Query for ReadOperatorReport {
    const NAME: &'static str = "read_operator_report";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn OpsReadTx;
    type Output = OperatorReport;
    type Refusal = UnknownTeam;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<OperatorReport, UnknownTeam> {
        let team: Option<TeamId> = match &self.team {
            None => None,
            Some(key) => {
                let teams = tx.all_teams()?;
                let found = teams.into_iter().find(|team| team.key == *key);
                Some(found.ok_or(Failure::Refused(UnknownTeam))?.id)
            }
        };
        let scope = ReportScope { from: self.from, to: self.to, team };
        let flows = tx.report_flows(&scope)?;
        let fans = tx.report_fans(&scope)?;
        let mut figures = vec![
            counted("fans", "registered", "fans", fans.registered),
            counted("fans", "new", "fans", fans.new),
            counted("fans", "active", "fans", fans.active),
        ];
        figures.extend(accounts(&flows));
        figures.extend(movements(&flows));
        figures.extend(revenue(&flows));
        let orders = tx.report_orders(&scope)?;
        figures.extend(
            orders.into_iter().map(|(state, number)| counted("orders", state.as_str(), "orders", number)),
        );
        let packs = tx.report_packs(&scope)?;
        let packs = [("sold", packs.sold), ("opened", packs.opened), ("revoked", packs.revoked)];
        figures.extend(packs.map(|(item, number)| counted("packs", item, "copies", number)));
        let claims = tx.report_claims(&scope)?;
        let claims = [("claimed", claims.claimed), ("used", claims.used)];
        figures.extend(claims.map(|(item, number)| counted("rewards", item, "claims", number)));
        figures.extend(wheels(&tx.wheels()?, &tx.report_spins(&scope)?));
        let trivia = tx.report_trivia(&scope)?;
        figures.extend([
            counted("trivia", "joined", "players", trivia.joined),
            counted("trivia", "answered", "answers", trivia.answers),
            counted("trivia", "awarded", "players", trivia.awards),
            amount("trivia", "awarded", "points", trivia.points),
        ]);
        figures.extend(flows.iter().filter(|flow| flow.entries > 0).map(flow_figure));
        Ok(OperatorReport {
            from: self.from.to_string(),
            to: self.to.to_string(),
            team: self.team.clone(),
            not_attributed: team.map(|_| NOT_ATTRIBUTED),
            figures,
        })
    }
}

fn amount(section: &'static str, item: impl Into<String>, unit: impl Into<String>, amount: i64) -> Figure {
    Figure { section, item: item.into(), unit: unit.into(), opening: None, amount, closing: None }
}

fn counted(section: &'static str, item: &str, unit: &str, number: u64) -> Figure {
    amount(section, item, unit, num::to_i64(number))
}

const fn name(account: Option<House>) -> &'static str {
    match account {
        None => "fans",
        Some(house) => house.as_str(),
    }
}

fn flow_figure(flow: &Flow) -> Figure {
    let of = match flow.is_of_order {
        Some(true) => " of orders",
        Some(false) => " of packs",
        None => "",
    };
    let item = format!("{} to {}: {}{of}", name(flow.debit), name(flow.credit), flow.source);
    amount("flows", item, flow.unit.to_string(), flow.during)
}

/// The balance of each account that ever had entries. Those of fans are what the service owes them.
fn accounts(flows: &[Flow]) -> Vec<Figure> {
    let mut balances: BTreeMap<(AccountKind, Option<House>), (i64, i64)> = BTreeMap::new();
    for flow in flows {
        for (account, sign) in [(flow.debit, -1_i64), (flow.credit, 1)] {
            let (opening, change) = balances.entry((flow.unit, account)).or_default();
            *opening = opening.saturating_add(flow.earlier.saturating_mul(sign));
            *change = change.saturating_add(flow.during.saturating_mul(sign));
        }
    }
    let figure = |((unit, account), (opening, change)): ((AccountKind, Option<House>), (i64, i64))| Figure {
        section: "accounts",
        item: name(account).to_owned(),
        unit: unit.to_string(),
        opening: Some(opening),
        amount: change,
        closing: Some(opening.saturating_add(change)),
    };
    balances.into_iter().map(figure).collect()
}

/// The units of the journal, in order.
fn units(flows: &[Flow]) -> Vec<AccountKind> {
    let units: std::collections::BTreeSet<_> = flows.iter().map(|flow| flow.unit).collect();
    units.into_iter().collect()
}

/// The sum of the period over the flows for which this holds.
fn during(flows: &[Flow], holds: impl Fn(&Flow) -> bool) -> i64 {
    flows.iter().filter(|flow| holds(flow)).fold(0, |sum, flow| sum.saturating_add(flow.during))
}

/// What happened to the balances of fans, with what orders hold of them. The change of `fans` and `held` together is
/// issued − taken back − spent + returned + paid in − paid out − lost.
fn movements(flows: &[Flow]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let own = |account: Option<House>| account == FANS || account == Some(House::Held);
    for unit in units(flows) {
        let from =
            |house| during(flows, |flow| flow.unit == unit && flow.debit == Some(house) && own(flow.credit));
        let to =
            |house| during(flows, |flow| flow.unit == unit && own(flow.debit) && flow.credit == Some(house));
        let written_off = during(flows, |flow| flow.unit == unit && flow.debit == Some(House::WrittenOff));
        let all = [
            ("issued", from(House::Issuance)),
            ("taken back", to(House::Issuance)),
            ("spent", to(House::Revenue)),
            ("returned", from(House::Revenue)),
            ("paid in", from(House::Payments)),
            ("paid out", to(House::Payments)),
            ("lost", to(House::WrittenOff)),
            ("written off", written_off),
        ];
        let moved = all.into_iter().filter(|(_, sum)| *sum != 0);
        figures.extend(moved.map(|(item, sum)| amount("movements", item, unit.to_string(), sum)));
    }
    figures
}

/// Revenue in money, by currency; refunds are negative. `net` is the change of the account `revenue`.
fn revenue(flows: &[Flow]) -> Vec<Figure> {
    let revenue = Some(House::Revenue);
    let mut figures = Vec::new();
    for unit in units(flows).into_iter().filter(|unit| unit.currency().is_some()) {
        let gained = |holds: &dyn Fn(&Flow) -> bool| {
            let of = |flow: &Flow| flow.unit == unit && holds(flow);
            during(flows, |flow| of(flow) && flow.credit == revenue)
        };
        let given = |holds: &dyn Fn(&Flow) -> bool| {
            let of = |flow: &Flow| flow.unit == unit && holds(flow);
            during(flows, |flow| of(flow) && flow.debit == revenue)
        };
        let is_of_pack = |flow: &Flow| flow.is_of_order == Some(false) || flow.source == "purchase";
        let is_of_order = |flow: &Flow| {
            flow.is_of_order == Some(true)
                || ["settle_balance", "return_balance"].contains(&flow.source.as_str())
        };
        let is_other = |flow: &Flow| !is_of_pack(flow) && !is_of_order(flow);
        let all = [
            ("orders", gained(&is_of_order)),
            ("packs", gained(&is_of_pack)),
            ("refunds of orders", given(&is_of_order).saturating_neg()),
            ("refunds of packs", given(&is_of_pack).saturating_neg()),
            ("other", gained(&is_other).saturating_sub(given(&is_other))),
        ];
        let net = all.iter().fold(0_i64, |sum, (_, part)| sum.saturating_add(*part));
        let parts = all.into_iter().filter(|(_, sum)| *sum != 0).chain([("net", net)]);
        figures.extend(parts.map(|(item, sum)| amount("revenue", item, unit.to_string(), sum)));
    }
    figures
}

/// What wheels with spins took and gave in the period, each kind beside what so many spins give on average by the odds and
/// grants of now.
fn wheels(wheels: &[Wheel], spins: &[SpinFigures]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for wheel in wheels {
        let own = || spins.iter().filter(|row| row.wheel == wheel.id);
        let count = |is_free| own().filter(|row| row.price.is_none() == is_free).map(|row| row.spins).sum();
        let (free, paid): (u64, u64) = (count(true), count(false));
        let all = free.saturating_add(paid);
        if all == 0 {
            continue;
        }
        let item = |what: &str| format!("{}: {what}", wheel.key);
        figures.push(counted("wheels", &item("free"), "spins", free));
        figures.push(counted("wheels", &item("paid"), "spins", paid));
        for kind in PriceKind::ALL {
            let taken: i64 = own().filter(|row| row.price == Some(kind)).map(|row| row.paid).sum();
            if taken > 0 {
                figures.push(amount("wheels", item("taken"), kind.to_string(), taken));
            }
        }
        for kind in GrantKind::ALL {
            let given: i64 = own().filter(|row| row.grant == kind).map(|row| row.given).sum();
            let expected = rounded(num::to_f64(all) * wheel.average(kind));
            if given != 0 || expected != 0 {
                figures.push(amount("wheels", item("given"), kind.as_str(), given));
                figures.push(amount("wheels", item("expected"), kind.as_str(), expected));
            }
        }
    }
    figures
}

/// The nearest whole number. No conversion of the standard library is exact, so it is read from the decimal form.
fn rounded(number: f64) -> i64 {
    format!("{number:.0}").parse().unwrap_or(i64::MAX)
}
