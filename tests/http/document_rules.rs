//! What a generator of clients needs of the document (spec §2), as rules over the whole of it: a new route or field that
//! breaks one is noticed. The testkit compares every answer of the suite with the document.

use anyhow::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Fields and parameters that hold any text, some only in one schema. Every other text has a format, or is of a set whose
/// values are listed.
const FREE_TEXT: &[&str] = &[
    "AwardBody.source",
    "BalanceChanged.account",
    "CombinedBalanceChanged.account",
    "ExportedPoints.source",
    "Idempotency-Key",
    "Last-Event-ID",
    "NotificationQuietHours.from",
    "NotificationQuietHours.to",
    "NotificationSubject.id",
    "Segment.label",
    "Terrace-Signature",
    "Wallet.id",
    "WalletEntry.account",
    "WalletHolding.amount",
    "accessToken",
    "address",
    "alt",
    "around",
    "auth",
    "bio",
    "body",
    "carrier",
    "category",
    "channels",
    "checkoutUrl",
    "city",
    "clientSeed",
    "code",
    "colors",
    "commitment",
    "contract",
    "countries",
    "country",
    "crestUrl",
    "currency",
    "cursor",
    "description",
    "detail",
    "deviceName",
    "displayName",
    "endpoint",
    "eventId",
    "file",
    "hash",
    "host",
    "imageAlt",
    "imageUrl",
    "imageUrls",
    "key",
    "keyId",
    "line1",
    "line2",
    "logoUrl",
    "method",
    "name",
    "network",
    "networks",
    "nextCursor",
    "nextTimeZone",
    "p256dh",
    "pictureUrl",
    "pointer",
    "postalCode",
    "previousCursor",
    "publicKey",
    "q",
    "questTitle",
    "quote",
    "reason",
    "reference",
    "refreshToken",
    "region",
    "requestId",
    "route",
    "salt",
    "segment",
    "segments",
    "serverSeed",
    "serverSeedHash",
    "shortName",
    "sport",
    "symbol",
    "tableHash",
    "tag",
    "text",
    "thumbnailUrl",
    "timeZone",
    "title",
    "tokenId",
    "tracking",
    "transactionId",
    "url",
    "username",
    "value",
    "variantId",
    "version",
];

/// Fields of responses that some responses omit.
const OMITTED: [(&str, &str); 15] = [
    ("Pack", "contents"),
    ("PostList", "fallback"),
    ("Problem", "cart"),
    ("Problem", "errors"),
    ("Problem", "pendingOrder"),
    ("Reactions", "clap"),
    ("Reactions", "fire"),
    ("Reactions", "laugh"),
    ("Reactions", "like"),
    ("Reactions", "love"),
    ("Reactions", "sad"),
    ("SearchResults", "posts"),
    ("SearchResults", "teams"),
    ("SearchResults", "topics"),
    ("SearchResults", "users"),
];

/// Fields whose sets may grow.
const OPEN: [(&str, &str); 13] = [
    ("Club", "features"),
    ("Club", "payments"),
    ("CombinedPointsEntry", "source"),
    ("ExportedNotification", "kind"),
    ("Notification", "kind"),
    ("NotificationSubject", "kind"),
    ("OwnedCollectible", "source"),
    ("PointsEntry", "source"),
    ("Problem", "code"),
    ("Proof", "algorithm"),
    ("Recommended", "reasonKind"),
    ("ShownCollectible", "source"),
    ("SpinProof", "algorithm"),
];

/// The document, as `terrace openapi` prints it.
struct Document(Value);

impl Document {
    fn read() -> Result<Self> {
        Ok(Self(serde_json::from_str(&terrace_testkit::web::openapi().to_json()?)?))
    }

    /// Every operation, named by method and path.
    fn operations(&self) -> Vec<(String, &Value)> {
        let mut operations = Vec::new();
        for (path, item) in self.0["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                operations.push((format!("{method} {path}"), operation));
            }
        }
        assert!(operations.len() > 90, "{}", operations.len());
        operations
    }

    /// Every schema that has a name.
    fn schemas(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0["components"]["schemas"].as_object().expect("schemas").iter()
    }

    /// Every property of an object, with the name of the schema that holds it.
    fn properties(&self) -> Vec<(&str, &str, &Value)> {
        let mut found = Vec::new();
        for (name, schema) in self.schemas() {
            each_object(schema, &mut |object| {
                for (property, schema) in object["properties"].as_object().into_iter().flatten() {
                    found.push((name.as_str(), property.as_str(), schema));
                }
            });
        }
        found
    }

    /// What a reference leads to; a value that is none itself.
    fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        match value["$ref"].as_str() {
            Some(path) => self.0.pointer(path.trim_start_matches('#')).expect("a target of a reference"),
            None => value,
        }
    }

    /// The header of a response, whose every instance has it.
    fn always_has(&self, response: &Value, header: &str) -> bool {
        self.resolved(&self.resolved(response)["headers"][header])["required"] == true
    }
}

