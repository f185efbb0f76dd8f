//! Counts the methods that each command and each query reaches through its transaction.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use syn::{ImplItem, Item, ItemImpl, ItemTrait, Path, Type, TypeParamBound};

/// The traits of the store and the use cases that name them, from all sources that were added.
#[derive(Default)]
pub(super) struct PortMap {
    traits: BTreeMap<String, Port>,
    commands: BTreeMap<String, String>,
    queries: BTreeMap<String, String>,
}

struct Port {
    methods: usize,
    includes: Vec<String>,
}

/// Number of methods that use cases reach.
pub(super) struct Reach {
    /// `command` or `query`.
    kind: &'static str,
    /// Number of use cases.
    count: usize,
    median: usize,
    /// Number of use cases that reach all ports.
    whole: usize,
    /// Number of methods of all ports.
    whole_methods: usize,
    /// Maximum of the other use cases.
    maximum: usize,
}

impl PortMap {
    /// Adds the traits and the use cases of one source file.
    pub(super) fn add(&mut self, text: &str) -> syn::Result<()> {
        for item in syn::parse_file(text)?.items {
            if let Item::Trait(port) = &item {
                self.add_trait(port);
            } else if let Item::Impl(item) = &item {
                self.add_use_case(item);
            } else if let Item::Macro(item) = &item
                && is_alias(&item.mac.path)
            {
                self.add_trait(&syn::parse_str(&format!("{} {{}}", item.mac.tokens))?);
            }
        }
        Ok(())
    }

    fn add_trait(&mut self, port: &ItemTrait) {
        let methods = port.items.iter().filter(|item| matches!(item, syn::TraitItem::Fn(_))).count();
        let includes = port.supertraits.iter().filter_map(bound_name).collect();
        self.traits.insert(port.ident.to_string(), Port { methods, includes });
    }

    fn add_use_case(&mut self, item: &ItemImpl) {
        let Some((path, _)) = &item.trait_ else { return };
        let Type::Path(of) = &*item.self_ty else { return };
        let Some(ports) = item.items.iter().find_map(named_ports) else { return };
        let use_cases = match last(path).as_deref() {
            Some("Command") => &mut self.commands,
            Some("Query") => &mut self.queries,
            _ => return,
        };
        // A name that several use cases share counts once for each set of ports.
        let name = last(&of.path).unwrap_or_default();
        use_cases.insert(format!("{name} of {ports}"), ports);
    }

    /// The number of methods of a trait and of all traits that it includes.
    fn methods_of(&self, port: &str) -> usize {
        let mut reached = BTreeSet::new();
        let mut left = vec![port];
        while let Some(name) = left.pop() {
            if let Some(port) = self.traits.get(name)
                && reached.insert(name)
            {
                left.extend(port.includes.iter().map(String::as_str));
            }
        }
        reached.iter().filter_map(|name| self.traits.get(*name)).map(|port| port.methods).sum()
    }

    /// What commands reach, and what queries reach.
    pub(super) fn reach(&self) -> [Reach; 2] {
        [self.reach_of("command", &self.commands, "Tx"), self.reach_of("query", &self.queries, "ReadTx")]
    }

    fn reach_of(&self, kind: &'static str, cases: &BTreeMap<String, String>, whole: &str) -> Reach {
        let mut methods: Vec<usize> = cases.values().map(|ports| self.methods_of(ports)).collect();
        methods.sort_unstable();
        let narrowed = cases.values().filter(|ports| *ports != whole);
        Reach {
            kind,
            count: methods.len(),
            median: methods.get(methods.len() / 2).copied().unwrap_or_default(),
            whole: cases.values().filter(|ports| *ports == whole).count(),
            whole_methods: self.methods_of(whole),
            maximum: narrowed.map(|ports| self.methods_of(ports)).max().unwrap_or_default(),
        }
    }
}

impl Reach {
    /// The counts as a sentence.
    pub(super) fn text(&self) -> String {
        let Self { kind, count, median, whole, whole_methods, maximum } = self;
        format!(
            "methods that a {kind} reaches: median {median}; {whole} of {count} reach all {whole_methods}, the others \
             {maximum} at most"
        )
    }

    pub(super) fn json(&self) -> (&'static str, Value) {
        let Self { kind, count, median, whole, whole_methods, maximum } = self;
        let all = json!({ "count": whole, "methods": whole_methods });
        (
            kind,
            json!({ "count": count, "median": median, "with_all_ports": all, "maximum_of_others": maximum }),
        )
    }
}

fn is_alias(path: &Path) -> bool {
    path.is_ident("ports") || path.is_ident("read_ports")
}

fn last(path: &Path) -> Option<String> {
    path.segments.last().map(|segment| segment.ident.to_string())
}

fn bound_name(bound: &TypeParamBound) -> Option<String> {
    if let TypeParamBound::Trait(bound) = bound { last(&bound.path) } else { None }
}

/// The trait of `type Ports = dyn …;`.
fn named_ports(item: &ImplItem) -> Option<String> {
    let ImplItem::Type(item) = item else { return None };
    let Type::TraitObject(object) = &item.ty else { return None };
    (item.ident == "Ports").then(|| object.bounds.iter().find_map(bound_name))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        pub trait A { fn a(&self); fn b(&self); }
        pub trait B<X>: A { fn c(&self); }
        pub trait C { fn d(&self); }
        ports! { /// Both.
            pub trait BothTx: A + B<u8> }
        ports! { /// All.
            pub trait Tx: BothTx + C }
        impl Command for Small { type Ports = dyn C; }
        impl Command for Middle { type Ports = dyn BothTx; }
        impl<C: Command> Command for Wide<C> { type Ports = dyn Tx; }
    ";

    #[test]
    fn a_port_that_is_included_twice_counts_once() {
        let mut map = PortMap::default();
        map.add(SOURCE).expect("the source is Rust");
        let [commands, queries] = map.reach();
        assert_eq!(
            (commands.count, commands.median, commands.maximum, commands.whole_methods, queries.count),
            (3, 3, 3, 4, 0)
        );
    }
}
