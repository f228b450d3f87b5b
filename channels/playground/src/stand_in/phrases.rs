//! The list of phrases, for people.

/// A phrase for people: help text and documentation are made of these.
#[derive(Clone, Copy, Debug)]
pub struct Phrase {
    /// What to write.
    pub says: &'static str,
    /// What happens.
    pub does: &'static str,
}

/// Everything the stand-in understands. Upper and lower case are the same; several phrases of one
/// message are joined by `, then `, ` and then ` or a new line.
pub const PHRASES: &[Phrase] = &[
    Phrase {
        says: "note: <text> (or: note <text>, remember <text>)",
        does: "puts it on this chat's own list, which `/reset` clears",
    },
    Phrase {
        says: "remember that <text>",
        does: "remembers it beyond the history, by the tool for it",
    },
    Phrase { says: "what do you know about me?", does: "says what it remembers here" },
    Phrase {
        says: "tell me my list (or: my list, what is on my list)",
        does: "reads this chat's own list",
    },
    Phrase {
        says: "todo: <text> (or: remind <name> to <text>)",
        does: "puts it on the list of what people want done (TODO.md, `/todos`)",
    },
    Phrase {
        says: "finished: <text>",
        does: "completes the item of that list that fits the words",
    },
    Phrase { says: "done <n>", does: "marks the list's item n as done" },
    Phrase { says: "react with <emoji>", does: "puts a reaction on the message" },
    Phrase { says: "write <name>: <text>", does: "writes a file" },
    Phrase { says: "add to <name>: <text>", does: "adds a line at the end of a file" },
    Phrase { says: "read <name>", does: "reads a file" },
    Phrase {
        says: "find out what is in <name> and <name> at once, then compare",
        does: "lets an agent read each file, both at once, and compares what they say",
    },
    Phrase { says: "list files", does: "lists the files" },
    Phrase {
        says: "repeat what you read",
        does: "repeats the text that came along: standard input, a file, a quote",
    },
    Phrase { says: "send me <name>", does: "sends a file" },
    Phrase { says: "send photo <name>", does: "sends a picture" },
    Phrase { says: "send voice <name>", does: "sends a voice note" },
    Phrase { says: "think about <x>", does: "thinks, by the tool for it" },
    Phrase { says: "ask me: <a> or <b>?", does: "asks you, with the answers as buttons" },
    Phrase {
        says: "set up your persona",
        does: "asks its owner for a name and a manner, and writes them down once they are confirmed",
    },
    Phrase {
        says: "propose: <text>",
        does: "begins plan mode, shows the text as its plan, and asks you to approve it",
    },
    Phrase {
        says: "plan: <step> > <step>",
        does: "makes a plan by the tool for it, which shows the plan in the chat",
    },
    Phrase {
        says: "every day at 8 <phrase> (or: every weekday at 8:30 <phrase>, every monday at 08:00 <phrase>, every 2h <phrase>)",
        does: "has the phrase done then, again and again",
    },
    Phrase {
        says: "in 20 minutes <phrase> (or: in 20m <phrase>, at 18:30 <phrase>, tomorrow at 8 <phrase>)",
        does: "has the phrase done then, once",
    },
    Phrase {
        says: "remind me in 20 minutes to <text> (or: remind me tomorrow at 8 to <text>, remind me every day at 8 to <text>)",
        does: "reminds you of it then",
    },
    Phrase {
        says: "tell <name>: <text>",
        does: "sends it to the known person of that name, in their chat",
    },
    Phrase {
        says: "tweet: <text>",
        does: "posts it in public, after approval, where an account is configured",
    },
    Phrase {
        says: "tweet at 08:00: <text> (or: tweet daily at 08:00: <text>)",
        does: "schedules the post, after approval",
    },
    Phrase { says: "what is scheduled? (or: my schedules)", does: "lists what is scheduled" },
    Phrase { says: "cancel <n>", does: "removes the schedule with the number n" },
    Phrase {
        says: "what can you do here?",
        does: "names the tools of this place, and these phrases",
    },
    Phrase {
        says: "call <tool> <json>",
        does: "calls any tool by its name, to see what it answers",
    },
    Phrase { says: "long <n>", does: "answers with n characters" },
];