/// Visits every JSON object in a value.
fn each_object<'v>(value: &'v Value, visit: &mut impl FnMut(&'v Value)) {
    match value {
        Value::Object(fields) => {
            visit(value);
            fields.values().for_each(|field| each_object(field, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| each_object(item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    schema["type"] == name || schema["type"].as_array().is_some_and(|names| names.contains(&name.into()))
}

fn required(schema: &Value) -> BTreeSet<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

fn is_request(name: &str) -> bool {
    name.ends_with("Body")
}

#[test]
fn a_text_is_of_a_listed_set_or_free() -> Result<()> {
    let document = Document::read()?;
    let is_any_text = |schema: &Value| {
        let schema = if schema["items"].is_object() { &schema["items"] } else { schema };
        let schema = document.resolved(schema);
        has_type(schema, "string") && schema["enum"].is_null() && schema["format"].is_null()
    };
    let mut texts: BTreeSet<(&str, &str)> = BTreeSet::new();
    texts.extend(document.properties().into_iter().filter(|it| is_any_text(it.2)).map(|it| (it.0, it.1)));
    let operations = document.operations();
    for (operation, said) in &operations {
        let parameters = said["parameters"].as_array().into_iter().flatten();
        let any = parameters.filter(|parameter| is_any_text(&parameter["schema"]));
        texts.extend(any.filter_map(|parameter| Some((operation.as_str(), parameter["name"].as_str()?))));
    }
    let mut unused: BTreeSet<&str> = FREE_TEXT.iter().copied().collect();
    let mut unknown = Vec::new();
    for (holder, name) in texts {
        match FREE_TEXT.iter().find(|known| **known == name || **known == format!("{holder}.{name}")) {
            Some(known) => drop(unused.remove(known)),
            None => unknown.push(format!("{holder}.{name}")),
        }
    }
    // A closed set is an enum, another one lists its values beside a string.
    assert!(unknown.is_empty() && unused.is_empty(), "{unknown:?}, {unused:?}");
    Ok(())
}

#[test]
fn a_set_that_may_grow_lists_its_values_beside_any_text() -> Result<()> {
    let document = Document::read()?;
    let mut open = BTreeSet::new();
    for (name, property, schema) in document.properties() {
        let schema = if schema["items"].is_object() { &schema["items"] } else { schema };
        let Some(choices) = schema["anyOf"].as_array() else { continue };
        let [known, text] = choices.as_slice() else { panic!("{name}/{property}: {schema}") };
        let known = &document.resolved(known)["enum"];
        assert!(known.as_array().is_some_and(|known| !known.is_empty()), "{name}/{property}: {schema}");
        assert_eq!(*text, json!({"type": "string"}), "{name}/{property}");
        open.insert((name, property));
    }
    assert_eq!(open, OPEN.into_iter().collect());
    let mut count = 0;
    each_object(&document.0, &mut |object| count += usize::from(object["anyOf"].is_array()));
    assert_eq!(count, open.len(), "no other schema is a choice of any");
    Ok(())
}

/// Whether one of the schemas is that of null, and the other one is not.
fn is_nullable(choices: &[Value]) -> bool {
    choices.len() == 2 && choices.iter().filter(|schema| **schema == json!({"type": "null"})).count() == 1
}

/// Asserts that the tag of each variant has a value of its own, by which the discriminator finds the variant.
fn assert_tagged(document: &Document, union: &Value, name: &str) {
    let choices = union["oneOf"].as_array().expect("choices");
    let tag = union["discriminator"]["propertyName"].as_str().expect("the name of the tag");
    let mapping = union["discriminator"]["mapping"].as_object().expect("a mapping");
    let mapped: BTreeSet<_> = mapping.values().filter_map(Value::as_str).collect();
    let named: BTreeSet<_> = choices.iter().filter_map(|choice| choice["$ref"].as_str()).collect();
    assert_eq!((mapped, mapping.len()), (named, choices.len()), "{name}");
    for (value, reference) in mapping {
        let variant = document.0.pointer(reference.as_str().unwrap_or_default().trim_start_matches('#'));
        let variant = variant.expect("a variant");
        assert_eq!(variant["properties"][tag]["enum"], json!([value]), "{name}");
        assert_eq!(required(variant), keys(&variant["properties"]), "{name}: {value}");
    }
}

/// Asserts that each choice has one property and excludes those of the others.
fn assert_exclusive(union: &Value, name: &str) {
    let choices = union["oneOf"].as_array().expect("choices");
    let mut chosen = BTreeSet::new();
    for choice in choices {
        assert_eq!(choice["additionalProperties"], false, "{name}");
        let properties = choice["properties"].as_object().expect("properties");
        let allowed: BTreeSet<_> = properties
            .iter()
            .filter(|(_, schema)| **schema != false)
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!((allowed.len(), &allowed), (1, &required(choice)), "{name}");
        chosen.extend(allowed);
    }
    assert_eq!(chosen.len(), choices.len(), "{name}");
    assert!(choices.iter().all(|choice| keys(&choice["properties"]) == chosen), "{name}");
}

#[test]
fn a_choice_is_nullable_tagged_or_between_properties() -> Result<()> {
    let document = Document::read()?;
    let (mut tagged, mut exclusive) = (BTreeSet::new(), BTreeSet::new());
    for (name, schema) in document.schemas() {
        each_object(schema, &mut |object| {
            let of_one = json!(1);
            assert!(object["minProperties"] != of_one && object["maxProperties"] != of_one, "{name}");
            let Some(choices) = object["oneOf"].as_array() else { return };
            if is_nullable(choices) {
                return;
            }
            assert!(std::ptr::eq(object, schema), "{name}: a union has a name");
            if object["discriminator"].is_object() {
                assert_tagged(&document, object, name);
                tagged.insert(name.as_str());
            } else {
                assert_exclusive(object, name);
                exclusive.insert(name.as_str());
            }
        });
        // The fields of what has a kind would depend on the kind.
        let is_kind = |schema: &Value| document.resolved(schema)["enum"].is_array();
        if !is_request(name) && is_kind(&schema["properties"]["kind"]) {
            assert_eq!(required(schema), keys(&schema["properties"]), "{name} is no tagged union");
        }
    }
    assert_eq!(tagged, BTreeSet::from(["RewardRequirement", "StepCheck"]));
    assert_eq!(exclusive, BTreeSet::from(["FollowBody", "JoinBody", "ReadNotificationsBody"]));
    Ok(())
}

#[test]
fn a_field_that_is_always_sent_is_required() -> Result<()> {
    let document = Document::read()?;
    let mut omitted = BTreeSet::new();
    for (name, schema) in document.schemas().filter(|(name, _)| !is_request(name)) {
        let optional =
            keys(&schema["properties"]).into_iter().filter(|name| !required(schema).contains(name));
        omitted.extend(optional.map(|property| (name.as_str(), property)));
    }
    assert_eq!(omitted, OMITTED.into_iter().collect());
    for (name, operation) in document.operations() {
        let body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str();
        assert!(body.is_none_or(is_request), "{name}: {body:?}");
    }
    Ok(())
}

#[test]
fn responses_declare_their_headers() -> Result<()> {
    let document = Document::read()?;
    let mut seen = [0; 4];
    for (name, operation) in document.operations() {
        let responses = &operation["responses"];
        let mut expect = |nth: usize, status: &str, header: &str| {
            assert!(document.always_has(&responses[status], header), "{name}: {status} without {header}");
            seen[nth] += 1;
        };
        if responses["304"].is_object() {
            expect(0, "200", "ETag");
            expect(0, "304", "ETag");
        }
        if responses["201"].is_object() {
            expect(1, "201", "Location");
        }
        expect(2, "503", "Retry-After");
        if name.contains(" /api/") {
            expect(2, "429", "Retry-After");
        }
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let takes_key = parameters.into_iter().any(|parameter| parameter["name"] == "Idempotency-Key");
        for (status, response) in responses.as_object().expect("responses") {
            let replayed = document.resolved(&response["headers"]["Idempotency-Replayed"]);
            let is_declared = replayed["schema"]["enum"] == json!(["true"]) && replayed["required"].is_null();
            assert_eq!(is_declared, takes_key && status.starts_with('2'), "{name}: {status}");
            seen[3] += usize::from(is_declared);
        }
    }
    assert!(seen.iter().all(|count| *count >= 5), "{seen:?}");
    Ok(())
}

#[test]
fn every_body_has_a_schema_and_files_are_binary() -> Result<()> {
    let document = Document::read()?;
    let mut files = 0;
    for (name, operation) in document.operations() {
        let responses = operation["responses"].as_object().expect("responses").values();
        for body in responses.chain([&operation["requestBody"]]) {
            for (media_type, content) in body["content"].as_object().into_iter().flatten() {
                let schema = &content["schema"];
                assert!(schema.is_object(), "{name}: {media_type}");
                let is_file = *schema == json!({"type": "string", "format": "binary"});
                assert_eq!(is_file, media_type.starts_with("image/"), "{name}: {media_type}");
                files += usize::from(is_file);
            }
        }
    }
    assert!(files > 5, "{files}");
    Ok(())
}
