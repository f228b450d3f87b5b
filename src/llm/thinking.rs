//! A route that says how hard its models think: what is asked through it takes that, unless it names its own.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{AskError, Card, Model, OnText, Reply, Request};
use selkie_domain::effort::Effort;

/// A model that is asked with an effort.
pub(super) struct Thinking {
    inner: Arc<dyn Model>,
    effort: Effort,
}

impl Thinking {
    /// The same model where the route names no effort.
    pub fn at(inner: Arc<dyn Model>, effort: Option<Effort>) -> Arc<dyn Model> {
        match effort {
            Some(effort) => Arc::new(Self { inner, effort }),
            None => inner,
        }
    }
}

#[async_trait]
impl Model for Thinking {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        if request.effort.is_some() {
            return self.inner.ask(request, heard).await;
        }
        let request = Request { effort: Some(self.effort), ..request.clone() };
        self.inner.ask(&request, heard).await
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
    use selkie_channel_core::locked;

    use super::*;
    use crate::tests::scripted::request;
    use crate::{ModelError, Reason};

    /// Answers nothing, and keeps how hard it was to think.
    #[derive(Default)]
    struct EffortLog(std::sync::Mutex<Vec<Option<Effort>>>);

    #[async_trait]
    impl Model for EffortLog {
        async fn ask(&self, request: &Request, _: &OnText<'_>) -> Result<Reply, AskError> {
            locked(&self.0).push(request.effort);
            let why = "away".to_owned();
            Err(ModelError::Transient { why, reason: Reason::Down, retry_after: None }.into())
        }

        fn card(&self) -> Card {
            Card { name: "m".to_owned(), context: 1, sees_images: false }
        }
    }

    #[tokio::test]
    async fn what_a_request_names_goes_before_the_route() {
        let heard = Arc::new(EffortLog::default());
        let asked = async |route: Option<Effort>, own: Option<Effort>| {
            let model = Thinking::at(Arc::clone(&heard) as _, route);
            _ = model.ask(&Request { effort: own, ..request(9) }, &|_| {}).await;
            locked(&heard.0).pop().unwrap()
        };
        assert_eq!(asked(None, None).await, None);
        assert_eq!(asked(Some(Effort::Low), None).await, Some(Effort::Low));
        assert_eq!(asked(Some(Effort::Low), Some(Effort::Max)).await, Some(Effort::Max));
    }
}
