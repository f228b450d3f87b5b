//! Stand-ins for sections whose code is being written beside this: the integrator deletes this file and
//! imports the real ones in `settings.rs`.

/// A settings struct whose every field has a default.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $(pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { Self { $($field: $default,)* } }
        }
    };
}

/// The model section.
pub mod llm {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::domain::span::Span;

    section! {
        /// Which models answer.
        Settings {
            profiles: BTreeMap<String, ProfileSettings> = BTreeMap::new(),
            provider: Option<Provider> = None,
            endpoint: Option<String> = None,
            api_key: Option<String> = None,
            model: Option<String> = None,
            headers: BTreeMap<String, String> = BTreeMap::new(),
            context: Option<u64> = None,
            routes: RouteSettings = RouteSettings::default(),
            prices: BTreeMap<String, Price> = BTreeMap::new(),
        }
    }
    section! {
        /// One model at one provider.
        ProfileSettings {
            provider: Provider = Provider::Openai,
            endpoint: Option<String> = None,
            api_key: Option<String> = None,
            model: Option<String> = None,
            headers: BTreeMap<String, String> = BTreeMap::new(),
            context: Option<u64> = None,
            sees_images: Option<bool> = None,
            max_output: Option<u32> = None,
            stream: bool = true,
            request_timeout: Span = Span::seconds(120),
        }
    }
    section! {
        /// Which profile does what.
        RouteSettings {
            main: Option<Names> = None,
            small: Option<Names> = None,
            decision: Option<Names> = None,
            heartbeat: Option<Names> = None,
        }
    }

    /// Who serves a model.
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Provider {
        Openai,
        Anthropic,
        Offline,
    }

    /// One name or several.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(untagged)]
    pub enum Names {
        One(String),
        Several(Vec<String>),
    }

    /// What a model costs.
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Price {
        pub input: f64,
        pub cached: Option<f64>,
        pub output: f64,
    }
}

/// The agent section.
pub mod agent {
    use crate::domain::span::Span;

    section! {
        /// How far one task may go.
        Settings {
            max_steps: u32 = 50,
            max_tokens: u64 = 1_000_000,
            max_cost_usd: f64 = 2.0,
            timeout: Span = Span::seconds(1800),
            max_output_tokens: u32 = 8192,
            repeat_limit: u32 = 3,
        }
    }
}

/// The tools section.
pub mod tools {
    section! {
        /// What is on, its limits, and what no tool may touch.
        Settings {
            read_file: ReadFile = ReadFile::default(),
            write_file: WriteFile = WriteFile::default(),
            list_files: ListFiles = ListFiles::default(),
            think: Switch = Switch::default(),
            todo_read: Switch = Switch::default(),
            todo_write: Switch = Switch::default(),
            send: Send = Send::default(),
            react: Switch = Switch::default(),
        }
    }
    section! {
        /// A tool without limits.
        Switch { enabled: bool = true, }
    }
    section! {
        /// `tools.read_file`.
        ReadFile { enabled: bool = true, max_page_bytes: usize = 51_200, deny_paths: Vec<String> = Vec::new(), }
    }
    section! {
        /// `tools.write_file`.
        WriteFile { enabled: bool = true, max_bytes: usize = 524_288, deny_paths: Vec<String> = Vec::new(), }
    }
    section! {
        /// `tools.list_files`.
        ListFiles { enabled: bool = true, deny_paths: Vec<String> = Vec::new(), }
    }
    section! {
        /// `tools.send`.
        Send { enabled: bool = true, max_bytes: u64 = 20_971_520, }
    }
}

/// The flow's sections.
pub mod flow {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::domain::span::Span;

    /// What becomes of a message that arrives while its conversation is being answered.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum WhileBusy {
        /// It waits its turn.
        #[default]
        Queue,
        /// The running task reads it before its next step.
        Steer,
        /// The running task ends, and it is answered.
        Interrupt,
    }

    /// Everything flow can be told by config.
    #[derive(Clone, Debug)]
    pub struct Settings {
        /// See [`WhileBusy`].
        pub while_busy: WhileBusy,
        /// See [`WorkerSettings`].
        pub worker: WorkerSettings,
        /// See [`OutboxSettings`].
        pub outbox: OutboxSettings,
        /// See [`GroupSettings`].
        pub groups: std::collections::BTreeMap<String, GroupSettings>,
        /// Keep what a group says without meaning the bot.
        pub record_untriggered: bool,
    }

    /// How much runs at once.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct WorkerSettings {
        /// Tasks that run at the same time.
        #[schemars(range(min = 1, max = 1024))]
        pub max_concurrency: usize,
    }

    impl Default for WorkerSettings {
        fn default() -> Self {
            Self { max_concurrency: 16 }
        }
    }

    /// How patient the outbox is.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct OutboxSettings {
        /// How long an unclear call waits before it is decided.
        pub unclear_after: Span,
        /// When an answer that could not be delivered is worthless.
        pub answer_expires: Span,
    }

    impl Default for OutboxSettings {
        fn default() -> Self {
            Self { unclear_after: Span::seconds(30), answer_expires: Span::seconds(86_400) }
        }
    }

    /// What one group may do beyond the shaping table.
    #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct GroupSettings {
        /// Tool or class names that are opened there.
        pub allow: Vec<String>,
    }
}

/// The console section.
pub mod console {
    use schemars::JsonSchema;
    use serde::Deserialize;

    /// Where the read API listens.
    #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// A loopback address and port, e.g. `127.0.0.1:7300`; off when not set.
        pub listen: Option<String>,
        /// The origin of a page that may read it.
        pub allow_origin: Option<String>,
    }
}
