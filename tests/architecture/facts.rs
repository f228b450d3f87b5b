//! What one file says, parsed: the paths it names, what it re-exports, its words and its length. Items that
//! exist for tests only are left out, whatever stands below them is not.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, File, FnArg, ImplItem, Item, Pat, Signature, Type, UseTree, Visibility};

/// A path with the line where it stands, spelled as in the code: `crate::delivery::Outbox`, `super::x`, `outbox::Outbox`.
#[derive(Clone, Debug)]
pub struct Named {
    pub path: Vec<String>,
    /// The inline modules around it.
    pub inside: Vec<String>,
    pub line: usize,
    /// Whether it stands in a `use`, in one that others see, or in the code.
    pub how: How,
}

/// What a name that was imported stands for.
#[derive(Clone, Debug)]
pub struct Alias {
    /// As it is spelled there.
    pub path: Vec<String>,
    /// The inline modules around it.
    pub inside: Vec<String>,
}

/// Where a path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `use …`
    Import,
    /// `pub use …`
    Export,
    /// anywhere else
    Code,
}

/// A name or a text in the code.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    /// Whether it is a literal and not a name.
    pub literal: bool,
    pub line: usize,
}

/// What the walls want to know about a file.
#[derive(Default)]
pub struct Facts {
    pub named: Vec<Named>,
    /// What a name that was imported stands for.
    pub aliases: BTreeMap<String, Alias>,
    /// Modules that are declared here in a file of their own.
    pub modules: BTreeSet<String>,
    /// Those of them that exist for tests only.
    pub test_modules: BTreeSet<String>,
    /// Names of the items defined here.
    pub defined: BTreeSet<String>,
    pub words: Vec<Word>,
    /// Functions that take a tuple as a parameter, with the line of each.
    pub tuples: Vec<(String, usize)>,
    /// Lines on which the compiler is told to look away.
    pub unsafe_at: Vec<usize>,
    /// Lines that are not for tests only.
    pub lines: usize,
    /// Whether the first line says what the file is.
    pub documented: bool,
}

impl Facts {
    pub fn read(name: &str, text: &str) -> Self {
        let file: File =
            syn::parse_file(text).unwrap_or_else(|error| panic!("{name} is no Rust: {error}"));
        let mut reader = Reader { facts: Self::default(), inside: Vec::new(), tests: 0 };
        reader.facts.documented = text.starts_with("//!") || text.starts_with("#![doc");
        reader.visit_file(&file);
        reader.facts.lines = text.lines().count() - reader.tests;
        reader.facts
    }
}

struct Reader {
    facts: Facts,
    inside: Vec<String>,
    /// Lines of items for tests only.
    tests: usize,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        let for_tests = attributes.iter().any(is_for_tests);
        if let Item::Mod(module) = item
            && module.content.is_none()
        {
            self.facts.modules.insert(module.ident.to_string());
            if for_tests {
                self.facts.test_modules.insert(module.ident.to_string());
            }
        }
        if for_tests {
            self.leave_out(item);
            return;
        }
        if self.inside.is_empty() {
            self.facts.defined.extend(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(inner) => &inner.attrs,
            ImplItem::Const(inner) => &inner.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let how = match item.vis {
            Visibility::Inherited => How::Import,
            _ => How::Export,
        };
        self.flatten(&item.tree, &mut Vec::new(), how);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.facts.unsafe_at.push(line(block.unsafe_token.span));
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.facts.unsafe_at.extend(item.unsafety.map(|word| line(word.span)));
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        if let syn::Safety::Unsafe(word) = &signature.safety {
            self.facts.unsafe_at.push(line(word.span));
        }
        for tuple in signature.inputs.iter().filter(|input| is_tuple(input)) {
            let at = line(syn::spanned::Spanned::span(tuple));
            self.facts.tuples.push((signature.ident.to_string(), at));
        }
        visit::visit_signature(self, signature);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |s| line(s.ident.span()));
        self.name(names, line, How::Code);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        visit::visit_path(self, &mac.path);
        self.tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
        self.word(ident.to_string(), false, line(ident.span()));
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.word(literal.value(), true, line(literal.span()));
    }
}

impl Reader {
    fn leave_out(&mut self, item: &Item) {
        use syn::spanned::Spanned;
        let span = item.span();
        self.tests += span.end().line + 1 - span.start().line;
    }

