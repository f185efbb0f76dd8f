//! The OpenAPI 3.1 document. Handlers declare operations and wire types; what holds for all of them is added here.

use crate::edge::Area;
use crate::platform::REPLAYED;
use crate::problem::{self, Problem, ProblemPart};
use crate::register::Routes;
use std::collections::BTreeMap;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::{
    AdditionalProperties, Discriminator, KnownFormat, Object, ObjectBuilder, OneOf, OneOfBuilder,
    SchemaFormat, Type,
};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Components, ComponentsBuilder, Content, ContentBuilder, InfoBuilder, OpenApi, PathItem, Paths, Ref,
    RefOr, Required, Response, ResponseBuilder, Schema,
};
use utoipa::{PartialSchema, ToSchema};

const ETAG: &str = "ETag";
const RETRY_AFTER: &str = "Retry-After";

/// The OpenAPI document of the service.
pub fn openapi() -> OpenApi {
    let mut document = preamble();
    crate::routes(&mut Routes::Describe(&mut document));
    crate::streams::add_events(&mut document);
    let mut components = document.components.take().unwrap_or_default();
    for (path, item) in &mut document.paths.paths {
        complete_path(path, item, &components);
    }
    separate_choices(&mut components);
    tag_unions(&mut components);
    document.components = Some(components);
    document
}

/// The parts of the document that the handlers do not declare.
fn preamble() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Terrace")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "The fan engagement service. Failures are problem documents (RFC 9457): see the schema `Problem`.",
        ))
        .build();
    let mut document = OpenApi::new(info, Paths::new());
    let cookie = ApiKey::Cookie(ApiKeyValue::with_description(
        "session",
        "The browser's session; `__Host-session` under an https public URL.",
    ));
    let mut cron = Http::new(HttpAuthScheme::Bearer);
    cron.description = Some("The operator's cron secret.".to_owned());
    let mut till = Http::new(HttpAuthScheme::Bearer);
    till.description = Some("The token of a till.".to_owned());
    let mut schemas = vec![
        (Problem::name().into_owned(), Problem::schema()),
        (ProblemPart::name().into_owned(), ProblemPart::schema()),
    ];
    Problem::schemas(&mut schemas);
    let mut components = ComponentsBuilder::new()
        .security_scheme("cookie", SecurityScheme::ApiKey(cookie))
        .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("cron", SecurityScheme::Http(cron))
        .security_scheme("till", SecurityScheme::Http(till))
        .build();
    components.schemas.extend(schemas);
    components.headers = headers();
    document.components = Some(components);
    document
}

/// The headers that many responses have, and always.
fn headers() -> BTreeMap<String, RefOr<Header>> {
    let tag = ObjectBuilder::new().schema_type(Type::String);
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let header = |description: &str, schema: ObjectBuilder| {
        RefOr::T(always(HeaderBuilder::new().description(Some(description)).schema(Some(schema)).build()))
    };
    BTreeMap::from([
        (ETAG.to_owned(), header("The version of the content, for `If-None-Match`.", tag)),
        (
            RETRY_AFTER.to_owned(),
            header("The number of seconds after which the request may succeed.", seconds),
        ),
    ])
}

