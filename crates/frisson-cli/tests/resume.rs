//! Same bits: on any number of threads, after any number of kills.
#![cfg(unix)]

mod common;

use std::time::Duration;

use common::{Session, said};

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    let s = Session::with_worm(200, 20);
    s.ok("bake worm.toml --threads 1 -o one.frisson");
    s.ok("bake worm.toml --threads 2 -o two.frisson");
    assert!(s.read("one.frisson") == s.read("two.frisson"));
}

#[test]
fn killed_bakes_resume_to_the_same_bytes() {
    let s = Session::with_worm(400, 80);
    let started = std::time::Instant::now();
    s.ok("bake worm.toml -o straight.frisson");
    let whole = started.elapsed();
    let straight = s.read("straight.frisson");
    // Fixed fractions of the straight run's time: early, in the middle, late.
    for (kill, fraction) in [0.1, 0.35, 0.5, 0.7, 0.9].into_iter().enumerate() {
        let flag = if kill == 0 { "" } else { "--resume" };
        let mut child = s.command(&format!("bake worm.toml --quiet {flag}")).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(fraction));
        // On Unix this is SIGKILL.
        let _ = child.kill();
        child.wait().unwrap();
    }
    s.ok("bake worm.toml --resume");
    assert!(s.read("worm.frisson") == straight);
}

#[test]
fn ctrl_c_leaves_a_resumable_bake_and_says_how() {
    let s = Session::with_worm(400, 200);
    s.ok("bake worm.toml -o straight.frisson");
    let mut command = s.command("bake worm.toml");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    while !s.path("worm.frisson.part").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    let (code, _, err) = said(&child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{err}");
    assert!(err.contains("go on with: frisson bake worm.toml --resume"), "{err}");
    assert!(!s.path("worm.frisson").exists());
    assert!(s.fails("bake worm.toml", 1).contains("--resume"));
    s.ok("bake worm.toml --resume");
    assert!(s.read("worm.frisson") == s.read("straight.frisson"));
}

#[test]
fn two_processes_on_one_cache_the_second_is_refused() {
    let s = Session::with_worm(400, 400);
    let mut first = s.command("bake worm.toml --quiet").spawn().unwrap();
    while !s.path("worm.frisson.part").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(20));
    for flag in ["", "--resume", "--force"] {
        let err = s.fails(&format!("bake worm.toml {flag}"), 1);
        assert!(err.contains("another process is baking"), "{flag}: {err}");
    }
    let _ = first.kill();
    first.wait().unwrap();
    // The lock goes with the process.
    s.ok("bake worm.toml --resume");
}

#[test]
fn a_changed_scene_is_not_resumed() {
    let s = Session::with_worm(400, 100);
    let mut child = s.command("bake worm.toml --quiet").spawn().unwrap();
    while !s.path("worm.frisson.part").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(50));
    let _ = child.kill();
    child.wait().unwrap();
    let scene = String::from_utf8(s.read("worm.toml")).unwrap();
    s.write("worm.toml", &scene.replace("frequency_hz = 2.0", "frequency_hz = 3.0"));
    let err = s.fails("bake worm.toml --resume", 1);
    assert!(err.contains("changed since the unfinished bake"), "{err}");
    // Exports and pictures do not change the motion.
    s.write("worm.toml", &(scene + "\n[camera]\nyaw_deg = 90\n"));
    s.ok("bake worm.toml --resume");
}
