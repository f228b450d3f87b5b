//! The listener of webhooks, where the config wants one.

use tokio_util::sync::CancellationToken;

use crate::app::App;

/// Opens its address; what is returned takes calls until `stop`.
///
/// # Errors
/// When the address is none, or the system refuses it.
pub async fn listen(
    app: &App,
    stop: CancellationToken,
) -> anyhow::Result<Option<impl Future<Output = ()> + Send + use<>>> {
    let address = app.plan.settings.webhooks.address();
    let address = address.map_err(|why| anyhow::anyhow!("webhooks.listen {why}"))?;
    let Some(address) = address else { return Ok(None) };
    let listening = selkie_hooks::listen(address, &app.webhooks, stop).await;
    Ok(Some(listening.map_err(|error| {
        anyhow::anyhow!(
            "webhooks.listen: {address} cannot be opened ({error}): stop the program that holds it, or choose another port"
        )
    })?))
}
