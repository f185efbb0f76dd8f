//! The tests that span crates, one module per concern.

/// The rules of the house: who may depend on whom, and what no file may hold.
mod house {
    mod files;
    mod layers;
    mod tidy;
}
