//! Programs that other programs start: scripts, launchers, ranks.

use std::process::Stdio;

use kirin_testing::skipped;

use super::*;

/// The search path with `folder` in it.
fn path(folder: &Path) -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(folder);
    path
}

#[test]
fn scripts_and_launchers_pass_it_on() {
    let folder = folder("launchers");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    script(&folder, "script", "#!/bin/sh\nexec ./client \"$@\"\n");
    script(&folder, "plain", "exec ./client \"$@\"\n");
    for name in ["./script", "./plain"] {
        let output = output(&mut kirin_run(&folder, &[name, "exit", "5"]));
        let expected = (OURS.to_owned(), String::new());
        assert_eq!(
            (output.status.code(), texts(&output)),
            (Some(5), expected),
            "{name}"
        );
    }
    let nested = [env!("CARGO_BIN_EXE_kirin"), "run", "./client"];
    assert_eq!(printed(kirin_run(&folder, &[]).args(nested)), OURS);

    std::fs::remove_file(folder.join("libg6.so")).expect("it was there");
    // A launcher's program is among its arguments; a script's is not.
    assert_eq!(
        printed(&mut kirin_run(&folder, &["env", "A=1", "./client"])),
        OURS
    );
    assert_eq!(
        printed(kirin_run(&folder, &["nice", "client"]).env("PATH", path(&folder))),
        OURS
    );
    let named = ["--replace", "libg6.so", "./script"];
    assert_eq!(printed(&mut kirin_run(&folder, &named)), OURS);
}

#[test]
fn ranks_under_a_launcher() {
    let folder = folder("ranks");
    if Command::new("mpirun").arg("--version").output().is_err() {
        skipped("there is no mpirun on this machine");
        return;
    }
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    std::fs::remove_file(folder.join("libg6.so")).expect("it was there");
    let kirin = env!("CARGO_BIN_EXE_kirin");
    let ways = [
        vec!["mpirun", "-n", "2", kirin, "run", "--", "./client"],
        vec![kirin, "run", "--", "mpirun", "-n", "2", "./client"],
    ];
    for way in ways {
        let mut command = command(&folder, way[0]);
        command.args(&way[1..]).stdin(Stdio::null());
        for name in [
            "OMPI_ALLOW_RUN_AS_ROOT",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
            "OMPI_MCA_rmaps_base_oversubscribe",
        ] {
            command.env(name, "1");
        }
        let output = output(&mut command);
        assert_eq!(texts(&output).0, OURS.repeat(2), "{way:?}: {output:?}");
    }
}
