//! Counts what an answer costs, by a table of prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::domain::usage::Usage;
use crate::llm::settings::Price;
use crate::llm::{Card, Failed, Model, OnText, Reply, Request};

/// US dollars per million tokens: model, input, cached input, output. As the providers listed them in
/// November 2026 or when last looked at; `llm.prices` overrides.
const BUILT_IN: [(&str, f64, f64, f64); 17] = [
    ("claude-haiku-4-5", 1.0, 0.1, 5.0),
    ("claude-opus-4-1", 15.0, 1.5, 75.0),
    ("claude-opus-4-5", 5.0, 0.5, 25.0),
    ("claude-sonnet-4", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("gpt-4.1", 2.0, 0.5, 8.0),
    ("gpt-4.1-mini", 0.4, 0.1, 1.6),
    ("gpt-4.1-nano", 0.1, 0.025, 0.4),
    ("gpt-4o", 2.5, 1.25, 10.0),
    ("gpt-4o-mini", 0.15, 0.075, 0.6),
    ("gpt-5", 1.25, 0.125, 10.0),
    ("gpt-5-mini", 0.25, 0.025, 2.0),
    ("gpt-5-nano", 0.05, 0.005, 0.4),
    ("gpt-5.1", 1.25, 0.125, 10.0),
    ("gpt-5.2", 1.75, 0.175, 14.0),
    ("o3", 2.0, 0.5, 8.0),
    ("o4-mini", 1.1, 0.275, 4.4),
];

/// A model whose answers carry their price.
pub(super) struct Priced {
    inner: Arc<dyn Model>,
    price: Price,
}

impl Priced {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>, price: Price) -> Self {
        Self { inner, price }
    }
}

/// Finds a model's price: what config says, else the built-in table, where a date after the name
/// (`gpt-5-2025-08-07`) and a seller before it (`openai/gpt-5`) do not count.
pub(super) fn price_of(model: &str, configured: &BTreeMap<String, Price>) -> Option<Price> {
    if let Some(price) = configured.get(model) {
        return Some(*price);
    }
    let bare = model.rsplit('/').next().unwrap_or(model);
    let same = |name: &str| bare.strip_prefix(name).is_some_and(is_version);
    BUILT_IN.iter().find(|(name, ..)| same(name)).map(|&(_, input, cached, output)| Price {
        input,
        cached: Some(cached),
        output,
    })
}

fn is_version(rest: &str) -> bool {
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let dated = version.len() >= 8 && version.chars().all(|c| c.is_ascii_digit() || c == '-');
    dated || version == "latest"
}

impl Price {
    /// Returns the cost in millionths of a dollar: a dollar per million tokens is exactly one a token.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let cached = usage.cached.min(usage.input);
        let fresh = usage.input - cached;
        let sum = fresh as f64 * self.input
            + cached as f64 * self.cached.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum.round() as u64
    }
}

#[async_trait]
impl Model for Priced {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, Failed> {
        let mut asked = self.inner.ask(request, heard).await;
        let usage = match &mut asked {
            Ok(reply) => &mut reply.usage,
            Err(failed) => &mut failed.usage,
        };
        usage.micro_usd = self.price.cost(usage);
        asked
    }

    fn card(&self) -> Card {
        self.inner.card()
    }

    fn rests_until(&self) -> Option<DateTime<Utc>> {
        self.inner.rests_until()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_less() {
        let usage = Usage { calls: 1, input: 1_000, cached: 400, output: 100, micro_usd: 0 };
        let price = Price { input: 2.0, cached: Some(0.5), output: 8.0 };
        assert_eq!(price.cost(&usage), 600 * 2 + 200 + 800);
        assert_eq!(Price { cached: None, ..price }.cost(&usage), 2_000 + 800);
    }

    #[test]
    fn a_date_and_a_seller_do_not_count_but_another_model_does() {
        let none = BTreeMap::new();
        let input = |model: &str| price_of(model, &none).map(|p| p.input);
        assert_eq!(input("gpt-5-2025-08-07"), Some(1.25));
        assert_eq!(input("openai/gpt-5-mini"), Some(0.25));
        assert_eq!(input("claude-sonnet-4-5-20250929"), Some(3.0));
        assert_eq!(input("gpt-5-pro"), None);
        assert_eq!(input("llama3"), None);
        let mine =
            BTreeMap::from([("gpt-5".to_owned(), Price { input: 9.0, cached: None, output: 9.0 })]);
        assert_eq!(price_of("gpt-5", &mine).map(|p| p.input), Some(9.0));
    }
}
