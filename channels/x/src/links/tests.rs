//! Which links a text has: X's public examples, by their inputs.

use super::*;

/// Texts and the links that X finds in them.
const ROWS: &[(&str, &[&str])] = &[
    ("http://example.com", &["http://example.com"]),
    ("http://ああ.com", &["http://ああ.com"]),
    ("http://あ-あ.com", &["http://あ-あ.com"]),
    ("text http://google.com", &["http://google.com"]),
    ("text http://foobar.com/#", &["http://foobar.com/#"]),
    ("text http://google.com/#foo", &["http://google.com/#foo"]),
    (
        "text http://google.com/#search?q=iphone%20-filter%3Alinks",
        &["http://google.com/#search?q=iphone%20-filter%3Alinks"],
    ),
    (
        "text http://twitter.com/#search?q=iphone%20-filter%3Alinks",
        &["http://twitter.com/#search?q=iphone%20-filter%3Alinks"],
    ),
    (
        "text http://somedomain.com/index.php?path=/abc/def/",
        &["http://somedomain.com/index.php?path=/abc/def/"],
    ),
    (
        "text http://www.boingboing.net/2007/02/14/katamari_damacy_phon.html",
        &["http://www.boingboing.net/2007/02/14/katamari_damacy_phon.html"],
    ),
    ("text http://somehost.com:3000", &["http://somehost.com:3000"]),
    ("text http://xo.com/~matthew+%ff-x", &["http://xo.com/~matthew+%ff-x"]),
    ("text http://xo.com/~matthew+%ff-,.;x", &["http://xo.com/~matthew+%ff-,.;x"]),
    ("text http://xo.com/,.;x", &["http://xo.com/,.;x"]),
    (
        "text http://en.wikipedia.org/wiki/Primer_(film)",
        &["http://en.wikipedia.org/wiki/Primer_(film)"],
    ),
    (
        "text http://www.ams.org/bookstore-getitem/item=mbk-59",
        &["http://www.ams.org/bookstore-getitem/item=mbk-59"],
    ),
    ("text http://✪df.ws/ejp", &["http://✪df.ws/ejp"]),
    ("test http://example.comだよね.comtest/hogehoge", &["http://example.com"]),
    ("text http://chilp.it/?77e8fd", &["http://chilp.it/?77e8fd"]),
    ("text http://x.com/oneletterdomain", &["http://x.com/oneletterdomain"]),
    (
        "text http://msdn.microsoft.com/ja-jp/library/system.net.httpwebrequest(v=VS.100).aspx",
        &["http://msdn.microsoft.com/ja-jp/library/system.net.httpwebrequest(v=VS.100).aspx"],
    ),
    (
        "text https://www.youtube.com/watch?v=LOxOAuDHzaw&list=PLPoq910Q9jXhuH6pit_KwIsck9fEz_9U-",
        &["https://www.youtube.com/watch?v=LOxOAuDHzaw&list=PLPoq910Q9jXhuH6pit_KwIsck9fEz_9U-"],
    ),
    ("text http://no-tld", &[]),
    ("text http://tld-too-short.x", &[]),
    ("(http://twitter.com", &["http://twitter.com"]),
    (
        "text http://word-and-a-number-8-ftw.domain.com/",
        &["http://word-and-a-number-8-ftw.domain.com/"],
    ),
    ("text http://domain.com-that-you-should-have-put-a-space-after", &[]),
    ("text http://foo.com?#foo text", &["http://foo.com?#foo"]),
    (
        "foo.com foo.net foo.org foo.edu foo.gov",
        &["foo.com", "foo.net", "foo.org", "foo.edu", "foo.gov"],
    ),
    (
        "foo.baz foo.co.jp www.xxxxxxx.baz www.foo.co.uk wwwww.xxxxxxx foo.comm foo.somecom foo.govedu foo.jp",
        &["foo.co.jp", "www.foo.co.uk", "foo.jp"],
    ),
    ("t.co/abcde bit.ly/abcde", &["t.co/abcde", "bit.ly/abcde"]),
    ("http://foo.jp http://fooooo.jp", &["http://foo.jp", "http://fooooo.jp"]),
    (
        "Go to http://example.com/a+ or http://example.com/a-",
        &["http://example.com/a+", "http://example.com/a-"],
    ),
    (
        "Go to http://example.com/view/slug-url-?foo=bar",
        &["http://example.com/view/slug-url-?foo=bar"],
    ),
    (
        "Go to https://en.m.wikipedia.org/wiki/Hatfield–McCoy_feud please",
        &["https://en.m.wikipedia.org/wiki/Hatfield–McCoy_feud"],
    ),
    ("@user Try http:// example.com/path", &["example.com/path"]),
    (
        "これは日本語です。example.com/path/index.html中国語example.com/path한국",
        &["example.com/path/index.html", "example.com/path"],
    ),
    (
        "twitter.comこれは日本語です。example.com中国語t.co/abcde한국twitter.com example2.comテストtwitter.com/abcde",
        &[
            "twitter.com",
            "example.com",
            "t.co/abcde",
            "twitter.com",
            "example2.com",
            "twitter.com/abcde",
        ],
    ),
    (
        "http://twitter.com/これは日本語です。example.com中国語http://t.co/abcde한국twitter.comテストexample2.comテストhttp://twitter.com/abcde",
        &[
            "http://twitter.com/",
            "example.com",
            "http://t.co/abcde",
            "twitter.com",
            "example2.com",
            "http://twitter.com/abcde",
        ],
    ),
    ("Go to http://twitter.com/Русские_слова", &["http://twitter.com/Русские_слова"]),
    (
        "http://exampleこれは日本語です.com/path/index.html http://あああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああああ.com/path/index.html",
        &["http://exampleこれは日本語です.com/path/index.html"],
    ),
    (
        "twitter.jp日本語it.so中国語foo.jp it.so foo.jp",
        &["twitter.jp", "it.so", "foo.jp", "it.so", "foo.jp"],
    ),
    ("Hello http://xn--はじめよう.com/index.html", &[]),
    ("text http://domain-dash_2314352345_dfasd.foo-cow_4352.com", &[]),
    ("Email me at name.al-lastname@foo.com or name.al+lastname@foo.com", &[]),
    ("Find my page at name.al-lastname.com", &["name.al-lastname.com"]),
    ("MLB.tv vine.co twitch.tv t.co", &["MLB.tv", "vine.co", "twitch.tv", "t.co"]),
    ("@user Try http://\u{A0}example.com/path", &["example.com/path"]),
    ("test http://sub_domain-dash.twitter.com", &["http://sub_domain-dash.twitter.com"]),
    ("test http://a.b.cd", &["http://a.b.cd"]),
    ("test http://a_b.c-d.com", &["http://a_b.c-d.com"]),
    ("test http://a-b.c.com", &["http://a-b.c.com"]),
    ("test http://twitter-dash.com", &["http://twitter-dash.com"]),
    (
        "http://www.bestbuy.com/site/Currie+Technologies+-+Ezip+400+Scooter/9885188.p?id=1218189013070&skuId=9885188",
        &[
            "http://www.bestbuy.com/site/Currie+Technologies+-+Ezip+400+Scooter/9885188.p?id=1218189013070&skuId=9885188",
        ],
    ),
    ("test http://-leadingdash.twitter.com", &[]),
    ("test http://leadingdash.-twitter.com", &[]),
    ("test http://trailingdash-.twitter.com", &[]),
    ("test http://trailingdash.twitter-.com", &[]),
    ("test http://_leadingunderscore.twitter.com", &[]),
    ("test http://leadingunderscore._twitter.com", &[]),
    ("test http://trailingunderscore_.twitter.com", &[]),
    ("test http://trailingunderscore.twitter_.com", &[]),
    ("test http://-twitter.com", &[]),
    ("test http://twitter-.com", &[]),
    ("test http://twitter_underscore.com", &[]),
    ("test http://twitter.c_o_m", &[]),
    (
        "test http://www.foo.com/foo/path-with-period./",
        &["http://www.foo.com/foo/path-with-period./"],
    ),
    ("test http://www.foo.org.za/foo/bar/688.1", &["http://www.foo.org.za/foo/bar/688.1"]),
    (
        "test http://www.foo.com/bar-path/some.stm?param1=foo;param2=P1|0||P2|0",
        &["http://www.foo.com/bar-path/some.stm?param1=foo;param2=P1|0||P2|0"],
    ),
    ("test http://foo.com/bar/123/foo_&_bar/", &["http://foo.com/bar/123/foo_&_bar/"]),
    ("test http://www.cp.sc.edu/events/65 test", &["http://www.cp.sc.edu/events/65"]),
    (
        "http://www.andersondaradio.no.comunidades.net/ test test",
        &["http://www.andersondaradio.no.comunidades.net/"],
    ),
    ("test ELPAÍS.com", &["ELPAÍS.com"]),
    ("test http://twitter.com/.", &["http://twitter.com/"]),
    (
        "http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata",
        &[
            "http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata",
        ],
    ),
    (
        "text http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata text",
        &[
            "http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata",
        ],
    ),
    (
        "Test a ton of periods http://example.com/path..........................................",
        &["http://example.com/path"],
    ),
    (
        "Test a ton of periods http://example.com/,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
        &["http://example.com/"],
    ),
    (
        "Test a ton of periods http://example.com/path/!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
        &["http://example.com/path/"],
    ),
    ("#test.com @test.com #http://test.com @http://test.com #t.co/abcde @t.co/abcde", &[]),
    ("I really like http://t.co/pbY2NfTZ's website", &["http://t.co/pbY2NfTZ"]),
    ("Check this site out http://t.co/FNkPfmii- it's great", &["http://t.co/FNkPfmii"]),
    ("According to http://t.co/ulYGBYSo: the internet is cool", &["http://t.co/ulYGBYSo"]),
    (
        "I really like http://t.co/abcdefghijklmnopqrstuvwxyz0123456789",
        &["http://t.co/abcdefghijklmnopqrstuvwxyz0123456789"],
    ),
    ("I really like http://t.co/abcdefghijklmnopqrstuvwxyz012345678901234", &[]),
    ("example.comてすとですtwitter.みんなです", &["example.com", "twitter.みんな"]),
    (
        "http://twitter.com\nhttp://example.com\nhttp://example.com/path\nexample.com/path\nit.so\nit.so/abcde",
        &[
            "http://twitter.com",
            "http://example.com",
            "http://example.com/path",
            "example.com/path",
            "it.so",
            "it.so/abcde",
        ],
    ),
    ("$http://twitter.com $twitter.com $http://t.co/abcde $t.co/abcde $t.co $TVI.CA $RBS.CA", &[]),
    ("long.test.tar.bz2 test.tar.bz2 tar.bz2", &[]),
    ("john.doe.gov@mail.com", &[]),
    ("john.doe.jp@mail.com", &[]),
    (
        "\u{2066}\u{202A}test abcdef.com پاکستان http://twitter.com/\u{202C}\u{2069}",
        &["abcdef.com", "http://twitter.com/"],
    ),
    (
        "This is a test \u{2066}\u{202A}twitter.com\u{202C}\u{2069} \u{2066}\u{202A}http://foobar.پاکستان/\u{202C}\u{2069}\u{2069} قطر فلسطين عمان",
        &["twitter.com", "http://foobar.پاکستان/"],
    ),
    ("text https://t.co/UqIyJAJTfo?amp=1", &["https://t.co/UqIyJAJTfo?amp=1"]),
    ("text https://t.co/UqIyJAJTfo?type=js", &["https://t.co/UqIyJAJTfo?type=js"]),
    ("text https://t.co/UqIyJAJTfo?ssr=true", &["https://t.co/UqIyJAJTfo?ssr=true"]),
    ("text https://t.co/asdfdf?a=b#123", &["https://t.co/asdfdf?a=b#123"]),
    ("text https://t.co/sadfasdf?a=b&c=d", &["https://t.co/sadfasdf?a=b&c=d"]),
    ("皆さん見てください！ http://google.com", &["http://google.com"]),
    (
        "http://t.co/pbY2NfTZ's http://t.co/2vYHpAc5; http://t.co/ulYGBYSo: http://t.co/8MkmHU0k+c http://t.co/TKLp64dY.x http://t.co/8t7G3ddS#a http://t.co/FNkPfmii-",
        &[
            "http://t.co/pbY2NfTZ",
            "http://t.co/2vYHpAc5",
            "http://t.co/ulYGBYSo",
            "http://t.co/8MkmHU0k",
            "http://t.co/TKLp64dY",
            "http://t.co/8t7G3ddS",
            "http://t.co/FNkPfmii",
        ],
    ),
    (
        "http://www.foo.com?referer=https://t.co/abcde http://t.co/xyzzy",
        &["http://www.foo.com?referer=https://t.co/abcde", "http://t.co/xyzzy"],
    ),
    ("http://t.co http://t.co", &["http://t.co", "http://t.co"]),
    ("test http://xn--ls8h.XN--ls8h.la/", &["http://xn--ls8h.XN--ls8h.la/"]),
    (
        "test http://foobar.みんな/ http://foobar.中国/ http://foobar.پاکستان/ ",
        &["http://foobar.みんな/", "http://foobar.中国/", "http://foobar.پاکستان/"],
    ),
];

