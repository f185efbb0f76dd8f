//! Sets of strings: in the document, a closed set is an `enum`, and a set that may grow lists its known values beside any
//! string.

use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};

/// Declares the wire type of a set of values with stable names: the type of a value, all values, and how a value is named.
/// The document lists the names of all values.
macro_rules! names {
    ($(#[doc = $doc:literal])+ $name:ident($value:ty): $all:expr, $as_str:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) $value);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($as_str(self.0))
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                crate::dto::one_of_names(concat!($($doc),+), $all.iter().copied().map($as_str))
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}

pub(crate) use names;

/// The schema of a closed set.
pub(crate) fn one_of_names(description: &str, names: impl Iterator<Item = &'static str>) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description.trim()))
        .enum_values(Some(names))
        .into()
}

/// Declares the wire type of a set that may grow, and whose known values are another type. Fields of it are inline and have
/// no description of their own, because utoipa would describe them as objects too.
macro_rules! open_set {
    ($(#[doc = $doc:literal])+ $name:ident of $known:ty) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(crate) $known);

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                crate::dto::open_schema(concat!($($doc),+), &<$known as utoipa::ToSchema>::name())
            }
        }

        impl utoipa::ToSchema for $name {
            fn schemas(schemas: &mut crate::account_data::Schemas) {
                let known = <$known as utoipa::ToSchema>::name().into_owned();
                schemas.push((known, <$known as utoipa::PartialSchema>::schema()));
            }
        }
    };
}

pub(crate) use open_set;

/// The schema of a set that may grow, by the name of the schema of its known values.
pub(crate) fn open_schema(description: &str, known: &str) -> RefOr<Schema> {
    AnyOfBuilder::new()
        .description(Some(description.trim()))
        .item(Ref::from_schema_name(known))
        .item(ObjectBuilder::new().schema_type(Type::String))
        .into()
}
