//! The account and the keys that open it; they are no secret anywhere.

/// The account's id.
pub const USER: &str = "2244994945";
/// The id of somebody else.
pub const OTHER_USER: &str = "783214";
/// Their access token.
pub const OTHER_USER_BEARER: &str = "playgroundOtherUserBearer";
/// The app's API key.
pub const CONSUMER_KEY: &str = "playgroundConsumerKey";
/// The app's API key secret.
pub const CONSUMER_SECRET: &str = "playgroundConsumerSecret0123456789";
/// The user's access token.
pub const ACCESS_TOKEN: &str = "2244994945-playgroundAccessToken";
/// The user's access token secret.
pub const ACCESS_TOKEN_SECRET: &str = "playgroundAccessTokenSecret0123";
/// The app's client id.
pub const CLIENT_ID: &str = "cGxheWdyb3VuZENsaWVudA";
/// The user's first refresh token.
pub const REFRESH_TOKEN: &str = "playgroundRefreshToken0";
/// A user's access token that never ends.
pub const USER_BEARER: &str = "playgroundUserBearer";
/// The one that was made after it.
pub const NEXT_USER_BEARER: &str = "playgroundUserBearer2";
/// One that was authorized without the scope for pictures.
pub const BEARER_WITHOUT_MEDIA: &str = "playgroundUserBearerNoMedia";
/// The app's own bearer.
pub const APP_BEARER: &str = "AAAAplaygroundAppBearer";
