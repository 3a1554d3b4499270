//! Which libraries of a program kirin takes the place of.

use super::*;

#[test]
fn the_name_of_the_library_does_not_matter_nor_whether_it_is_there() {
    for name in [
        "libg6a.so.2",
        "libsapporo_light.so",
        "libsapporo2.so",
        "libmine.so",
    ] {
        let folder = folder(name);
        if !pair(&folder, name, &[]) {
            return;
        }
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "{name}"
        );
        std::fs::remove_file(folder.join(name)).expect("it was there");
        let without = output(&mut command(&folder, "./client"));
        assert_eq!(without.status.code(), Some(127), "{name} is not missed?");
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
        // What was written the first time is used the second time; a damaged file is not.
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
        let entries = |folder: &Path| -> Vec<PathBuf> {
            let entries = folder.read_dir().expect("a folder");
            entries.map(|e| e.expect("an entry").path()).collect()
        };
        // In a folder of this kirin.
        let own = entries(&folder.join("cache/kirin/stand-ins"));
        assert_eq!(own.len(), 1);
        for path in entries(&own[0]) {
            std::fs::write(path, "damaged").expect("our own file");
        }
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
    }
}

/// An empty entry of PATH is the folder itself.
#[test]
fn a_program_of_this_folder_needs_no_library_either() {
    let folder = folder("here");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    std::fs::remove_file(folder.join("libg6.so")).expect("it was there");
    let path = std::env::var("PATH").expect("there is one");
    let mut run = kirin_run(&folder, &["client"]);
    assert_eq!(printed(run.env("PATH", format!(":{path}"))), OURS);
}

#[test]
fn a_library_named_by_its_path_can_be_absent() {
    let folder = folder("path");
    if !compile(
        &folder,
        "gcc",
        &["-shared", "-fPIC", "-o", "libx.so", "standin.c"],
    ) || !compile(&folder, "gcc", &["client.c", "-o", "client", "./libx.so"])
    {
        return;
    }
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
    std::fs::remove_file(folder.join("libx.so")).expect("it was there");
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
}

#[test]
fn the_other_library_is_not_even_loaded_unless_more_is_wanted_of_it() {
    let silent = folder("silent");
    if !pair(&silent, "libg6.so", &["-DTALKS"]) {
        return;
    }
    let theirs = printed(&mut command(&silent, "./client"));
    assert!(theirs.starts_with("the stand-in is loaded"), "{theirs}");
    assert_eq!(printed(&mut kirin_run(&silent, &["./client"])), OURS);

    let helper = folder("helper");
    assert!(pair(&helper, "libg6.so", &["-DTALKS", "-DHELPER"]));
    let found = printed(&mut kirin_run(&helper, &["./client"]));
    assert_eq!(found, format!("the stand-in is loaded\n{OURS}3\n"));
}

#[test]
fn libraries_that_are_missed_for_other_reasons_stay_missed() {
    let folder = folder("missing");
    if !pair(&folder, "libg6.so", &["-DHELPER"]) {
        return;
    }
    std::fs::write(folder.join("empty.c"), "int other(void) { return 0; }\n").expect("written");
    let empty = folder.join("empty.c");
    let empty = empty.to_str().expect("a plain path");
    let gcc = |arguments: &[&str]| {
        let status = Command::new("gcc")
            .current_dir(&folder)
            .args(arguments)
            .status();
        assert!(status.expect("gcc ran before").success());
    };
    gcc(&["-shared", "-fPIC", "-o", "libother.so", empty]);
    let rpath = "-Wl,-rpath,$ORIGIN";
    let options = [
        "-DHELPER",
        "-Wl,--no-as-needed",
        "-L.",
        "-lg6",
        "-lother",
        rpath,
    ];
    assert!(compile(
        &folder,
        "gcc",
        &[&["client.c", "-o", "client"][..], &options].concat()
    ));
    std::fs::remove_file(folder.join("libother.so")).expect("it was there");
    let output = output(&mut kirin_run(&folder, &["./client"]));
    assert_eq!(output.status.code(), Some(127));
    assert!(texts(&output).1.contains("libother.so"), "{output:?}");
}

/// A folder under a path without spaces.
fn tmp(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{name}-{}", std::process::id()))
}

#[test]
fn paths_that_a_list_cannot_hold_are_linked() {
    let folder = folder("a place: with all");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    // Installed: bin/kirin and lib/libkirin.so.0.
    for sub in ["bin", "lib", "home"] {
        std::fs::create_dir_all(folder.join(sub)).expect("a folder");
    }
    let command_file = folder.join("bin/kirin");
    std::fs::copy(env!("CARGO_BIN_EXE_kirin"), &command_file).expect("copied");
    let built = Path::new(env!("CARGO_BIN_EXE_kirin")).with_file_name("deps/libkirin.so");
    std::fs::copy(built, folder.join("lib/libkirin.so.0")).expect("copied");
    let mut run = command(&folder, command_file.to_str().expect("a plain path"));
    let cache = tmp("kirin-run-test");
    run.env("XDG_CACHE_HOME", &cache).args(["run", "./client"]);
    assert_eq!(printed(&mut run), OURS);
    std::fs::remove_dir_all(cache).expect("it was used");
}

#[test]
fn nobody_else_can_put_libraries_into_its_folder() {
    let folder = folder("others");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let open = folder.join("cache/kirin/stand-ins");
    std::fs::create_dir_all(&open).expect("a folder");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).expect("our own");
    let home = folder.join("home");
    let mut run = kirin_run(&folder, &["./client"]);
    assert_eq!(printed(run.env("HOME", &home)), OURS);
    assert_eq!(open.read_dir().expect("a folder").count(), 0, "it was used");
    assert!(home.join(".cache/kirin/stand-ins").is_dir());
}
