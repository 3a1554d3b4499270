"""cluster_figure.py: what it reads from the results, its model, and the curves that it draws."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import cluster_figure
import figure

RUN = {"n": 1000, "t_end": 0.5, "steps": 400, "blocks": 20, "block_sizes": [10, 0, 10]}


class Model(unittest.TestCase):
    def test_the_same_run_takes_its_own_time(self):
        # 400 steps of 1000 pairs in 20 blocks and 3 seconds, which are half a time unit.
        whole = {1000: (3.0, 400 * 1000 / 3.0, 20.0)}
        self.assertAlmostEqual(cluster_figure.modelled(whole, [RUN], 0.01)[1000], 6.0)

    def test_blocks_and_steps_have_their_own_costs(self):
        whole = {1000: (3.0, 400 * 1000 / 3.0, 20.0)}
        twice_the_blocks = {**RUN, "blocks": 40}
        self.assertAlmostEqual(cluster_figure.modelled(whole, [twice_the_blocks], 0.01)[1000], 6.4)
        twice_the_steps = {**RUN, "steps": 800}
        self.assertAlmostEqual(cluster_figure.modelled(whole, [twice_the_steps], 0.01)[1000], 2 * (0.2 + 2 * 2.8))

    def test_differences_of_calls_are_added(self):
        same = {1: (20.0, 70.0), 32: (30.0, 80.0), 1000: (100.0, 150.0)}
        self.assertAlmostEqual(cluster_figure.more_by_sapporo(same, RUN), 20 * 50e-6 / 0.5)
        # Ten blocks of one star, and ten of four to seven: as if of six.
        growing = {1: (0.0, 10.0), 1000: (0.0, 10000.0)}
        self.assertAlmostEqual(cluster_figure.more_by_sapporo(growing, RUN), 10 * (10e-6 + 60e-6) / 0.5)


class Results(unittest.TestCase):
    def test_pages_of_results_are_read(self):
        cpu = cluster_figure.measured(cluster_figure.read("cluster-time.md"))
        self.assertEqual(cpu["kirin, 1 core"][1024], 0.286)
        self.assertEqual(cpu["Phantom-GRAPE, AVX-512, 1 core"][16384], 96.8)
        runs = cluster_figure.whole_runs(cluster_figure.read("hermite-thesis-h100.md"))
        self.assertEqual(runs[16384], (0.4326, 34.4e9, 437.5))
        calls = cluster_figure.calls(cluster_figure.read("gpu-h100/README.md"), 16384)
        self.assertEqual((calls[32], calls[16384]), ((36.2, 147.0), (1300.0, 7980.0)))

    def test_what_was_not_measured_is_drawn_as_a_model(self):
        drawn = []
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(figure, "draw", lambda what, path: drawn.append(what)), \
                mock.patch.object(sys, "argv", ["cluster_figure.py", os.path.join(folder, "a.svg")]), \
                mock.patch.object(cluster_figure, "PAGE", os.path.join(folder, "page.md")), contextlib.redirect_stdout(io.StringIO()):
            cluster_figure.main()
            with open(os.path.join(folder, "page.md"), encoding="utf-8") as file:
                written = file.read()
        forms = {curve["label"]: curve["form"] for curve in drawn[0]["columns"][0][0]["data"]["curves"]}
        self.assertEqual({label for label, form in forms.items() if form == "model"},
                         {"kirin, an H100 (modelled)", "sapporo2, an H100 (modelled)"})
        self.assertEqual(sum(form == "measured" for form in forms.values()), 4)
        # The page in the repository is the one that its data give.
        self.assertEqual(written, cluster_figure.read("cluster-time-gpu.md"))


if __name__ == "__main__":
    unittest.main()
