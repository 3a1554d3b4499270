"""benches/reports.py with programs that only write what they were told."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import reports  # noqa: E402

# Writes its arguments into the file after --output. `busy` says so of the machine in its first run.
PROGRAM = """#!/bin/sh
name=$(basename "$0")
echo "$name" >> order
while [ $# -gt 0 ]; do
    case "$1" in
    --minutes) minutes=$2 ;;
    --output) output=$2 ;;
    esac
    shift
done
case "$name" in
hermite) exit 3 ;;
symplectic) [ "$(grep -c symplectic order)" = 2 ] || busy="The machine was too busy" ;;
esac
echo "$minutes $output $busy" > "$output"
"""


class Reports(unittest.TestCase):
    def test_little_time_goes_to_what_is_worth_most(self):
        def given(minutes):
            return {report[0]: share for report, share in reports.shares(minutes) if share}

        self.assertEqual(sum(given(None).values()), sum(r[3] for r in reports.REPORTS))
        self.assertEqual(given(1000), given(None))
        self.assertEqual(list(given(2.1)), ["treecode", "symplectic"])
        self.assertEqual(given(0.1), {})
        for minutes in [0.5, 2, 5, 9, 20, 30]:
            self.assertLessEqual(sum(given(minutes).values()), minutes * (1 + 1e-9))

    def run_all(self, *arguments):
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "benches/results").mkdir(parents=True)
            (root / "programs").mkdir()
            for program, *_ in reports.REPORTS:
                file = root / "programs" / program
                file.write_text(PROGRAM)
                file.chmod(0o755)
            printed = io.StringIO()
            with mock.patch.object(reports, "ROOT", root), contextlib.redirect_stdout(printed):
                status = reports.main([*arguments, "--programs", str(root / "programs"), "box"])
            order = root / "order"
            files = {f.name: f.read_text() for f in (root / "benches/results").iterdir()}
            return status, printed.getvalue(), order.read_text().split() if order.exists() else [], files

    def test_a_disturbed_report_is_made_once_more_and_a_failed_one_is_told(self):
        status, printed, order, files = self.run_all()
        self.assertEqual(status, 1)
        self.assertEqual(order, [r[0] for r in reports.REPORTS] + ["symplectic"])
        self.assertIn("hermite      thesis   failed: status 3", printed)
        self.assertIn("symplectic   paper    made", printed)
        self.assertEqual(len(files), len(reports.REPORTS) - 1)
        self.assertRegex(files["symplectic-paper-box.md"], r"^6 .*symplectic-paper-box\.md \n$")

    def test_a_busy_machines_report_replaces_none_of_a_quieter_one(self):
        busy = f"{reports.DISTURBED}: other programs had {{}} %, other guests of the host {{}} %\n".format
        calm = "other programs had 1.0 %, other guests of the host 0.0 %\n"
        report = reports.REPORTS[0]
        with tempfile.TemporaryDirectory() as folder:
            to = pathlib.Path(folder, "report")

            def make(text):
                def failure_of(arguments, seconds):
                    draft.write_text(text)

                draft = to.with_name("report-draft.md")
                stem = mock.patch.object(reports, "stem", lambda *_: to)
                with stem, mock.patch.object(reports, "failure_of", failure_of):
                    verdict = reports.run(report, 1, "box", pathlib.Path("programs"))
                self.assertFalse(draft.exists())
                return verdict, to.with_name("report.md").read_text()

            self.assertEqual(make(busy("20.0", "5.0")), ("disturbed", busy("20.0", "5.0")))
            kept = "disturbed; the one before is kept"
            self.assertEqual(make(busy("90.0", "0.0")), (kept, busy("20.0", "5.0")))
            self.assertEqual(make(busy("6.0", "2.0")), ("disturbed", busy("6.0", "2.0")))
            self.assertEqual(make(calm), ("made", calm))
            self.assertEqual(make(busy("6.0", "2.0")), (kept, calm))

    def test_a_report_without_end_takes_its_processes_along(self):
        with tempfile.TemporaryDirectory() as folder:
            # A pipe that has a writer as long as one of the processes lives.
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            started = ["sh", "-c", f"exec > {pipe}; echo begun; trap '' TERM; sleep 60 & wait"]
            with mock.patch.object(reports, "PATIENCE", 0.2):
                failure = reports.failure_of(started, 1)
            self.assertIn("timed out", failure)
            self.assertEqual(os.read(reader, 100), b"begun\n")
            for _ in range(100):
                try:
                    left = os.read(reader, 1)
                    break
                except BlockingIOError:
                    time.sleep(0.1)
            else:
                left = None
            self.assertEqual(left, b"")
        self.assertEqual(reports.failure_of(["sh", "-c", "exit 3"], 60), "status 3")
        self.assertIsNone(reports.failure_of(["true"], 60))
        self.assertIn("no-such-program", reports.failure_of(["./no-such-program"], 60))

    def test_what_has_no_time_is_left_out(self):
        status, printed, order, _ = self.run_all("--minutes", "0.6")
        self.assertEqual((status, order), (1, ["treecode"]))
        self.assertIn("monte-carlo  paper    left out: no time", printed)

    def test_the_list_runs_nothing(self):
        status, printed, order, files = self.run_all("--list", "--minutes", "2.1")
        self.assertEqual((status, order, files), (0, [], {}))
        self.assertIn("   0.5 min  ", printed)
        self.assertIn("left out", printed)


if __name__ == "__main__":
    unittest.main()
