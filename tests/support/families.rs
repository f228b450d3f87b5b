//! Daemons whose model server keeps the rules of a strict family.

use selkie_playground::Family;
use serde_json::{Value, json};

use crate::support::proxy::{Change, Proxy};
use crate::support::world::World;

impl World {
    /// Makes the model server keep a family's rules, and the daemon ask it; `more` is what the profile says besides.
    pub fn asks(&mut self, family: Family, more: &Value) {
        let address = self.playground.url().replace("http://", "");
        self.asks_at(&address, family, more);
    }

    /// The same, through a proxy that changes each request but the first.
    pub async fn asks_through(&mut self, change: Change, family: Family, more: &Value) -> Proxy {
        let target = self.playground.url().replace("http://", "");
        let proxy = Proxy::before(&target, change).await;
        self.asks_at(&proxy.address, family, more);
        proxy
    }

    fn asks_at(&mut self, address: &str, family: Family, more: &Value) {
        let (provider, path) = match family.is_anthropic() {
            true => ("anthropic", "anthropic/v1"),
            false => ("openai", "v1"),
        };
        let mut profile = json!({
            "provider": provider, "endpoint": format!("http://{address}/model/{path}"),
            "api_key": "sk-playground-key-1234567890", "model": family.model(), "sees_images": true,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            profile[key] = value.clone();
        }
        self.home.set("llm", json!({ "profiles": { "main": profile } }));
        self.playground.model().set_family(family);
    }

    /// What the server had to refuse, or to cut off in silence: empty where the daemon keeps the family's rules.
    pub fn broken_rules(&self) -> Vec<String> {
        let cut = |tokens: usize| format!("{tokens} tokens of the prompt were cut off");
        let asked = self.playground.model().requests().into_iter();
        asked.filter_map(|a| a.refused.or((a.cut > 0).then(|| cut(a.cut)))).collect()
    }
}