/// The header of replayed responses. It is no component, because generators take the headers of components for required.
fn replayed() -> Header {
    HeaderBuilder::new()
        .description(Some(
            "Sent if the response is the stored one of an earlier request with the same `Idempotency-Key`.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).enum_values(Some([REPLAYED.1]))))
        .build()
}

/// Declares that every response has the header. The field is missing in utoipa's type.
fn always(mut header: Header) -> Header {
    header.extensions = Some(Extensions::from_iter([("required", true)]));
    header
}

/// A reference to one of [`headers`].
fn header_ref(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}

fn complete_path(path: &str, item: &mut PathItem, components: &Components) {
    if let Some(RefOr::T(body)) = item.post.as_mut().and_then(|post| post.request_body.as_mut())
        && may_be_absent(body, components)
    {
        body.required = Some(Required::False);
    }
    let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
    for operation in operations.into_iter().flatten() {
        // Every other operation with a body requires it.
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            if body.required != Some(Required::False) {
                body.required = Some(Required::True);
            }
            body.content.values_mut().for_each(describe_file);
        }
        complete_responses(path, operation);
    }
}

/// Whether `{}` is a valid body. The handlers of such POST routes take an `OptionalBody`.
fn may_be_absent(body: &RequestBody, components: &Components) -> bool {
    let Some(RefOr::T(json)) = body.content.get("application/json") else { return false };
    let Some(RefOr::Ref(schema)) = &json.schema else { return false };
    let name = schema.ref_location.rsplit('/').next().unwrap_or_default();
    let Some(RefOr::T(Schema::Object(schema))) = components.schemas.get(name) else { return false };
    schema.required.is_empty() && schema.min_properties.is_none()
}

/// Adds the headers of the declared responses, and the failures that every operation may answer.
fn complete_responses(path: &str, operation: &mut Operation) {
    let takes_key = operation.parameters.iter().flatten().any(|parameter| {
        matches!(parameter, RefOr::T(it) if it.parameter_in == ParameterIn::Header && it.name == "Idempotency-Key")
    });
    let responses = &mut operation.responses.responses;
    let has_tag = responses.contains_key("304");
    for (status, response) in responses.iter_mut() {
        let RefOr::T(response) = response else { continue };
        response.content.values_mut().for_each(describe_file);
        for header in response.headers.values_mut() {
            if let RefOr::T(header) = header {
                *header = always(header.clone());
            }
        }
        if has_tag && matches!(status.as_str(), "200" | "304") {
            response.headers.insert(ETAG.to_owned(), header_ref(ETAG));
        }
        if takes_key && status.starts_with('2') {
            response.headers.insert(REPLAYED.0.to_owned(), replayed().into());
        }
    }
    let mut refuse = |status: &str, description: &str, waits: bool| {
        let mut response = problem(description);
        if waits {
            response.headers.insert(RETRY_AFTER.to_owned(), header_ref(RETRY_AFTER));
        }
        responses.entry(status.to_owned()).or_insert(response.into());
    };
    if Area::of_path(path).is_limited() {
        refuse("429", "Too many requests.", true);
    }
    refuse("503", "The service is not available for the moment.", true);
    refuse("default", "Why the request was not done.", false);
}

/// A response with a problem document.
fn problem(description: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
    ResponseBuilder::new().description(description).content(problem::MEDIA_TYPE, content).build()
}

/// Describes a body without a schema as a file.
fn describe_file(content: &mut RefOr<Content>) {
    if let RefOr::T(content) = content
        && content.schema.is_none()
    {
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        content.schema = Some(ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into());
    }
}

/// Rewrites objects that hold exactly one of several properties as the choice between objects with one property each.
fn separate_choices(components: &mut Components) {
    for schema in components.schemas.values_mut() {
        let RefOr::T(Schema::Object(object)) = schema else { continue };
        if object.min_properties == Some(1) && object.max_properties == Some(1) {
            let choices = object.properties.keys().map(|chosen| choice(object, chosen));
            let choices = choices.fold(OneOfBuilder::new(), OneOfBuilder::item);
            *schema = choices.description(object.description.clone()).into();
        }
    }
}

/// The object with `chosen` and no other property. The others are named, with a schema that no value fits, because types
/// generated from the document would otherwise allow them.
fn choice(object: &Object, chosen: &str) -> Object {
    let properties = object.properties.iter().map(|(name, schema)| {
        let schema = if name == chosen { serde_json::to_value(schema) } else { Ok(false.into()) };
        (name.clone(), schema.unwrap_or_default())
    });
    // utoipa has no type for the schema `false`.
    let properties = serde_json::Value::Object(properties.collect());
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .required(chosen)
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
        .extensions(Some(Extensions::from_iter([("properties", properties)])))
        .build()
}

/// Gives each variant of a tagged union a name, so that the tag can refer to it.
fn tag_unions(components: &mut Components) {
    let mut variants = BTreeMap::new();
    for (union, schema) in &mut components.schemas {
        let RefOr::T(Schema::OneOf(one_of)) = schema else { continue };
        let Some(tag) = tag_of(one_of) else { continue };
        let mut discriminator = Discriminator::new(tag.clone());
        for item in &mut one_of.items {
            let Some(value) = constant(item, &tag) else { continue };
            let name = format!("{union}{}", pascal_case(&value));
            let reference = Ref::from_schema_name(&name);
            discriminator.mapping.insert(value, reference.ref_location.clone());
            variants.insert(name, std::mem::replace(item, reference.into()));
        }
        one_of.discriminator = Some(discriminator);
    }
    components.schemas.extend(variants);
}

/// The property that has a single value in each object of a union, another one in each.
fn tag_of(union: &OneOf) -> Option<String> {
    let RefOr::T(Schema::Object(first)) = union.items.first()? else { return None };
    let is_tag = |name: &&String| union.items.iter().all(|item| constant(item, name).is_some());
    first.properties.keys().find(is_tag).cloned()
}

/// The single value of a required property of an object.
fn constant(item: &RefOr<Schema>, property: &str) -> Option<String> {
    let RefOr::T(Schema::Object(object)) = item else { return None };
    let RefOr::T(Schema::Object(property)) =
        object.properties.get(property).filter(|_| object.required.iter().any(|name| name == property))?
    else {
        return None;
    };
    match property.enum_values.as_deref()? {
        [value] => value.as_str().map(str::to_owned),
        _ => None,
    }
}

/// `follow_user` as `FollowUser`.
fn pascal_case(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use serde_json::{Value, json};

    #[test]
    fn every_operation_names_the_problem_document() {
        let document = serde_json::to_value(openapi()).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        assert!(document["components"]["schemas"]["Problem"]["properties"]["requestId"].is_object());
        assert!(document["components"]["schemas"]["ProblemPart"].is_object());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let content = &operation["responses"]["default"]["content"]["application/problem+json"];
                assert_eq!(content["schema"]["$ref"], "#/components/schemas/Problem", "{method} {path}");
            }
        }
    }

    #[test]
    fn every_code_of_a_problem_is_listed() {
        let document = serde_json::to_value(openapi()).unwrap();
        let codes = document["components"]["schemas"]["ProblemCode"]["enum"].as_array().unwrap();
        let all: Vec<Value> = Code::ALL.iter().map(|code| code.as_str().into()).collect();
        assert_eq!(*codes, all);
    }

    #[test]
    fn one_of_several_properties_is_a_choice_between_objects() {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let object = ObjectBuilder::new().property("a", text()).property("b", text());
        let object = object.min_properties(Some(1)).max_properties(Some(1)).description(Some("Which."));
        let mut components = ComponentsBuilder::new().schema("Choice", object).build();
        separate_choices(&mut components);
        let schema = serde_json::to_value(&components.schemas["Choice"]).unwrap();
        let only = |required: &str, properties: Value| {
            json!({
                "type": "object", "required": [required], "properties": properties, "additionalProperties": false,
            })
        };
        let text = json!({"type": "string"});
        let choices = [only("a", json!({"a": text, "b": false})), only("b", json!({"a": false, "b": text}))];
        assert_eq!(schema, json!({"description": "Which.", "oneOf": choices}));
    }

    #[test]
    fn the_variants_of_a_tagged_union_have_names() {
        #[derive(ToSchema)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[expect(dead_code, reason = "only its schema is used")]
        enum Check {
            FollowUser { count: u32 },
            Join,
        }
        let mut components = ComponentsBuilder::new().schema("Check", Check::schema()).build();
        tag_unions(&mut components);
        let schemas = serde_json::to_value(&components.schemas).unwrap();
        let names = ["#/components/schemas/CheckFollowUser", "#/components/schemas/CheckJoin"];
        assert_eq!(
            schemas["Check"],
            json!({
                "oneOf": [{"$ref": names[0]}, {"$ref": names[1]}],
                "discriminator": {
                    "propertyName": "kind", "mapping": {"follow_user": names[0], "join": names[1]},
                },
            })
        );
        assert_eq!(schemas["CheckJoin"]["properties"]["kind"]["enum"], json!(["join"]));
        assert!(schemas["CheckFollowUser"]["properties"]["count"].is_object());
    }
}
