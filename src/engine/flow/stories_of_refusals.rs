//! A platform refuses to be listened to: it is asked again as long as the daemon lives, and the owner knows.

use std::time::Duration;

use selkie_channel_core::{Inbox as _, ListenEnd, Pace, Pulse};

use crate::delivery::account::ListenState;
use crate::flow::testing::{self, Fixture, account, message};
use crate::intake::settings::Settings;

fn refused() -> ListenEnd {
    ListenEnd::Refused("401: a wrong token".to_owned())
}

fn hearing(house: &Fixture) -> ListenState {
    let states = house.flow.channels();
    states.into_iter().find(|state| state.name == "test").unwrap().hearing
}

#[tokio::test]
async fn a_refused_channel_is_tried_again_and_the_owner_is_told_once_elsewhere() {
    let (channel, other) = testing::other();
    let house = testing::desk_beside(Settings::default(), Pace::LIFTED, Some(channel));
    // It has worked, and is then refused for a while.
    house.inbox.pulse(&account(), Pulse::Heard);
    *house.platform.ends.lock().unwrap() = [refused(), refused(), refused()].into();
    house.begin().await;
    let told = other.wait_for(1).await;
    assert_eq!(told[0].0, "ot:1");
    assert!(told[0].1.contains("nothing on test any more: 401: a wrong token"), "{told:?}");
    let tried = async {
        while !house.platform.ends.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), tried).await.expect("it is tried again");
    assert_eq!(hearing(&house), ListenState::Refused { reason: "401: a wrong token".to_owned() });
    house.inbox.pulse(&account(), Pulse::Heard);
    let told = other.wait_for(2).await;
    assert!(told[1].1.contains("test works again"), "{told:?}");
    assert_eq!(hearing(&house), ListenState::Listening);
    house.hear(vec![message("tg:1", "hello")]).await;
    house.platform.wait_for(1).await;
    assert_eq!(other.arrived.borrow().len(), 2, "told once, and once when it is back");
    house.close().await;
}

#[tokio::test]
async fn only_when_no_channel_has_ever_worked_the_daemon_ends() {
    let (channel, other) = testing::other();
    let house = testing::desk_beside(Settings::default(), Pace::LIFTED, Some(channel));
    let ends = || [refused(), refused(), refused(), refused()].into();
    *house.platform.ends.lock().unwrap() = ends();
    house.begin().await;
    // The other one listens: nothing is hopeless.
    other.wait_for(1).await;
    assert!(house.hopeless().is_none());
    house.close().await;

    let house = testing::desk();
    *house.platform.ends.lock().unwrap() = ends();
    house.begin().await;
    let why = tokio::time::timeout(Duration::from_secs(20), house.flow.hopeless()).await;
    assert_eq!(why.expect("it is said"), "test: 401: a wrong token");
    house.close().await;
}
