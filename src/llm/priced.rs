//! Counts what an answer costs, by a table of prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::settings::Price;
use crate::{AskError, Card, Model, OnText, Reply, Request};
use selkie_domain::usage::Usage;

/// US dollars per million tokens: model, input, cached input, output. As the providers listed them in
/// November 2026 or when last looked at; `llm.prices` overrides.
const BUILT_IN: [(&str, f64, f64, f64); 26] = [
    ("claude-fable-5-1", 10.0, 0.25, 50.0),
    ("claude-haiku-4-5", 1.0, 0.1, 5.0),
    ("claude-haiku-5-5", 0.1, 0.01, 0.5),
    ("claude-opus-4-1", 15.0, 1.5, 75.0),
    ("claude-opus-4-5", 5.0, 0.5, 25.0),
    ("claude-opus-5-5", 4.0, 0.2, 20.0),
    ("claude-sonnet-4", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("claude-sonnet-5-5", 2.0, 0.1, 10.0),
    ("gemini-3.8-flash", 0.75, 0.75, 3.75),
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
    ("gpt-6-luna", 0.1, 0.01, 0.5),
    ("gpt-6.1-terra", 1.0, 0.05, 5.0),
    ("gpt-6.2-astra", 8.0, 0.4, 40.0),
    ("gpt-6.2-sol", 2.0, 0.1, 10.0),
    ("o3", 2.0, 0.5, 8.0),
    ("o4-mini", 1.1, 0.275, 4.4),
];

/// What long prompts cost more, by the beginning of a model's name.
const LONG: [(&str, LongPrompt); 2] = [
    ("claude-haiku-5-5", LongPrompt { over: 100_000, input: 5.0, output: 5.0 }),
    ("gpt-6", LongPrompt { over: 272_000, input: 2.0, output: 1.5 }),
];

/// What a call costs whose prompt is long, as a multiple.
#[derive(Clone, Copy, Debug)]
struct LongPrompt {
    /// Tokens read above which it holds.
    over: u64,
    /// Of what is read.
    input: f64,
    /// Of what is written.
    output: f64,
}

/// A model whose answers carry their price.
pub(super) struct PricedModel {
    inner: Arc<dyn Model>,
    price: Price,
    long: Option<LongPrompt>,
}

impl PricedModel {
    /// Prices the answers of `model`, by what config says of it or by the built-in table; nothing where neither knows it.
    pub fn around(
        inner: Arc<dyn Model>,
        model: &str,
        configured: &BTreeMap<String, Price>,
    ) -> Arc<dyn Model> {
        let Some(price) = price_of(model, configured) else { return inner };
        let long = if configured.contains_key(model) { None } else { long_of(model) };
        Arc::new(Self { inner, price, long })
    }

    fn cost(&self, usage: &Usage) -> u64 {
        match self.long.filter(|long| usage.input > long.over) {
            Some(long) => self.price.times(long.input, long.output).cost(usage),
            None => self.price.cost(usage),
        }
    }
}

/// Finds a model's price: what config says, else the built-in table, where a date after the name
/// (`gpt-5-2025-08-07`) and a seller before it (`openai/gpt-5`) do not count.
pub(super) fn price_of(model: &str, configured: &BTreeMap<String, Price>) -> Option<Price> {
    if let Some(price) = configured.get(model) {
        return Some(*price);
    }
    let bare = bare(model);
    let same = |name: &str| bare.strip_prefix(name).is_some_and(is_version);
    BUILT_IN.iter().find(|(name, ..)| same(name)).map(|&(_, input, cached, output)| Price {
        input,
        cached: Some(cached),
        output,
    })
}

fn long_of(model: &str) -> Option<LongPrompt> {
    let bare = bare(model);
    LONG.iter().find(|(name, _)| bare.starts_with(name)).map(|(_, long)| *long)
}

/// A model's name without its seller.
fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
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

    fn times(self, input: f64, output: f64) -> Self {
        Self {
            input: self.input * input,
            cached: self.cached.map(|cached| cached * input),
            output: self.output * output,
        }
    }
}

#[async_trait]
impl Model for PricedModel {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let mut asked = self.inner.ask(request, heard).await;
        let usage = match &mut asked {
            Ok(reply) => &mut reply.usage,
            Err(failed) => &mut failed.usage,
        };
        usage.micro_usd = self.cost(usage);
        asked
    }

    fn card(&self) -> Card {
        self.inner.card()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&*self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, request};

    #[test]
    fn cached_tokens_cost_less() {
        let usage = Usage { calls: 1, input: 1_000, cached: 400, output: 100, ..Usage::default() };
        let price = Price { input: 2.0, cached: Some(0.5), output: 8.0 };
        assert_eq!(price.cost(&usage), 600 * 2 + 200 + 800);
        assert_eq!(Price { cached: None, ..price }.cost(&usage), 2_000 + 800);
    }

    #[tokio::test]
    async fn a_long_prompt_costs_more_where_its_provider_says_so() {
        let cost = async |model: &str, configured: &BTreeMap<String, Price>, input: u64| {
            let used = Usage { calls: 1, input, output: 1_000, ..Usage::default() };
            let scripted = Arc::new(Scripted::failing(vec![]).using(used));
            let priced = PricedModel::around(scripted, model, configured);
            priced.ask(&request(9), &|_| {}).await.expect("a reply").usage.micro_usd
        };
        let none = BTreeMap::new();
        assert_eq!(cost("claude-haiku-5-5", &none, 100_000).await, 10_000 + 500);
        assert_eq!(cost("claude-haiku-5-5", &none, 200_000).await, 5 * 20_000 + 2_500);
        assert_eq!(cost("openai/gpt-6.2-sol", &none, 300_000).await, 2 * 600_000 + 15_000);
        let mine = Price { input: 1.0, cached: None, output: 1.0 };
        let mine = BTreeMap::from([("gpt-6.2-sol".to_owned(), mine)]);
        assert_eq!(cost("gpt-6.2-sol", &mine, 300_000).await, 301_000);
        assert_eq!(cost("llama3", &none, 300_000).await, 0, "nobody knows its price");
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
