//! Requests without a route: unknown paths, known paths with other methods, and OPTIONS.

use crate::edge::shell::Shell;
use crate::error::{ApiError, Code};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use std::collections::HashMap;
use utoipa::openapi::{OpenApi, PathItem};

/// The existing paths as templates, with their methods.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteTable {
    templates: Vec<(String, Vec<Method>)>,
    /// Index of the templates without a variable. Every request is looked up here first, and most paths are literal.
    literal: HashMap<String, usize>,
}

impl RouteTable {
    /// The paths of the document, and `others`, which answer GET.
    pub(crate) fn new(document: &OpenApi, others: &[&str]) -> Self {
        let documented = document.paths.paths.iter().map(|(path, item)| (path.clone(), methods(item)));
        let others = others.iter().map(|path| ((*path).to_owned(), vec![Method::GET]));
        Self::of(documented.chain(others))
    }

    fn of(templates: impl IntoIterator<Item = (String, Vec<Method>)>) -> Self {
        let mut table = Self::default();
        for (template, methods) in templates {
            table.add(template, methods);
        }
        table
    }

    fn add(&mut self, template: String, methods: Vec<Method>) {
        if !template.contains('{') {
            self.literal.entry(template.clone()).or_insert(self.templates.len());
        }
        self.templates.push((template, methods));
    }

    /// Adds a path with these methods.
    pub(crate) fn and(mut self, path: &str, methods: &[Method]) -> Self {
        self.add(path.to_owned(), methods.to_vec());
        self
    }

    /// The methods of the path; `None` if the path does not exist.
    pub(crate) fn allowed(&self, path: &str) -> Option<&[Method]> {
        self.find(path).map(|(_, methods)| methods.as_slice())
    }

    /// Every path, as a template.
    #[cfg(test)]
    pub(crate) fn templates(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().map(|(template, _)| template.as_str())
    }

    /// The template that matches the path.
    pub(crate) fn template(&self, path: &str) -> Option<&str> {
        self.find(path).map(|(template, _)| template.as_str())
    }

    /// A template with fewer variables is the better match: `/a/mine` before `/a/{id}`.
    fn find(&self, path: &str) -> Option<&(String, Vec<Method>)> {
        if let Some(place) = self.literal.get(path) {
            return self.templates.get(*place);
        }
        let fitting = self.templates.iter().filter(|(template, _)| fits(template, path));
        fitting.min_by_key(|(template, _)| template.matches('{').count())
    }
}

fn methods(item: &PathItem) -> Vec<Method> {
    let operations = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    operations.into_iter().filter(|(_, operation)| operation.is_some()).map(|(method, _)| method).collect()
}

/// `{name}` matches one segment that is not empty, `{name}*` the rest of the path.
fn fits(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(pattern), Some(segment)) if pattern.starts_with('{') => {
                if pattern.ends_with('*') {
                    return true;
                }
                if segment.is_empty() {
                    return false;
                }
            }
            (Some(pattern), Some(segment)) if pattern == segment => {}
            _ => return false,
        }
    }
}

/// The value of `Allow`: HEAD is added to GET, and OPTIONS always.
pub(crate) fn allow(methods: &[Method]) -> HeaderValue {
    let mut names: Vec<&str> = Vec::new();
    for method in methods {
        names.push(method.as_str());
        if *method == Method::GET {
            names.push("HEAD");
        }
    }
    names.push("OPTIONS");
    HeaderValue::from_str(&names.join(", ")).unwrap_or_else(|_| HeaderValue::from_static("OPTIONS"))
}

/// Handles every request that matches no route.
pub(crate) async fn answer(req: HttpRequest, shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    let methods = shell.contract.table.allowed(req.path()).ok_or(Code::NotFound)?;
    if *req.method() == Method::OPTIONS {
        return Ok(HttpResponse::NoContent().insert_header((header::ALLOW, allow(methods))).finish());
    }
    // Template and method match, but the route did not: a variable has a format that the route does not
    // accept.
    if methods.contains(req.method()) {
        return Err(Code::NotFound.into());
    }
    // The edge adds `Allow`.
    Err(Code::MethodNotAllowed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_fit_paths() {
        for (template, path, expected) in [
            ("/api/teams", "/api/teams", true),
            ("/api/teams", "/api/teams/", false),
            ("/api/teams/{id}", "/api/teams/7", true),
            ("/api/teams/{id}", "/api/teams/", false),
            ("/api/teams/{id}", "/api/teams/7/x", false),
            ("/api/docs/{file}*", "/api/docs/a/b", true),
            ("/api/docs/{file}*", "/api/docs", false),
        ] {
            assert_eq!(fits(template, path), expected, "{template} {path}");
        }
    }

    #[test]
    fn a_named_path_comes_before_a_variable() {
        let table = RouteTable::of([
            ("/api/x/{id}".into(), vec![Method::GET]),
            ("/api/x/mine".into(), vec![Method::POST]),
        ]);
        assert_eq!(table.allowed("/api/x/mine"), Some([Method::POST].as_slice()));
        assert_eq!(table.allowed("/api/x/7"), Some([Method::GET].as_slice()));
        assert_eq!(table.allowed("/api/y"), None);
        assert_eq!(allow(&[Method::GET, Method::DELETE]), "GET, HEAD, DELETE, OPTIONS");
    }
}
