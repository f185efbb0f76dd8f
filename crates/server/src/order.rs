//! `terrace order`: the orders of the shop, while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use std::process::ExitCode;
use terrace_app::App;
use terrace_app::payments::{Dispute, OpenDisputes, Payable, Refund, RetryRefundsRefusal};
use terrace_app::shop::{
    FulfilOrder, Fulfilment, ListOrders, Order, OrderId, OrderLineId, OrderState, PaidBy, ReadOrder,
    ShownOrder,
};
use terrace_kernel::{Currency, Failure, Limit};

/// The commands for orders.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum OrderCommand {
    /// List orders, the newest first.
    List {
        /// Only orders in this state: pending, paid, completed, expired, cancelled or refunded.
        #[arg(long, value_parser = state)]
        status: Option<OrderState>,
        /// Only disputed payments that are not decided, the oldest first; those of purchases of packs as well.
        #[arg(long, conflicts_with = "status")]
        disputed: bool,
        /// The number of orders.
        #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(i64).range(1..=100))]
        limit: i64,
    },
    /// Show an order with its lines and its address.
    Show {
        /// The id of the order.
        #[arg(value_parser = id)]
        order: OrderId,
    },
    /// Note that lines of a paid order were sent.
    Ship {
        #[command(flatten)]
        which: Which,
        /// The name of the carrier.
        #[arg(long, value_name = "NAME")]
        carrier: Option<String>,
        /// The carrier's number of the parcel.
        #[arg(long, value_name = "NUMBER")]
        tracking: Option<String>,
    },
    /// Note that the fan has lines of a paid order; with its last line, the order is completed.
    Deliver {
        #[command(flatten)]
        which: Which,
    },
    /// Refund a paid order, or one line of it: each part goes back in its kind, and the lines are revoked.
    Refund {
        #[command(flatten)]
        which: Which,
        /// Request the failed refunds of the order, or of a purchase of packs, again.
        #[arg(long, conflicts_with = "line")]
        retry: bool,
    },
}

/// An order, or one of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Which {
    /// The id of the order.
    #[arg(value_parser = id)]
    order: OrderId,
    /// Only this line: its number in `terrace order show`.
    #[arg(long, value_name = "N")]
    line: Option<usize>,
}

fn state(text: &str) -> Result<OrderState, String> {
    text.parse().map_err(|_| "no state of an order".to_owned())
}

