//! How a transaction is narrowed to the ports that a command or a query needs.
//!
//! A command names its set of ports in [`crate::Command::Ports`], a query in [`crate::Query::Ports`]: a trait of
//! `tx.rs`, or a single port. A function takes the narrowest set that it needs, and a larger set coerces to it. [`Tx`]
//! and [`ReadTx`] hold all sets.

use crate::{ReadTx, Tx};

/// A set of ports that a command may use.
pub trait Ports {
    /// The set, as an object that lives as long as the transaction.
    type Of<'t>: ?Sized + 't;

    /// Narrows a transaction to the set.
    fn narrow<'t>(tx: &'t mut (dyn Tx + 't)) -> &'t mut Self::Of<'t>;
}

/// A set of ports that a query may use.
pub trait ReadPorts {
    /// The set, as an object that lives as long as the transaction.
    type Of<'t>: ?Sized + 't;

    /// Narrows a transaction to the set.
    fn narrow<'t>(tx: &'t mut (dyn ReadTx + 't)) -> &'t mut Self::Of<'t>;
}

/// Lets commands name these traits as their ports.
macro_rules! for_commands {
    ($($port:ident),+ $(,)?) => {$(
        impl Ports for dyn $port {
            type Of<'t> = dyn $port + 't;

            fn narrow<'t>(tx: &'t mut (dyn Tx + 't)) -> &'t mut Self::Of<'t> {
                tx
            }
        }
    )+};
}

/// Lets queries name these traits as their ports.
macro_rules! for_queries {
    ($($port:ident),+ $(,)?) => {$(
        impl ReadPorts for dyn $port {
            type Of<'t> = dyn $port + 't;

            fn narrow<'t>(tx: &'t mut (dyn ReadTx + 't)) -> &'t mut Self::Of<'t> {
                tx
            }
        }
    )+};
}

/// Defines a trait that combines ports, and implements it for every type that implements all of them.
macro_rules! alias {
    ($(#[$doc:meta])* pub trait $name:ident: $($port:tt)+) => {
        $(#[$doc])*
        pub trait $name: $($port)+ {}

        impl<T: ?Sized + $($port)+> $name for T {}
    };
}

/// Defines a set of ports for commands.
macro_rules! ports {
    ($(#[$doc:meta])* pub trait $name:ident: $($port:tt)+) => {
        alias! { $(#[$doc])* pub trait $name: $($port)+ }

        for_commands! { $name }
    };
}

/// Defines a set of ports for queries.
macro_rules! read_ports {
    ($(#[$doc:meta])* pub trait $name:ident: $($port:tt)+) => {
        alias! { $(#[$doc])* pub trait $name: $($port)+ }

        for_queries! { $name }
    };
}

pub(crate) use {alias, for_commands, for_queries, ports, read_ports};
