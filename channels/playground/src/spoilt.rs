//! What no platform itself answers: a gateway's page, a connection that is cut, an answer that is spoilt on its way.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Response};

use crate::faults::FaultKind;
use crate::line::Line;

/// The answer of a fault that keeps a call from its platform; none for what the platform itself says.
pub(crate) fn instead(fault: &FaultKind, line: &Line) -> Option<Response> {
    match fault {
        FaultKind::Html { status } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            let page =
                format!("<html><head><title>{status}</title></head><body>nginx</body></html>");
            Some((status, Html(page)).into_response())
        }
        FaultKind::CutBefore => {
            line.cut();
            Some(StatusCode::BAD_GATEWAY.into_response())
        }
        _ => None,
    }
}

/// Waits, where the fault lets a call be late.
pub(crate) async fn delay(fault: Option<&FaultKind>) {
    if let Some(FaultKind::Delay { ms }) = fault {
        tokio::time::sleep(Duration::from_millis(*ms)).await;
    }
}

/// An answer in JSON as the fault leaves it; `bare` is the platform's yes that names nothing.
pub(crate) fn answer(
    status: u16,
    mut text: String,
    fault: Option<&FaultKind>,
    bare: &str,
    line: &Line,
) -> Response {
    match fault {
        Some(FaultKind::Truncate) => text.truncate(text.floor_char_boundary(text.len() / 2)),
        Some(FaultKind::Bare) => bare.clone_into(&mut text),
        Some(FaultKind::Garbage) => "\u{1f}\u{8b} this is not the answer".clone_into(&mut text),
        Some(FaultKind::CutAfter) => line.cut(),
        _ => {}
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}
