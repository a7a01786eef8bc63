"""How `ductile validate` runs its studies and keeps its report, with programs that only pretend."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))
sys.dont_write_bytecode = True

import validate  # noqa: E402
from suite import report  # noqa: E402
from suite.context import Context, Failure  # noqa: E402
from suite.result import Result  # noqa: E402
from suite.scene import METHODS  # noqa: E402

FACTS = {"date": "2000-01-01 00:00 UTC", "commit": "0123456789abcdef", "processor": "p", "cores": 1, "studies_known": 1, "version": "1", "devices": "d",
         "system": "s", "python": "3", "packages": {}}


class Validate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, text):
        file = self.folder / "program"
        file.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        file.chmod(0o755)
        return file

    def start(self, *arguments, **options):
        command = [sys.executable, str(ROOT / "validation/validate.py"), "--ductile", str(self.folder / "program"), "--fem", "fem", "-o",
                   str(self.folder / "out"), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def test_unknown_studies_are_refused_when_listed(self):
        with self.start("--list", "nope") as process:
            _, errors = process.communicate()
        self.assertEqual(process.returncode, 2)
        self.assertIn("no study \"nope\"", errors)

    def test_every_study_declares_its_bounds(self):
        for name in validate.STUDIES:
            self.assertGreater(min(validate.module_of(name).CHECKS[form] for form in ("quick", "full")), 0)

    def test_nobody_need_read_the_list_to_its_end(self):
        with self.start("--list") as process:
            process.stdout.close()
            errors = process.stderr.read()
        self.assertEqual(errors, "")

    def test_a_signal_ends_the_runs_and_says_how_to_go_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            # `devices` and `--version` are asked for first: they must not sleep.
            self.program(f'case "$1" in run) echo $$ >> {self.folder}/ids; exec sleep 600 ;; esac\n')
            with self.start("--quick", "rotation", "conservation") as process:
                while not (self.folder / "ids").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.05)
                process.send_signal(number)
                _, errors = process.communicate()
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("0 of 2 studies are done", errors)
            self.assertIn("--quick --update -o", errors)
            self.assertIn("rotation conservation", errors)
            for child in (self.folder / "ids").read_text().split():
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(child), 0)
            (self.folder / "ids").unlink()

    def outcome(self, run, bounds):
        module = types.SimpleNamespace(TITLE="t", SHOWS="s", ANSWERS="a", CHECKS={"quick": bounds, "full": bounds}, run=run)
        options = types.SimpleNamespace(ductile="d", fem="f", quick=True, other=None)
        self.addCleanup(setattr, validate, "module_of", validate.module_of)
        validate.module_of = lambda name: module
        scratch = Path(tempfile.mkdtemp(dir=self.folder))
        return validate.run_study("study", options, scratch, FACTS)

    def test_a_declared_bound_without_a_value_fails_the_study(self):
        def run(context, result):
            result.check("one", 0.0, 1.0, "mathematics")

        self.assertTrue(validate.holds(self.outcome(run, 1)))
        outcome = self.outcome(run, 2)
        self.assertFalse(validate.holds(outcome))
        self.assertIn("declares 2 bounds and judged 1", outcome["error"])

    def test_a_bound_whose_value_is_no_number_is_missed(self):
        self.assertFalse(validate.holds(self.outcome(lambda context, result: result.check("one", float("nan"), 1.0, "mathematics"), 1)))

    def test_a_method_that_does_not_run_fails_its_study(self):
        for code in ("exit 2", "exit 3", "kill -SEGV $$"):
            context = Context(self.program(f"echo no such method >&2\n{code}\n"), "fem", self.folder, True)
            with self.assertRaisesRegex(Failure, "no such method"):
                context.simulate("run", {"solver": {"method": METHODS[0]}})
        diverged = Context(self.program("exit 1\n"), "fem", self.folder, True).simulate("run", {"solver": {"method": METHODS[0]}})
        self.assertFalse(diverged.ok)

    def test_numbers_are_numbers_in_the_results_and_survive_an_update(self):
        def run(context, result):
            result.check("one", 0.5, 1.0, "mathematics", unit="%")
            result.table("t", ["x", "speed [m/s]"], [["1e-05", "11 500"], ["stops", None]])

        outcome, options = self.outcome(run, 1), types.SimpleNamespace(quick=True)
        report.write(self.folder, [outcome], FACTS, options)
        written = json.loads((self.folder / "results.json").read_text())
        table = written["studies"][0]["tables"][0]
        self.assertEqual(written["schema"], report.SCHEMA)
        self.assertEqual(table["rows"], [[1e-05, 11500], ["stops", ""]])
        self.assertEqual(table["units"], [None, "m/s"])
        before = (self.folder / "report.html").read_text()
        report.write(self.folder, list(report.read(self.folder, lambda name: outcome["module"]).values()), FACTS, options)
        self.assertEqual((self.folder / "report.html").read_text().count("11 500"), before.count("11 500"))

    def test_a_report_of_another_version_is_not_updated(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/results.json").write_text('{"studies": []}', encoding="utf-8")
        self.program("exit 3\n")
        with self.start("--update", "rotation") as process:
            _, errors = process.communicate()
        self.assertEqual(process.returncode, 2)
        self.assertIn("another version", errors)


if __name__ == "__main__":
    unittest.main()
