//! The app's manifest: what a person pastes at api.slack.com to make the bot.

/// Returns the manifest as YAML.
pub fn manifest() -> String {
    MANIFEST.to_owned()
}

/// Lists the scopes that the manifest asks for.
pub fn scopes() -> impl Iterator<Item = &'static str> {
    let lines = MANIFEST.lines().map(str::trim);
    let scopes = lines.skip_while(|line| *line != "bot:").skip(1);
    scopes.map_while(|line| line.strip_prefix("- "))
}

const MANIFEST: &str = "\
# Paste at https://api.slack.com/apps -> Create New App -> From a manifest, then:
# 1. Install the app; the Bot User OAuth Token (xoxb-...) goes to slack.bot_token_file.
# 2. Basic Information -> App-Level Tokens: one with connections:write; the token (xapp-...) goes to
#    slack.app_token_file.
# 3. /invite @selkie in the channels where it should listen, and list them in slack.allowed_channel_ids.
display_information:
  name: selkie
  description: A bot that answers with tools
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: selkie
    always_online: true
  slash_commands:
    - command: /selkie
      description: Commands of the bot
      usage_hint: help | ask … | status | tools | reset | stop | id
      should_escape: true
oauth_config:
  scopes:
    bot:
      - app_mentions:read
      - channels:history
      - channels:read
      - chat:write
      - commands
      - emoji:read
      - files:read
      - files:write
      - groups:history
      - groups:read
      - im:history
      - im:write
      - mpim:history
      - mpim:read
      - reactions:write
      - usergroups:read
      - users:read
settings:
  event_subscriptions:
    bot_events:
      - app_mention
      - channel_archive
      - channel_deleted
      - channel_left
      - channel_unarchive
      - group_archive
      - group_deleted
      - group_left
      - group_unarchive
      - member_joined_channel
      - member_left_channel
      - message.channels
      - message.groups
      - message.im
      - message.mpim
  interactivity:
    is_enabled: true
  org_deploy_enabled: false
  socket_mode_enabled: true
  token_rotation_enabled: false
";

#[cfg(test)]
mod tests {
    /// What is called and heard needs these.
    #[test]
    fn the_app_may_do_what_the_bot_does() {
        let manifest = super::manifest();
        for needed in [
            "app_mentions:read",
            "channels:history",
            "groups:history",
            "im:history",
            "im:write",
            "mpim:history",
            "chat:write",
            "commands",
            "emoji:read",
            "files:read",
            "files:write",
            "reactions:write",
            "users:read",
            "usergroups:read",
            "member_left_channel",
            "message.channels",
            "message.groups",
            "message.im",
            "message.mpim",
            "app_mention",
            "channel_left",
            "channel_archive",
            "command: /selkie",
        ] {
            let line = |line: &str| line.trim_start().trim_start_matches("- ") == needed;
            assert!(manifest.lines().any(line), "{needed}");
        }
        assert!(!manifest.lines().any(|line| line.trim() == "- im:read"), "nothing asks for it");
        assert!(manifest.contains("socket_mode_enabled: true"));
        assert!(manifest.contains("interactivity:\n    is_enabled: true"));
    }
}
