//! `selkie mcp login` and `selkie mcp logout`: who signs in at a server, and forgets that again.

use std::io;

use super::super::outcome::{Failure, Outcome};
use super::super::print;
use selkie_app::build::AppConfig;
use selkie_app::lifecycle;
use selkie_guard::visible::one_line;
use selkie_mcp::{LoginSummary, TokenFolder};

const MAX_PASTE: u64 = 64 * 1024;

/// Prints where to sign in, and keeps what comes of it.
pub(super) fn login(plan: &AppConfig, name: &str, scope: &[String], paste: bool) -> Outcome {
    let summary = lifecycle::runtime()?.block_on(async {
        let connections = &plan.mcp.connections;
        let summary = signed_in(plan, name, scope, paste).await;
        connections.end().await;
        summary
    })?;
    let LoginSummary { issuer, scopes, is_renewable } = summary;
    let scopes = match scopes.is_empty() {
        true => String::new(),
        false => format!(" for {}", scopes.join(" ")),
    };
    let lasts = match is_renewable {
        true => "selkie renews this by itself",
        false => "This cannot be renewed: sign in again when it is over",
    };
    let issuer = one_line(&issuer);
    Ok(print::prose(&format!(
        "Signed in at {name} by {issuer}{scopes}. {lasts}. Next: selkie mcp trust {name}\n"
    ))?)
}

async fn signed_in(
    plan: &AppConfig,
    name: &str,
    scope: &[String],
    paste: bool,
) -> Result<LoginSummary, Failure> {
    let connections = &plan.mcp.connections;
    let login = connections.login(name, scope, &*plan.chance).await?;
    print::out(&format!("Open this address in a browser:\n\n{}\n\n", login.address()))?;
    if !paste {
        print::prose(
            "selkie waits for 5 minutes. If the browser is on another machine, stop this and run it with --paste.\n",
        )?;
        return Ok(login.wait().await?);
    }
    print::prose(&format!(
        "Once you have signed in, the browser ends at an address that it cannot open ({}?…). Paste that whole address here:\n",
        login.redirect()
    ))?;
    let mut line = String::new();
    io::BufRead::read_line(&mut io::Read::take(io::stdin().lock(), MAX_PASTE), &mut line)?;
    Ok(login.take(&line).await?)
}

/// Forgets what was granted.
pub(super) fn logout(plan: &AppConfig, name: &str) -> Outcome {
    let tokens = TokenFolder::of(&plan.folders.state, &plan.redactor);
    let had = lifecycle::runtime()?.block_on(tokens.sign_out(name))?;
    Ok(print::prose(&match had {
        true => {
            format!("Signed out of {name}: its tokens are gone here. The server was not told.\n")
        }
        false => format!("Nobody is signed in at {name}.\n"),
    })?)
}
