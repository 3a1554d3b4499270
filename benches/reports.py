#!/usr/bin/env python3
"""All reports of the applications, in the order of their worth, within a given time, into benches/results.

    benches/reports.py [--minutes M] [--programs FOLDER] NAME

NAME is the machine's in the names of the files, h200 for example. Without --minutes every report gets its own. --list prints what
would run, and how long. The programs are those of target/release; a machine without Rust gets them by benches/carry.sh.

A report whose machine was too busy is made once more at the end, if there is time. It replaces no report of a quieter machine. Ends
with a table of what was made; the status is 1 where a report failed or was left out.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DISTURBED = "The machine was too busy"
# Both in per cent, and a report may lack them.
OTHER_LOAD = re.compile(r"other programs had ([0-9.]+) %, other guests of the host ([0-9.]+) %")
# Seconds that a report and its processes have to end once they are told to.
PATIENCE = 10
# Program, report, more arguments, minutes for all of its cells on a GPU or a current processor, the least that
# fill its first cells. By worth: cells that no machine has filled yet come first (README.md beside the results).
REPORTS = [
    ("treecode", "thesis", [], 2.0, 0.5),
    ("symplectic", "paper", ["--largest", "1536000"], 6.0, 1.0),
    ("hermite", "thesis", [], 3.0, 0.5),
    ("textbook", "chapter", [], 4.0, 1.0),
    ("parallel", "paper", ["--ranks", "4"], 3.0, 1.0),
    ("monte-carlo", "paper", ["--ranks", "2", "--threads", "1"], 14.0, 3.0),
]


def shares(minutes):
    """The minutes of each report: its own, or in proportion to that what there is; none for what comes too short."""
    chosen = list(REPORTS)
    while chosen:
        part = 1.0 if minutes is None else min(1.0, minutes / sum(r[3] for r in chosen))
        if all(part * full >= least for *_, full, least in chosen):
            return [(report, part * report[3] if report in chosen else None) for report in REPORTS]
        # What is worth least gives way.
        chosen.pop()
    return [(report, None) for report in REPORTS]


def stem(report, name):
    return pathlib.Path("benches/results", f"{report[0]}-{report[1]}-{name}")


def command(report, minutes, to, programs):
    program, publication, more, *_ = report
    files = [f for kind in ("output", "plot") for f in (f"--{kind}", f"{to}{'.md' if kind == 'output' else '.svg'}")]
    if program == "textbook":
        files = files[:2]
    return [str(programs / program), "--report", publication, *more, "--minutes", f"{minutes:.3g}", *files]


def load(text):
    """What others had of the machine while a disturbed report was made, in per cent; 0 for an undisturbed one."""
    if DISTURBED not in text:
        return 0.0
    found = OTHER_LOAD.search(text)
    return sum(map(float, found.groups())) if found else float("inf")


def end(process):
    """Ends a program that leads a session, and all that it started. What goes on would disturb the next report."""
    try:
        # mpirun takes its ranks along, which are in groups of their own.
        os.killpg(process.pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # Nobody is left.


def failure_of(arguments, seconds):
    """Runs a program for so many seconds at most. Returns what went wrong, in words, or None."""
    try:
        with subprocess.Popen(arguments, start_new_session=True) as process:
            try:
                status = process.wait(seconds)
            except BaseException:
                # Ctrl-C does not reach another session.
                end(process)
                raise
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return f"status {status}" if status else None


def run(report, minutes, name, programs):
    """Makes a report. Returns a word for the table."""
    to = stem(report, name)
    draft = to.with_name(to.name + "-draft")
    # A report that hangs takes no time from the others.
    limit = 60 * (3 * minutes + 2)
    failure = failure_of(command(report, minutes, draft, programs), limit)
    made = draft.with_name(draft.name + ".md")
    if failure or not made.exists():
        return f"failed: {failure or 'no file'}"
    disturbance = load(made.read_text())
    kept = to.with_name(to.name + ".md")
    if kept.exists() and load(kept.read_text()) < disturbance:
        # One of a quieter machine, also of an earlier day, is worth more.
        for kind in (".md", ".svg"):
            draft.with_name(draft.name + kind).unlink(missing_ok=True)
        return "disturbed; the one before is kept"
    for kind in (".md", ".svg"):
        file = draft.with_name(draft.name + kind)
        if file.exists():
            text = file.read_text()
            # The command in the report is to name the files that are there.
            to.with_name(to.name + kind).write_text(text.replace(draft.name, to.name))
            file.unlink()
    return "disturbed" if disturbance else "made"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="time for everything")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("target/release"), help="where the programs are")
    parser.add_argument("--list", action="store_true", help="print what would run")
    parser.add_argument("name", metavar="NAME")
    told = parser.parse_args(arguments)
    if told.minutes is not None and not told.minutes > 0:
        parser.error("--minutes wants a positive number")
    os.chdir(ROOT)
    plan = shares(told.minutes)
    if told.list:
        for report, minutes in plan:
            asked = command(report, minutes or 0, stem(report, told.name), told.programs)
            print(f"{minutes:6.1f} min  {' '.join(asked)}" if minutes else f"  left out  {' '.join(asked[:3])}")
        return 0
    began = time.monotonic()
    lines = []
    again = []
    for report, minutes in plan:
        verdict = run(report, minutes, told.name, told.programs) if minutes else "left out: no time"
        lines.append([report, verdict])
        if verdict.startswith("disturbed"):
            again.append((len(lines) - 1, report, minutes))
    for line, report, minutes in again:
        left = None if told.minutes is None else told.minutes - (time.monotonic() - began) / 60
        if left is None or left >= minutes:
            lines[line][1] = run(report, minutes, told.name, told.programs)
    for report, verdict in lines:
        print(f"{report[0]:12} {report[1]:8} {verdict}")
    return int(any(verdict.startswith(("failed", "left out")) for _, verdict in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