    fn word(&mut self, text: String, literal: bool, line: usize) {
        self.facts.words.push(Word { text, literal, line });
    }

    fn name(&mut self, path: Vec<String>, line: usize, how: How) {
        self.facts.named.push(Named { path, inside: self.inside.clone(), line, how });
    }

    fn flatten(&mut self, tree: &UseTree, prefix: &mut Vec<String>, how: How) {
        let (last, alias) = match tree {
            UseTree::Path(path) => {
                self.visit_ident(&path.ident);
                prefix.push(path.ident.to_string());
                self.flatten(&path.tree, prefix, how);
                prefix.pop();
                return;
            }
            UseTree::Group(group) => {
                for inner in &group.items {
                    self.flatten(inner, prefix, how);
                }
                return;
            }
            UseTree::Glob(star) => {
                let path = [prefix.clone(), vec!["*".to_owned()]].concat();
                self.name(path, line(star.star_token.spans[0]), how);
                return;
            }
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(name) => (&name.ident, &name.rename),
        };
        self.visit_ident(last);
        let mut path = prefix.clone();
        if last != "self" {
            path.push(last.to_string());
        }
        let known = if last == "self" { path.last().cloned() } else { Some(alias.to_string()) };
        let alias = Alias { path: path.clone(), inside: self.inside.clone() };
        self.facts.aliases.extend(known.map(|name| (name, alias)));
        self.name(path, line(last.span()), how);
    }

    /// What stands in a macro's call is tokens: its paths are read by their colons.
    fn tokens(&mut self, stream: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut start) = (0, 0);
        for token in stream {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end(&mut path, start);
                        start = line(ident.span());
                    }
                    self.visit_ident(&ident);
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 => colons += 1,
                other => {
                    self.end(&mut path, start);
                    colons = 0;
                    self.inner(other);
                }
            }
        }
        self.end(&mut path, start);
    }

    fn end(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.name(std::mem::take(path), line, How::Code);
        }
    }

    fn inner(&mut self, token: TokenTree) {
        match token {
            TokenTree::Group(group) => self.tokens(group.stream()),
            TokenTree::Literal(literal) => {
                let at = line(literal.span());
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    self.word(text.value(), true, at);
                }
            }
            _ => {}
        }
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

/// `(a, b): (A, B)`, `pair: (A, B)`, `pair: &(A, B)`.
fn is_tuple(input: &FnArg) -> bool {
    let FnArg::Typed(input) = input else { return false };
    let mut taken = &*input.ty;
    while let Type::Reference(reference) = taken {
        taken = &reference.elem;
    }
    let of_some = matches!(taken, Type::Tuple(tuple) if !tuple.elems.is_empty());
    of_some || matches!(*input.pat, Pat::Tuple(_))
}

/// `#[cfg(test)]`, `#[cfg(any(test, …))]`, `#[test]`; not `#[cfg(not(test))]`.
pub fn is_for_tests(attribute: &Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition = list.tokens.to_string();
    let says = |word| condition.split(|c: char| !c.is_alphanumeric()).any(|w| w == word);
    attribute.path().is_ident("cfg") && says("test") && !says("not")
}

/// An item's attributes and its name.
pub fn head(item: &Item) -> (&[Attribute], Option<String>) {
    let (attributes, ident) = match item {
        Item::Const(i) => (&i.attrs, Some(&i.ident)),
        Item::Enum(i) => (&i.attrs, Some(&i.ident)),
        Item::ExternCrate(i) => (&i.attrs, Some(&i.ident)),
        Item::Fn(i) => (&i.attrs, Some(&i.sig.ident)),
        Item::Impl(i) => (&i.attrs, None),
        Item::Macro(i) => (&i.attrs, i.ident.as_ref()),
        Item::Mod(i) => (&i.attrs, Some(&i.ident)),
        Item::Static(i) => (&i.attrs, Some(&i.ident)),
        Item::Struct(i) => (&i.attrs, Some(&i.ident)),
        Item::Trait(i) => (&i.attrs, Some(&i.ident)),
        Item::Type(i) => (&i.attrs, Some(&i.ident)),
        Item::Union(i) => (&i.attrs, Some(&i.ident)),
        Item::Use(i) => (&i.attrs, None),
        _ => return (&[], None),
    };
    (attributes, ident.map(ToString::to_string))
}
