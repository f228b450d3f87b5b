//! Which API a profile speaks: by its address, where nobody says.

use super::provider::is_azure;
use super::{Api, ProfileSettings};

impl ProfileSettings {
    /// Returns the API that is spoken, and the one to which a server may lead.
    pub(crate) fn apis(&self) -> (Api, Option<Api>) {
        match (self.api, self.provider.api()) {
            (Api::Auto, None | Some(Api::Messages)) => (Api::Messages, None),
            (Api::Auto, _) if self.is_openai() || self.is_azure() => {
                (Api::Responses, Some(Api::Chat))
            }
            (Api::Auto, _) => (Api::Chat, Some(Api::Responses)),
            (said, _) => (said, None),
        }
    }

    /// What is wrong with the API for this provider.
    pub(super) fn api_problem(&self) -> Option<String> {
        let name = self.api.name();
        match (self.provider.api(), self.api) {
            (Some(Api::Messages), Api::Responses | Api::Chat) => Some(format!(
                "takes auto or messages for the provider anthropic, not {name}; with provider: openai it takes that, too"
            )),
            (_, Api::Messages) if self.is_openai() => {
                Some(format!("takes auto, responses or chat at OpenAI's own address, not {name}"))
            }
            _ => None,
        }
    }

    fn is_azure(&self) -> bool {
        self.endpoint.as_deref().is_some_and(is_azure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_asked_by_the_api_that_it_is_known_for() {
        let apis = |yaml: &str| serde_saphyr::from_str::<ProfileSettings>(yaml).unwrap().apis();
        assert_eq!(apis("{}"), (Api::Responses, Some(Api::Chat)));
        for host in
            ["a.openai.azure.com", "a.cognitiveservices.azure.com", "a.services.ai.azure.com"]
        {
            let azure = format!("{{ endpoint: 'https://{host}/openai/v1' }}");
            assert_eq!(apis(&azure), (Api::Responses, Some(Api::Chat)));
        }
        let ollama = "endpoint: 'http://127.0.0.1:11434/v1'";
        assert_eq!(apis(&format!("{{ {ollama} }}")), (Api::Chat, Some(Api::Responses)));
        assert_eq!(apis(&format!("{{ {ollama}, api: messages }}")), (Api::Messages, None));
        assert_eq!(apis("{ api: chat }"), (Api::Chat, None));
        assert_eq!(apis("{ provider: anthropic }"), (Api::Messages, None));
    }
}
