//! Signs a request as OAuth 1.0a asks (RFC 5849, HMAC-SHA1).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};

/// The keys of an app and of the user it acts for.
#[derive(Clone, Debug)]
pub struct Keys {
    consumer: SecretString,
    consumer_secret: SecretString,
    token: SecretString,
    token_secret: SecretString,
}

/// What makes one request unlike every other.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// Never used twice with the same time.
    pub nonce: String,
    /// Seconds since 1970.
    pub seconds: i64,
}

impl Keys {
    /// Takes consumer key, consumer secret, access token, access token secret.
    pub fn new([consumer, consumer_secret, token, token_secret]: [SecretString; 4]) -> Self {
        Self { consumer, consumer_secret, token, token_secret }
    }

    /// Returns the access token, which begins with the user's id.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    /// Returns all four.
    pub fn secrets(&self) -> [&str; 4] {
        [&self.consumer, &self.consumer_secret, &self.token, &self.token_secret]
            .map(ExposeSecret::expose_secret)
    }

    /// Returns the `Authorization` of a request whose body is no form: only its URL is signed.
    pub fn header(&self, method: &str, url: &Url, stamp: &Stamp) -> String {
        let mut fields = vec![
            ("oauth_consumer_key", self.consumer.expose_secret().to_owned()),
            ("oauth_nonce", stamp.nonce.clone()),
            ("oauth_signature_method", "HMAC-SHA1".to_owned()),
            ("oauth_timestamp", stamp.seconds.to_string()),
            ("oauth_token", self.token.expose_secret().to_owned()),
            ("oauth_version", "1.0".to_owned()),
        ];
        let signature = self.signature(method, url, &fields);
        fields.push(("oauth_signature", signature));
        let written = fields.iter().map(|(name, value)| format!("{name}=\"{}\"", encoded(value)));
        format!("OAuth {}", written.collect::<Vec<_>>().join(", "))
    }

    /// Signs a method, a URL with its query, and further fields.
    fn signature(&self, method: &str, url: &Url, fields: &[(&str, String)]) -> String {
        let secrets = [&self.consumer_secret, &self.token_secret];
        let key = secrets.map(|secret| encoded(secret.expose_secret())).join("&");
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
        STANDARD.encode(hmac::sign(&key, base_string(method, url, fields).as_bytes()))
    }
}

/// The signature base string of RFC 5849, 3.4.1.
fn base_string(method: &str, url: &Url, fields: &[(&str, String)]) -> String {
    let query = url.query_pairs().map(|(name, value)| (encoded(&name), encoded(&value)));
    let own = fields.iter().map(|(name, value)| (encoded(name), encoded(value)));
    let mut pairs: Vec<(String, String)> = query.chain(own).collect();
    pairs.sort();
    let pairs: Vec<String> =
        pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    format!("{method}&{}&{}", encoded(base.as_str()), encoded(&pairs.join("&")))
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(all: [&str; 4]) -> Keys {
        Keys::new(all.map(|key| SecretString::from(key.to_owned())))
    }

    fn fields<'a>(all: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
        all.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    /// The request for a picture of RFC 5849, 1.2.
    #[test]
    fn the_rfcs_example_has_the_rfcs_signature() {
        let keys =
            keys(["dpf43f3p2l4k3l03", "kd94hf93k423kf44", "nnch734d00sl2jdk", "pfkkdhi9sl3r4s00"]);
        let url = Url::parse("http://photos.example.net/photos?file=vacation.jpg&size=original");
        let fields = fields(&[
            ("oauth_consumer_key", "dpf43f3p2l4k3l03"),
            ("oauth_token", "nnch734d00sl2jdk"),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", "137131202"),
            ("oauth_nonce", "chapoH"),
        ]);
        assert_eq!(keys.signature("GET", &url.unwrap(), &fields), "MdpQcU8iPSUjWoN/UDMsK2sui9I=");
    }

    /// The example of RFC 5849, 3.4.1.1, its form fields given beside the query.
    #[test]
    fn the_base_string_is_the_rfcs() {
        let url =
            Url::parse("http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b").unwrap();
        let fields = fields(&[
            ("oauth_consumer_key", "9djdj82h48djs9d2"),
            ("oauth_token", "kkk9d7dh3k39sjv7"),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", "137131201"),
            ("oauth_nonce", "7d8f3e4a"),
            ("c2", ""),
            ("a3", "2 q"),
        ]);
        let wanted = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26\
            c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26\
            oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7";
        assert_eq!(base_string("POST", &url, &fields), wanted);
    }

    /// The example of X's page "Creating a signature".
    #[test]
    fn the_platforms_example_has_the_platforms_signature() {
        let keys = keys([
            "xvz1evFS4wEEPTGEFPHBog",
            "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
            "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
            "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
        ]);
        let status = "Hello Ladies + Gentlemen, a signed OAuth request!";
        let url = format!(
            "https://api.x.com/1.1/statuses/update.json?include_entities=true&status={}",
            encoded(status)
        );
        let stamp = Stamp {
            nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg".to_owned(),
            seconds: 1_318_622_958,
        };
        let header = keys.header("POST", &Url::parse(&url).unwrap(), &stamp);
        assert!(
            header.contains("oauth_signature=\"Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D\""),
            "{header}"
        );
        assert!(header.starts_with("OAuth oauth_consumer_key=\"xvz1evFS4wEEPTGEFPHBog\", "));
        assert!(!header.contains("kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_plain_and_can_be_read_back(text in "\\PC{0,40}") {
            let written = encoded(&text);
            prop_assert!(written.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)));
            let url = Url::parse(&format!("http://a/?q={written}")).unwrap();
            prop_assert_eq!(url.query_pairs().next().unwrap().1, text);
        }
    }
}
