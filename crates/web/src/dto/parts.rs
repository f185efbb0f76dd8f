//! Types that several requests and responses share.

use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use terrace_identity::AuthorCard;
use terrace_kernel::{MalformedId, MediaHash, Timestamp};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

/// An instant: RFC 3339, UTC, `Z`, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Timestamp);

impl Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("An instant: RFC 3339, UTC, Z, milliseconds."))
            .examples(["2026-05-01T12:00:00.000Z"])
            .into()
    }
}

impl ToSchema for Time {
    fn name() -> Cow<'static, str> {
        "Time".into()
    }
}

/// An identifier in a request body: a UUID in canonical text form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdText<I>(pub(crate) I);

impl<'de, I: FromStr<Err = MalformedId>> Deserialize<'de> for IdText<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Canonical<I>(PhantomData<I>);
        impl<I: FromStr<Err = MalformedId>> de::Visitor<'_> for Canonical<I> {
            type Value = IdText<I>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an identifier: a UUID in canonical text form")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                text.parse().map(IdText).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Canonical(PhantomData))
    }
}

/// For an optional field that may be absent but not null: `#[serde(default, deserialize_with = "given")]`.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// For a field that is an object. Without it, an array with the fields in their order would be accepted too.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// A value that is an object, like a field with [`object`], where the value is optional or in a map.
#[derive(Deserialize)]
#[serde(transparent, bound = "T: Deserialize<'de>")]
pub(crate) struct Object<T>(#[serde(deserialize_with = "object")] pub(crate) T);

/// For an optional field with a meaningful null: `None` if it is absent, `Some(None)` if it is null.
#[expect(clippy::option_option, reason = "absent, null and a value have three different meanings")]
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// The path at which a stored picture is served.
pub(crate) fn media_url(hash: &MediaHash) -> String {
    format!("/media/{hash}")
}

/// A person, as shown next to their content.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(crate) struct UserCard {
    /// The id of the account.
    id: Uuid,
    /// The username, as its owner writes it.
    #[schema(example = "mia")]
    username: String,
    /// The display name.
    #[schema(example = "Mia Carter")]
    display_name: String,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    picture_url: Option<String>,
}

impl From<AuthorCard> for UserCard {
    fn from(card: AuthorCard) -> Self {
        Self {
            id: card.id.as_uuid(),
            username: card.username,
            display_name: card.display_name,
            picture_url: card.picture.as_ref().map(media_url),
        }
    }
}

impl From<&AuthorCard> for UserCard {
    fn from(card: &AuthorCard) -> Self {
        card.clone().into()
    }
}
