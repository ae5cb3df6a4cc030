//! `frisson sweep` as a person uses it.

mod common;

use common::Session;
use serde_json::Value;

fn table(s: &Session) -> Value {
    serde_json::from_slice(&s.read("worm.sweep/sweep.json")).unwrap()
}

fn column(table: &Value, key: &str) -> usize {
    let columns = table["columns"].as_array().unwrap();
    columns.iter().position(|c| c["key"] == key).unwrap()
}

#[test]
fn a_grid_is_baked_measured_drawn_and_picked() {
    let s = Session::with_worm(12, 8);
    let plain = String::from_utf8(s.read("worm.toml")).unwrap();
    let commented = format!("# mine\n{}", plain.replace("0.1 }", "0.1 } # soft"));
    s.write("worm.toml", &commented);
    let out = s.ok(
        "sweep worm.toml --set belly.frequency_hz=2..6/3 --set layers.belly.damping_ratio=0.1,0.6",
    );
    assert!(out.contains("frequency_hz") && out.contains("index.html"), "{out}");
    for file in ["sheet.png", "moving.webp", "index.html", "sweep.json"] {
        assert!(s.path(&format!("worm.sweep/{file}")).exists(), "{file}");
    }
    let first = table(&s);
    assert_eq!(first["variants"].as_array().unwrap().len(), 7);
    // A stiffer spring swings less: the measures speak of the variants, not of one of them.
    let effect = column(&first, "effect:worm");
    let of = |n: usize| first["variants"][n]["measures"][effect].as_f64().unwrap();
    assert!(of(1) > 1.2 * of(5) && of(5) > 0.0, "{} {}", of(1), of(5));

    // The same again bakes nothing; a larger sweep bakes what is new.
    let caches = || -> Vec<std::time::SystemTime> {
        let row = |r: &Value| s.path(&format!("worm.sweep/{}", r["cache"].as_str().unwrap()));
        let rows = first["variants"].as_array().unwrap();
        rows.iter().map(|r| row(r).metadata().unwrap().modified().unwrap()).collect()
    };
    let baked = caches();
    s.ok("sweep worm.toml --set belly.frequency_hz=2..6/5 --set belly.damping_ratio=0.1,0.6 --no-pictures");
    assert_eq!(caches(), baked);
    assert_eq!(table(&s)["variants"].as_array().unwrap().len(), 11);

    // Picked: two values change, every other byte stays.
    let out = s.ok("sweep worm.toml --pick 10");
    assert!(out.contains("belly.frequency_hz: 2.0 -> 6.0"), "{out}");
    let after = String::from_utf8(s.read("worm.toml")).unwrap();
    let comments = |text: &str| text.matches('#').count();
    assert_eq!(comments(&after), comments(&commented));
    assert!(after.contains("frequency_hz = 6.0"), "{after}");
    let changed = commented.lines().zip(after.lines()).filter(|(a, b)| a != b).count();
    assert_eq!((changed, after.lines().count()), (1, commented.lines().count()), "{after}");
    s.ok("check worm.toml");
}

#[test]
fn a_search_meets_a_wanted_swing() {
    let s = Session::with_worm(12, 10);
    let out =
        s.ok("sweep worm.toml --set belly.frequency_hz=1..10 --latin 6 --no-pictures --seed 3");
    assert!(out.contains("frequency_hz"), "{out}");
    let samples = table(&s);
    let effect = column(&samples, "effect:worm");
    let rows = samples["variants"].as_array().unwrap();
    let values: Vec<f64> =
        rows[1..].iter().map(|r| r["measures"][effect].as_f64().unwrap()).collect();
    let (low, high) = values.iter().fold((f64::MAX, 0f64), |(l, h), &v| (l.min(v), h.max(v)));
    let wanted = 0.5 * (low + high);
    s.ok(&format!(
        "sweep worm.toml --set belly.frequency_hz=1..10 --best effect={wanted} --budget 24 --no-pictures"
    ));
    let found = table(&s);
    let best = found["best"].as_u64().unwrap() as usize;
    let effect = column(&found, "effect:worm");
    let got = found["variants"][best]["measures"][effect].as_f64().unwrap();
    assert!((got - wanted).abs() < 0.05 * wanted, "{got} for {wanted}");
}

#[test]
fn mistakes_are_told_before_anything_is_baked() {
    let s = Session::with_worm(6, 3);
    for (arguments, words) in [
        ("--set bely.frequency_hz=1,2", "did you mean"),
        ("--set layers.bely.frequency_hz=1,2", "did you mean \"belly\"?"),
        ("--set belly.freqency_hz=1,2", "did you mean \"frequency_hz\"?"),
        ("--set belly.frequency_hz=-1,2", "must be"),
        ("--set belly.frequency_hz=2..6", "does not say how many"),
        ("--set belly.frequency_hz=2", "nothing varies"),
        ("--set belly.frequency_hz=1,2 --best stretsch", "no measure"),
        ("--pick 3", "sweep first"),
    ] {
        let err = s.fails(&format!("sweep worm.toml {arguments}"), 1);
        assert!(err.contains(words), "{arguments}: {err}");
    }
    assert!(!s.files().iter().any(|f| f.ends_with(".frisson")), "{:?}", s.files());
    s.fails("sweep worm.toml", 2);
}
