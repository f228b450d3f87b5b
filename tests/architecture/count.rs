//! How much there is, printed: `cargo test --test architecture count -- --nocapture`; with `COUNT_TREE=PATH` in
//! another tree. A production line is a line of a Rust file below `src` or `channels` that does not belong to an
//! item for tests: blank lines and comments count, as they do for the wall on files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ImplItem, Item, Local, Pat, Signature, TraitItem, TraitItemFn};

use crate::facts;
use crate::source::Tree;

/// A name that more types have is listed.
const FREQUENT: usize = 5;

/// What production code holds.
#[derive(Default)]
pub struct Count {
    /// Lines of each function, from its signature to its closing brace, and its name.
    pub functions: Vec<(usize, String)>,
    /// Functions of each trait.
    pub traits: Vec<(usize, String)>,
    /// `let (a, b) = (x, y)`.
    pub tuples: usize,
    /// How many structs, enums, unions, traits and aliases have a name.
    pub types: BTreeMap<String, usize>,
}

#[test]
#[expect(clippy::disallowed_methods, reason = "which tree is counted says who runs it")]
fn production_code_is_counted() {
    let root = std::env::var_os("COUNT_TREE")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let tree = Tree::parsed(&root);
    let lines: Vec<usize> = tree.production().map(|(_, source)| source.facts.lines).collect();
    let mut count = Count::default();
    for (name, _) in tree.production() {
        count.visit_file(&parsed(&root.join(name)));
    }
    assert!(!count.functions.is_empty(), "no function below {}", root.display());
    println!("{}", report(count, &lines));
}

impl Count {
    /// Counts one file.
    pub fn of(file: &Path) -> Self {
        let mut count = Self::default();
        count.visit_file(&parsed(file));
        count
    }
}

fn parsed(file: &Path) -> syn::File {
    let text = fs::read_to_string(file).expect("a source file can be read");
    syn::parse_file(&text).expect("a source file is Rust")
}

fn report(count: Count, lines: &[usize]) -> String {
    let mut functions: Vec<usize> = count.functions.iter().map(|(lines, _)| *lines).collect();
    functions.sort_unstable();
    let functions = &functions;
    let percentile = |percent: usize| functions[(functions.len() - 1) * percent / 100];
    let (width, widest) = count.traits.iter().max().cloned().unwrap_or_default();
    let mut frequent: Vec<_> = count.types.iter().filter(|(_, times)| **times > FREQUENT).collect();
    frequent.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    let frequent: Vec<_> = frequent.iter().map(|(name, times)| format!("{name} {times}")).collect();
    format!(
        "production lines  {}\n\
         functions         {}: median {}, p90 {}, over 50 lines {}, over 60 {}, longest {}\n\
         files             {}: over 300 lines {}, over 400 {}\n\
         widest trait      {widest}: {width} functions\n\
         tuple lets        {}\n\
         types             {} with {} names; {} names more than {FREQUENT} times: {}",
        lines.iter().sum::<usize>(),
        functions.len(),
        percentile(50),
        percentile(90),
        over(functions, 50),
        over(functions, 60),
        percentile(100),
        lines.len(),
        over(lines, 300),
        over(lines, 400),
        count.tuples,
        count.types.values().sum::<usize>(),
        count.types.len(),
        frequent.len(),
        frequent.join(", "),
    )
}

fn over(lengths: &[usize], limit: usize) -> usize {
    lengths.iter().filter(|length| **length > limit).count()
}

impl Count {
    fn function(&mut self, signature: &Signature, block: &Block) {
        let line = |span: Span| span.start().line;
        let end = block.brace_token.span.close();
        let lines = line(end) + 1 - line(signature.span());
        self.functions.push((lines, signature.ident.to_string()));
    }
}

impl<'ast> Visit<'ast> for Count {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = facts::head(item);
        if attributes.iter().any(facts::is_for_tests) {
            return;
        }
        match item {
            Item::Fn(function) => self.function(&function.sig, &function.block),
            Item::Trait(item) => {
                let is_function = |item: &&TraitItem| matches!(item, TraitItem::Fn(_));
                let width = item.items.iter().filter(is_function).count();
                self.traits.push((width, item.ident.to_string()));
            }
            _ => {}
        }
        if let Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Trait(_) | Item::Type(_) =
            item
        {
            *self.types.entry(name.unwrap_or_default()).or_default() += 1;
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if let ImplItem::Fn(function) = item {
            if function.attrs.iter().any(facts::is_for_tests) {
                return;
            }
            self.function(&function.sig, &function.block);
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &typed.pat,
            pattern => pattern,
        };
        let value = local.init.as_ref().map(|init| &*init.expr);
        if matches!(pattern, Pat::Tuple(_)) && matches!(value, Some(Expr::Tuple(_))) {
            self.tuples += 1;
        }
        visit::visit_local(self, local);
    }
}
