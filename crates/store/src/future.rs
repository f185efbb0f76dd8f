//! The type of futures that the interfaces of the store return.

use std::pin::Pin;

/// A future that can be sent between threads and named in a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