fn links(text: &str) -> Vec<&str> {
    Links::of(text).map(|link| &text[link]).collect()
}

#[test]
fn links_are_found_as_x_finds_them() {
    for (text, wanted) in ROWS {
        assert_eq!(links(text), *wanted, "{text}");
    }
}

#[test]
fn names_with_an_ending_that_there_is_are_links() {
    assert_eq!(
        links("selkie.rs, README.md and crates.io!"),
        ["selkie.rs", "README.md", "crates.io"]
    );
    assert_eq!(links("https://example.com/a_(b)?c=d#e"), ["https://example.com/a_(b)?c=d#e"]);
    assert_eq!(
        links(&format!("{}https://example.com/x", "あ".repeat(115))),
        ["https://example.com/x"]
    );
    for none in
        ["a@example.com", "1.5", "e.g. this", "http://localhost/x", "#example.com", "..", "a..com"]
    {
        assert_eq!(links(none), [""; 0], "{none}");
    }
}

#[test]
fn a_long_text_without_end_is_read_in_time() {
    for hostile in ["a.", "あ", "a-.", "あ.", "://", "(("] {
        Links::of(&hostile.repeat(20_000)).count();
    }
    Links::of(&("a.com/".to_owned() + &"(a".repeat(20_000))).count();
}

proptest::proptest! {
    #[test]
    fn links_lie_in_order_and_apart(text in "(\\PC|a\\.com|https://|/|あ|\\.){0,40}") {
        let mut end = 0;
        for link in Links::of(&text) {
            proptest::prop_assert!(end <= link.start && link.start < link.end);
            end = link.end;
        }
    }
}
