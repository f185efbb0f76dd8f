//! Refuses query parameters that an operation does not declare. The OpenAPI document, which is generated from
//! the handlers, supplies the declarations, so a handler without parameters needs no check of its own.

use crate::edge::cron;
use crate::edge::shell::{Served, Shell, refuse, shell_of};
use crate::error::ApiError;
use crate::extract::{bounded, viewer_of};
use actix_web::HttpRequest;
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use std::collections::HashMap;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr, SecurityRequirement};

/// The query parameters of each operation, by path template and method.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters(HashMap<String, Vec<(Method, OperationParameters)>>);

#[derive(Debug, Clone)]
struct OperationParameters {
    names: Vec<String>,
    /// Whether it accepts requests without a session.
    open: bool,
}

impl Parameters {
    /// The parameters of all operations in the document.
    pub(crate) fn new(document: &OpenApi) -> Self {
        let known = |item| {
            operations(item).map(|(method, operation)| (method, OperationParameters::of(operation))).collect()
        };
        Self(document.paths.paths.iter().map(|(path, item)| (path.clone(), known(item))).collect())
    }

    /// Checks that the operation declares every parameter of the query. A request without a required session
    /// passes: it is refused later for the missing session, without a report on the query.
    fn check(&self, template: &str, method: &Method, query: &str, signed_in: bool) -> Result<(), ApiError> {
        let operations = self.0.get(template).map(Vec::as_slice).unwrap_or_default();
        let Some((_, known)) = operations.iter().find(|(its, _)| its == method) else { return Ok(()) };
        if (!known.open && !signed_in) || known.is_plain(query) {
            return Ok(());
        }
        let given: Vec<(String, String)> = serde_html_form::from_str(query)
            .map_err(|_| ApiError::invalid_request("the query cannot be read"))?;
        match given.into_iter().find(|(name, _)| !known.names.contains(name)) {
            Some((name, _)) => {
                Err(ApiError::invalid_part(format!("/{}", bounded(&name)), "no such parameter here"))
            }
            None => Ok(()),
        }
    }
}

impl OperationParameters {
    /// Whether every name is declared in its literal form: most queries need no decoding.
    fn is_plain(&self, query: &str) -> bool {
        query.split('&').all(|part| {
            let name = part.split_once('=').map_or(part, |(name, _)| name);
            self.names.iter().any(|known| known == name)
        })
    }

    fn of(operation: &Operation) -> Self {
        let parameters = operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        });
        let of_query = parameters.filter(|parameter| parameter.parameter_in == ParameterIn::Query);
        Self {
            names: of_query.map(|parameter| parameter.name.clone()).collect(),
            open: operation.security.as_ref().is_none_or(|needs| needs.iter().any(needs_nothing)),
        }
    }
}

/// The only access to the content of a requirement is its JSON form.
fn needs_nothing(requirement: &SecurityRequirement) -> bool {
    serde_json::to_value(requirement)
        .is_ok_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty))
}

fn operations(item: &PathItem) -> impl Iterator<Item = (Method, &Operation)> {
    let operations = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    operations.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// Checks the query of a request. A handler that authenticates in its own way calls it once it has.
pub(crate) fn check_query(req: &HttpRequest, shell: &Shell, signed_in: bool) -> Result<(), ApiError> {
    let contract = &shell.contract;
    contract.table.template(req.path()).map_or(Ok(()), |template| {
        contract.parameters.check(template, req.method(), req.query_string(), signed_in)
    })
}

/// Applies the check, after authentication.
pub(crate) async fn guard<B: MessageBody>(req: ServiceRequest, next: Next<B>) -> Served<EitherBody<B>> {
    if !req.query_string().is_empty() {
        let signed_in = viewer_of(req.request()).is_some() || cron::is_admitted(req.request());
        let shell = shell_of(&req)?;
        if let Err(error) = check_query(req.request(), &shell, signed_in) {
            return Ok(refuse(req, error));
        }
    }
    next.call(req).await.map(ServiceResponse::map_into_left_body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_accepts_the_parameters_of_its_document() {
        let parameters = Parameters::new(&crate::openapi());
        let pointers = |method: Method, template: &str, query: &str, signed_in: bool| {
            let refused = parameters.check(template, &method, query, signed_in).err();
            refused.map(|error| error.errors().first().map(|part| part.pointer.clone()).unwrap_or_default())
        };
        for (method, template, query, signed_in, refused) in [
            (Method::GET, "/api/teams", "limit=5&leagueId=x&limit=6", false, None),
            (Method::GET, "/api/teams", "limit=5&Limit=6", false, Some("/Limit")),
            (Method::GET, "/api/teams/{id}", "limit=5", false, Some("/limit")),
            (Method::GET, "/api/user", "x=1", true, Some("/x")),
            (Method::GET, "/api/user", "x=1", false, None),
            (Method::POST, "/api/login", "%00", false, Some("/\0")),
            (Method::PUT, "/api/login", "x=1", false, None),
            (Method::GET, "/healthz", "x=1", false, None),
        ] {
            assert_eq!(
                pointers(method, template, query, signed_in).as_deref(),
                refused,
                "{template}?{query}"
            );
        }
    }
}
