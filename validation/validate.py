"""Runs validation studies and writes the report; started by `ductile validate`, which gives the programs.

    validate.py --ductile FILE --fem FILE -o DIR [--quick] [--update] [--other FILE] [STUDY...]
"""

import argparse
import importlib
import os
import shlex
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from suite import report  # noqa: E402
from suite.context import Context, Failure  # noqa: E402
from suite.result import Result  # noqa: E402
from suite.scene import settings_text  # noqa: E402

STUDIES = ["reference", "rotation", "stress-strain", "cantilever", "residual", "plasticity-time-step", "column", "references",
           "robustness", "conservation", "performance"]


class Stopped(BaseException):
    """By a signal: no study catches it."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.number = number


def stop(number, _):
    raise Stopped(number)


def arguments():
    parser = argparse.ArgumentParser(prog="ductile validate", add_help=False)
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--ductile", required=True)
    parser.add_argument("--fem", required=True)
    parser.add_argument("--other", default=None, help="program of another back end, for `performance`")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--update", action="store_true", help="keep the other studies of the report in DIR")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def module_of(name):
    return importlib.import_module("studies." + name.replace("-", "_"))


def processor_seconds():
    """Of this process and of all that it has started and waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run_study(name, options, scratch, facts):
    """The study's result; an exception in it is a failed study, not a lost report."""
    module = module_of(name)
    folder = Path(scratch) / name
    folder.mkdir()
    context = Context(options.ductile, options.fem, folder, options.quick, options.other)
    result, error = Result(), None
    start, used = time.monotonic(), processor_seconds()
    try:
        module.run(context, result)
        missing = module.CHECKS["quick" if options.quick else "full"] - len(result.checks)
        if missing:
            error = f"The study declares {len(result.checks) + missing} bounds and judged {len(result.checks)}."
    except Failure as failure:
        error = str(failure)
    except Exception:  # the other studies still count
        error = traceback.format_exc()
    result.runs, result.settings = context.runs, settings_text(context.solvers)
    number, *changes = facts["commit"].split(" ", 1)
    commit = " ".join([number[:12], *changes])
    return {"name": name, "module": module, "result": result, "error": error, "seconds": time.monotonic() - start,
            "processor_seconds": processor_seconds() - used, "quick": options.quick, "date": facts["date"], "commit": commit, "processor": facts["processor"], "cores": facts["cores"],
            "measured": f"{facts['date']}, {'quick' if options.quick else 'full'} form, commit {commit}"}


def holds(outcome):
    return outcome["error"] is None and outcome["result"].met


def tell(outcome):
    """One line for each bound, so that a miss is seen without opening the report."""
    result = outcome["result"]
    verdict = "failed" if outcome["error"] else "holds" if result.met else "MISSES ITS BOUND"
    print(f"{outcome['name']}: {verdict}; {result.runs} runs in {report.duration(outcome)}")
    if outcome["error"]:
        print("    " + outcome["error"].strip().replace("\n", "\n    "))
    for check in result.checks:
        sign, unit = (">=" if check.least else "<="), (" " + check.unit if check.unit else "")
        text = f"{check.what}: {check.value:.4g}{unit}, bound {sign} {check.limit:.4g}{unit}"
        print(f"    {'ok  ' if check.met else 'MISS'} {text}" + ("" if check.met else f", missed by {check.missed_by:.3g}{unit}"))
    sys.stdout.flush()


def main():
    options = arguments()
    unknown = [name for name in options.studies if name not in STUDIES]
    if unknown:
        print(f"There is no study \"{unknown[0]}\"; known are {', '.join(STUDIES)}.", file=sys.stderr)
        return 2
    names = [name for name in STUDIES if name in options.studies] if options.studies else STUDIES
    if options.list:
        for name in names:
            print(f"{name:<22}{module_of(name).TITLE}")
        return 0
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    facts = {**report.environment(options), "studies_known": len(STUDIES)}
    outcomes = report.read(folder, module_of) if options.update and (folder / "results.json").exists() else {}
    if outcomes is None:
        print(f"{folder} holds a report of another version, which --update cannot go on with: give another folder with -o, or --force instead of it.", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    done = 0
    try:
        with tempfile.TemporaryDirectory(prefix="ductile_validate_") as scratch:
            for name in names:
                print(f"{name} ...", flush=True)
                outcomes[name] = run_study(name, options, scratch, facts)
                # After every study: whatever ends the run, what was measured stays.
                files = report.write(folder, [outcomes[known] for known in STUDIES if known in outcomes], facts, options)
                done += 1
                tell(outcomes[name])
    except Stopped as stopped:
        rest = [os.environ.get("DUCTILE_COMMAND", "ductile"), "validate", *(["--quick"] if options.quick else []), "--update", "-o", shlex.quote(str(folder)), *names[done:]]
        print(f"\nStopped by {stopped}: {done} of {len(names)} studies are done"
              + (f" and in {folder / 'report.html'}" if done else "") + f". Go on with `{' '.join(rest)}`.", file=sys.stderr)
        return 128 + stopped.number
    good = sum(holds(outcomes[name]) for name in names)
    print(f"\n{report.time_of([outcomes[name] for name in names], len(STUDIES))}; {good} within their bounds")
    if len(outcomes) > len(names):
        print(f"the report: {report.time_of(outcomes.values(), len(STUDIES))}, {report.commits_of(outcomes.values())}")
    print("report: " + str(files["html"]))
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + signal.SIGPIPE
    sys.exit(code)