fn id(text: &str) -> Result<OrderId, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(crate) async fn order(command: OrderCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = run(&app, command).await;
    storage.close();
    for line in done? {
        report::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(app: &App, command: OrderCommand) -> anyhow::Result<Vec<String>> {
    match command {
        OrderCommand::List { disputed: true, limit, .. } => list_disputed(app, limit).await,
        OrderCommand::List { status, limit, .. } => {
            let limit = Limit::new(limit).map_err(|error| anyhow!("{error}"))?;
            let list = ListOrders { user: None, state: status, limit, after: None };
            let page = app.query(list).await.map_err(broken)?;
            let mut lines: Vec<_> = page.items.iter().map(|shown| summary(&shown.order)).collect();
            if page.next.is_some() {
                lines.push("there are more".to_owned());
            }
            Ok(lines)
        }
        OrderCommand::Show { order } => show(app, order).await,
        OrderCommand::Ship { which, carrier, tracking } => {
            fulfil(app, which, Fulfilment::Ship { carrier, tracking }).await
        }
        OrderCommand::Deliver { which } => fulfil(app, which, Fulfilment::Deliver).await,
        OrderCommand::Refund { which, retry: false } => fulfil(app, which, Fulfilment::Refund).await,
        OrderCommand::Refund { which, retry: true } => retry_refunds(app, which.order).await,
    }
}

async fn list_disputed(app: &App, limit: i64) -> anyhow::Result<Vec<String>> {
    let limit = usize::try_from(limit)?;
    let most = u32::try_from(limit)?.saturating_add(1);
    let disputes = app.query(OpenDisputes { limit: most }).await.map_err(broken)?;
    let line = |dispute: &Dispute| {
        let Dispute { payable, money, opened_at, provider, reference, .. } = dispute;
        let (kind, id) = (payable.kind(), payable.id());
        format!("{id} {opened_at} {kind}, {} {}: {provider} {reference}", money.amount, money.currency)
    };
    let mut lines: Vec<_> = disputes.iter().take(limit).map(line).collect();
    if disputes.len() > limit {
        lines.push("there are more".to_owned());
    }
    Ok(lines)
}

fn broken(failure: Failure<std::convert::Infallible>) -> anyhow::Error {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Broken(error) => error.into(),
    }
}

async fn read(app: &App, order: OrderId) -> anyhow::Result<ShownOrder> {
    let found = app.query(ReadOrder { order }).await.map_err(broken)?;
    found.with_context(|| format!("{order}: there is no such order"))
}

async fn show(app: &App, order: OrderId) -> anyhow::Result<Vec<String>> {
    let shown = read(app, order).await?;
    let mut lines = detail(&shown.order);
    lines.extend(shown.refunds.iter().map(|refund| refund_line(&shown.order, refund)));
    if shown.is_disputed {
        lines.push("the payment is disputed".to_owned());
    }
    Ok(lines)
}

fn refund_line(order: &Order, refund: &Refund) -> String {
    let numbered = order.lines.iter().zip(1..);
    let numbers =
        numbered.filter(|(line, _)| line.refund == Some(refund.id)).map(|(_, number): (_, u32)| number);
    let numbers: Vec<_> = numbers.map(|number| number.to_string()).collect();
    let parts = parts(refund.parts, refund.currency);
    format!("refund {} of line {}: {}, {parts}", refund.id, numbers.join(", "), refund.state)
}

fn parts(paid: PaidBy, currency: Option<Currency>) -> String {
    let currency = currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    format!(
        "{} points, {} coins, {}{currency} of the balance, {}{currency} by card",
        paid.points, paid.coins, paid.balance, paid.card
    )
}

/// The ids of orders and of purchases differ, so that one of them is meant.
async fn retry_refunds(app: &App, id: OrderId) -> anyhow::Result<Vec<String>> {
    for kind in ["order", "purchase"] {
        let payable = Payable::of(kind, id.as_uuid())?;
        match app.retry_refunds(payable).await {
            Ok(refunds) => {
                let line = |refund: &Refund| format!("refund {}: {}", refund.id, refund.state);
                return Ok(refunds.iter().map(line).collect());
            }
            Err(Failure::Refused(RetryRefundsRefusal::Unknown)) => {}
            Err(Failure::Refused(refusal)) => bail!("{payable}: {refusal}; nothing was changed"),
            Err(Failure::Broken(error)) => return Err(error.into()),
        }
    }
    bail!("{id}: {}", RetryRefundsRefusal::Unknown)
}

async fn fulfil(app: &App, which: Which, fulfilment: Fulfilment) -> anyhow::Result<Vec<String>> {
    let Which { order, line } = which;
    let line = match line {
        Some(number) => Some(nth_line(&read(app, order).await?.order, number)?),
        None => None,
    };
    let done = app.fulfil_order(FulfilOrder { order, line, fulfilment }).await;
    done.map_err(|failure| match failure {
        Failure::Refused(refusal) => anyhow!("{order}: {refusal}; nothing was changed"),
        Failure::Broken(error) => error.into(),
    })?;
    show(app, order).await
}

fn nth_line(order: &Order, number: usize) -> anyhow::Result<OrderLineId> {
    let line = number.checked_sub(1).and_then(|nth| order.lines.get(nth));
    Ok(line.with_context(|| format!("{}: there is no line {number}", order.id))?.id)
}

fn summary(order: &Order) -> String {
    format!("{} {} {} {}", order.id, order.created_at, order.state, order.description())
}

fn detail(order: &Order) -> Vec<String> {
    let mut lines = vec![summary(order), format!("paid by {}", parts(order.paid_by, order.currency))];
    for (line, number) in order.lines.iter().zip(1..) {
        let mut text = format!("line {number}: {} × {}, {}", line.quantity, line.name, line.state);
        if let Some(shipment) = &line.shipment {
            let parts = [shipment.carrier.as_deref(), shipment.tracking.as_deref()];
            for part in parts.into_iter().flatten() {
                text.push_str(", ");
                text.push_str(part);
            }
        }
        lines.push(text);
    }
    if let Some(shipping) = &order.shipping {
        let address = &shipping.shipping.address;
        let region = address.region.as_deref().unwrap_or_default();
        let parts = [
            shipping.name.as_str(),
            &address.name,
            &address.line1,
            address.line2.as_deref().unwrap_or_default(),
            &format!("{} {}", address.postal_code, address.city),
            region,
            address.country.as_str(),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        lines.push(format!("send by {}", parts.join(", ")));
    }
    lines
}
