//! `terrace order`: the orders of the shop, while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use std::process::ExitCode;
use terrace_app::App;
use terrace_app::shop::{
    FulfilOrder, Fulfilment, ListOrders, Order, OrderId, OrderLineId, OrderState, ReadOrder,
};
use terrace_kernel::{Failure, Limit};

/// The commands for orders.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum OrderCommand {
    /// List orders, the newest first.
    List {
        /// Only orders in this state: pending, paid, completed, expired, cancelled or refunded.
        #[arg(long, value_parser = state)]
        status: Option<OrderState>,
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
    /// Refund a paid order as a whole: each part goes back in its kind, and all lines are revoked.
    Refund {
        /// The id of the order.
        #[arg(value_parser = id)]
        order: OrderId,
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
        OrderCommand::List { status, limit } => {
            let limit = Limit::new(limit).map_err(|error| anyhow!("{error}"))?;
            let list = ListOrders { user: None, state: status, limit, after: None };
            let page = app.query(list).await.map_err(broken)?;
            let mut lines: Vec<_> = page.items.iter().map(|shown| summary(&shown.order)).collect();
            if page.next.is_some() {
                lines.push("there are more".to_owned());
            }
            Ok(lines)
        }
        OrderCommand::Show { order } => Ok(detail(&read(app, order).await?)),
        OrderCommand::Ship { which, carrier, tracking } => {
            fulfil(app, which, Fulfilment::Ship { carrier, tracking }).await
        }
        OrderCommand::Deliver { which } => fulfil(app, which, Fulfilment::Deliver).await,
        OrderCommand::Refund { order } => fulfil(app, Which { order, line: None }, Fulfilment::Refund).await,
    }
}

fn broken(failure: Failure<std::convert::Infallible>) -> anyhow::Error {
    match failure {
        Failure::Refused(never) => match never {},
        Failure::Broken(error) => error.into(),
    }
}

async fn read(app: &App, order: OrderId) -> anyhow::Result<Order> {
    let found = app.query(ReadOrder { order }).await.map_err(broken)?;
    Ok(found.with_context(|| format!("{order}: there is no such order"))?.order)
}

async fn fulfil(app: &App, which: Which, fulfilment: Fulfilment) -> anyhow::Result<Vec<String>> {
    let Which { order, line } = which;
    let line = match line {
        Some(number) => Some(nth_line(&read(app, order).await?, number)?),
        None => None,
    };
    let done = app.fulfil_order(FulfilOrder { order, line, fulfilment }).await;
    let done = done.map_err(|failure| match failure {
        Failure::Refused(refusal) => anyhow!("{order}: {refusal}; nothing was changed"),
        Failure::Broken(error) => error.into(),
    })?;
    Ok(detail(&done))
}

fn nth_line(order: &Order, number: usize) -> anyhow::Result<OrderLineId> {
    let line = number.checked_sub(1).and_then(|nth| order.lines.get(nth));
    Ok(line.with_context(|| format!("{}: there is no line {number}", order.id))?.id)
}

fn summary(order: &Order) -> String {
    format!("{} {} {} {}", order.id, order.created_at, order.state, order.description())
}

fn detail(order: &Order) -> Vec<String> {
    let paid = order.paid_by;
    let currency = order.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let mut lines = vec![
        summary(order),
        format!(
            "paid by {} points, {} coins, {}{currency} of the balance, {}{currency} by card",
            paid.points, paid.coins, paid.balance, paid.card
        ),
    ];
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
