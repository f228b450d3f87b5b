//! What no platform itself answers: a gateway's page, a connection that is cut, an answer that is spoilt on its way.

use axum::http::StatusCode;
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

/// An answer as the fault leaves it; `bare` is the platform's yes that names nothing.
pub(crate) fn spoilt(mut answer: String, fault: Option<&FaultKind>, bare: &str) -> String {
    match fault {
        Some(FaultKind::Truncate) => {
            answer.truncate(answer.floor_char_boundary(answer.len() / 2));
            answer
        }
        Some(FaultKind::Bare) => bare.to_owned(),
        Some(FaultKind::Garbage) => "\u{1f}\u{8b} this is not the answer".to_owned(),
        _ => answer,
    }
}
