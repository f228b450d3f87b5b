//! Stand-ins for sections whose code is being written beside this: the integrator deletes this file and
//! imports the real ones in `settings.rs`.

/// The model section.
pub mod llm {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::Deserialize;

    /// Which models are asked. The short form (`provider`, `endpoint`, `api_key`, `model`) is one
    /// profile named `main`.
    #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// The short form's provider.
        pub provider: Option<String>,
        /// Ends before `/chat/completions`.
        pub endpoint: Option<String>,
        /// The provider's key.
        pub api_key: Option<String>,
        /// The model's name.
        pub model: Option<String>,
        /// Named models.
        pub profiles: BTreeMap<String, Profile>,
        /// Who answers what.
        pub routes: BTreeMap<String, Vec<String>>,
    }

    /// One model.
    #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct Profile {
        /// Who serves it.
        pub provider: String,
        /// Where.
        pub endpoint: Option<String>,
        /// The provider's key.
        pub api_key: Option<String>,
        /// The model's name.
        pub model: Option<String>,
    }
}

/// The agent section.
pub mod agent {
    use schemars::JsonSchema;
    use serde::Deserialize;

    /// How far a task may go.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// Model calls of one task.
        #[schemars(range(min = 1))]
        pub max_steps: u32,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self { max_steps: 40 }
        }
    }
}

/// The tools section.
pub mod tools {
    use schemars::JsonSchema;
    use serde::Deserialize;

    /// What all tools keep to.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// Bytes of one answer; the rest is cut, and the answer says so.
        #[schemars(range(min = 1024))]
        pub max_output: u64,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self { max_output: 51_200 }
        }
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
