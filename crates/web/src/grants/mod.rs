//! Grants: the wire type that orders, claims, spins and rounds share, and the export.

pub(crate) mod dto;
mod export;

pub(crate) use export::EXPORT;
