//! Where a server is, what every request to it carries, and the token that those have of whom signed in.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, Url};

use crate::error::McpError;
use crate::http_answer::failure;
use crate::login::Bearer;

/// Where a server is, and what every request to it carries.
pub(crate) struct HttpAddress {
    pub(crate) server: String,
    pub(crate) client: Client,
    pub(crate) url: Url,
    pub(crate) bearer: Option<Bearer>,
    pub(crate) headers: HeaderMap,
}

impl HttpAddress {
    /// Sends a request; one that is refused for its token once more with a newer one.
    pub(crate) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: String,
    ) -> Result<Response, McpError> {
        let request = |headers, body: String| {
            let request = self.client.request(method.clone(), self.url.clone());
            request.headers(headers).body(body).send()
        };
        let granted = match &self.bearer {
            Some(bearer) => bearer.header().await?.map(|token| (bearer, token)),
            None => None,
        };
        let Some((bearer, token)) = granted else {
            return request(headers, body).await.map_err(failure);
        };
        let with = |token: &HeaderValue| {
            let mut headers = headers.clone();
            headers.insert(AUTHORIZATION, token.clone());
            headers
        };
        let response = request(with(&token), body.clone()).await.map_err(failure)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        // What was refused was not carried out.
        match bearer.after(&token).await? {
            Some(newer) => request(with(&newer), body).await.map_err(failure),
            None => Ok(response),
        }
    }
}
