"""Writes the report: one HTML file that holds everything; results.json; and the same as Markdown with figures beside it."""

import datetime
import html
import json
import math
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

from suite.result import Figure, Result, number

STYLE = """
:root { --ink: #1c2733; --soft: #5b6875; --line: #d9dee3; --good: #1f7a4d; --bad: #b3261e; --back: #f6f8fa; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: var(--ink); margin: 0;
       background: white; }
main { max-width: 62rem; margin: 0 auto; padding: 1.2rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.6rem 0 0.2rem; }
h2 { font-size: 1.4rem; margin: 2.6rem 0 0.4rem; padding-top: 0.8rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.3rem; }
p { margin: 0.4rem 0; max-width: 50rem; }
.soft, figcaption, .note { color: var(--soft); font-size: 0.9em; }
.scroll { overflow-x: auto; margin: 0.4rem 0 0.8rem; }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; min-width: 20rem; }
th, td { text-align: left; padding: 0.28rem 0.9rem 0.28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom: 1.5px solid var(--ink); font-weight: 600; }
td.wide { min-width: 14rem; } td.tight { white-space: nowrap; }
figure { margin: 0.8rem 0; }
figure svg { width: 100%; height: auto; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.88em; background: var(--back); }
pre { padding: 0.6rem 0.8rem; overflow-x: auto; border-left: 3px solid var(--line); white-space: pre-wrap; }
td pre { white-space: pre; max-width: 78vw; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
a { color: #0b5fa5; }
@media (max-width: 40rem) { td.wide { min-width: 9rem; } th, td { padding-right: 0.5rem; } }
@media print {
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; } figure svg { max-height: 22cm; }
  .scroll { overflow: visible; } table { width: 100%; min-width: 0; font-size: 7.5pt; }
  th, td { padding-right: 0.4rem; overflow-wrap: anywhere; } td.tight { white-space: normal; } td.wide { min-width: 0; width: 55%; }
  thead { display: table-header-group; }
}
"""


def plain_text(value):
    """Of a cell: as few digits as say the number that it was rounded to."""
    if not isinstance(value, float):
        return number(value)
    return f"{value:g}" if float(f"{value:g}") == value else f"{value:.12g}"


def text_of(value):
    return html.escape(plain_text(value))


def table_html(columns, rows, wide=()):
    head = "".join(f"<th>{text_of(c)}</th>" for c in columns)
    def cell(k, text):
        kind = "wide" if k in wide else "tight" if wide else ""
        return f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>"

    body = "".join("<tr>" + "".join(cell(k, text) for k, text in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def verdict(outcome):
    if outcome["error"]:
        return '<span class="bad">failed</span>'
    return '<span class="good">holds</span>' if outcome["result"].met else '<span class="bad">misses its bound</span>'


def check_rows(result):
    rows = []
    for check in result.checks:
        unit = " " + html.escape(check.unit) if check.unit else ""
        mark = '<span class="good">holds</span>' if check.met else f'<span class="bad">missed by {check.missed_by:.3g}{unit}</span>'
        rows.append([f'{html.escape(check.what)}<br><span class="soft">Bound: {html.escape(check.origin)}.</span>', f"{check.value:.4g}{unit}",
                     f"{'≥' if check.least else '≤'} {check.limit:.4g}{unit}", mark])
    return rows


def command_of(outcome):
    return f"tools/ductile validate {outcome['name']}{' --quick' if outcome['quick'] else ''} -o DIR"


def study_html(outcome, command):
    module, result = outcome["module"], outcome["result"]
    parts = [f'<section id="{outcome["name"]}"><h2>{html.escape(module.TITLE)}</h2>',
             f'<p class="soft"><code>{outcome["name"]}</code> · {verdict(outcome)} · {result.runs} runs in {duration(outcome)} · '
             f'{html.escape(outcome["measured"])}</p>',
             f"<p>{html.escape(module.SHOWS)}</p>", f'<p class="soft">Answers: {html.escape(module.ANSWERS)}.</p>']
    if outcome["error"]:
        parts.append(f'<pre>{html.escape(outcome["error"])}</pre>')
    if result.checks:
        parts.append("<h3>Bounds</h3>" + table_html(["what, and where its bound comes from", "measured", "bound", ""],
                                                    check_rows(result), wide=(0,)))
    parts += [f"<p>{html.escape(remark)}</p>" for remark in result.remarks]
    parts += [f'<figure style="max-width: {figure_width(figure.svg)}rem">{figure.svg}<figcaption>{html.escape(figure.caption)}</figcaption></figure>'
              for figure in result.figures]
    for table in result.tables:
        note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
        rows = [[text_of(cell) for cell in row] for row in table.rows]
        parts.append(f"<h3>{html.escape(table.title)}</h3>" + table_html(table.columns, rows) + note)
    if result.settings:
        parts.append(f'<p class="note">Solver settings of its runs: {html.escape(result.settings)}.</p>')
    parts.append(f'<p class="soft">Repeat it:</p><pre>{html.escape(command)}</pre></section>')
    return "\n".join(parts)


def figure_width(svg):
    """In rem: as drawn, so that letters in all figures have one size."""
    return round(float(re.search(r'width="([0-9.]+)pt"', svg).group(1)) / 12, 1)


def first_line(command, **options):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
        return done.stdout.strip() if done.returncode == 0 else ""
    except OSError:
        return ""


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def environment(options):
    """What the results depend on besides the sources."""
    root = Path(__file__).resolve().parents[2]
    commit = first_line(["git", "-C", str(root), "rev-parse", "HEAD"])
    changed = first_line(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    packages = {name: metadata.version(name) for name in ("numpy", "scipy", "matplotlib", "scikit-fem")}
    return {
        "date": datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        "version": first_line([options.ductile, "--version"]),
        "commit": (commit or "unknown") + (" with changes" if changed else ""),
        "devices": first_line([options.ductile, "devices"]),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": packages,
    }


def finite(value):
    """JSON has no infinity and no NaN."""
    return value if math.isfinite(value) else str(value)


def unit_of(column):
    """What stands in brackets at the end of a column's title."""
    found = re.search(r"\[(.*)\]$", str(column))
    return found.group(1) if found else None


def results_json(outcomes, facts, options):
    studies = []
    for outcome in outcomes:
        result = outcome["result"]
        studies.append({
            "name": outcome["name"], "title": outcome["module"].TITLE, "met": outcome["error"] is None and result.met,
            "error": outcome["error"], "seconds": round(outcome["seconds"], 1),
            "processor_seconds": round(outcome["processor_seconds"], 1), "runs": result.runs, "settings": result.settings,
            "form": "quick" if outcome["quick"] else "full", "measured": outcome["measured"], "date": outcome["date"],
            "commit": outcome["commit"], "processor": outcome["processor"], "cores": outcome["cores"], "remarks": result.remarks,
            "figures": [{"name": f.name, "caption": f.caption} for f in result.figures],
            "checks": [{"what": c.what, "value": finite(c.value), "limit": c.limit, "kind": "at least" if c.least else "at most",
                        "unit": c.unit, "met": c.met, "origin": c.origin} for c in result.checks],
            "tables": [{"title": t.title, "columns": t.columns, "units": [unit_of(c) for c in t.columns], "rows": t.rows, "note": t.note}
                       for t in result.tables],
        })
    seconds = sum(outcome["seconds"] for outcome in outcomes)
    return {"schema": SCHEMA, **facts, "form": "quick" if options.quick else "full", "seconds": round(seconds, 1), "studies": studies}


PAPERS = {  # the short names that studies use
    "P0": "W. Cao et al., Position-based dynamics with corrected SPH kernels, Sci. China Inf. Sci. 66 (2023) 112108.",
    "P1": "C. Yu, X. Li, L. Lan, Y. Yang and C. Jiang, XPBI: Position-based dynamics with smoothing kernels handles continuum inelasticity (2024).",
}
READING = ("A study fails where a run that it needs fails or a bound that it declares gets no value; one that misses a bound says by how much. results.json holds "
           "the same as numbers: for each study its bounds with value, limit and unit, and its tables with the units of their columns; its schema number "
           "counts up when a key changes its meaning. Ctrl-C keeps what is done, and --update goes on or replaces single studies.")
SCHEMA = 1  # of results.json: counts up when a key changes its meaning
MINUTES = {"quick": 8, "full": 90}  # what all studies of a form together may take on two cores


def commits_of(outcomes):
    """In words: the commit that was measured, or the first and the last in time where studies come from several."""
    found = sorted({(o["date"], o["commit"]) for o in outcomes})
    first, last = found[0], found[-1]
    if len({commit for _, commit in found}) == 1:
        return f"commit {first[1]}"
    return (f"{len({commit for _, commit in found})} commits, from {first[1]} ({first[0]}) to {last[1]} ({last[0]}); each study names its "
            "own")


def machines_of(outcomes):
    return " and ".join(sorted({f"{o['processor']} with {o['cores']} cores" for o in outcomes}))


def forms_of(outcomes):
    forms = {"quick" if o["quick"] else "full" for o in outcomes}
    return f"{forms.pop()} form" if len(forms) == 1 else "full and quick forms, as each study says"


def duration(outcome):
    return f"{outcome['seconds']:.0f} s ({outcome['processor_seconds']:.0f} s of processor time)"


def time_of(outcomes, known):
    """In words: how long the studies took, and for all of one form whether that is within their budget. On a machine that others use as well
    the clock tells more than the studies need; the processor time of two cores tells it better."""
    seconds, processor = (sum(o[key] for o in outcomes) for key in ("seconds", "processor_seconds"))
    text = f"{len(outcomes)} of {known} studies, {seconds / 60:.1f} minutes together, {processor / 60:.1f} of processor time"
    forms = {"quick" if o["quick"] else "full" for o in outcomes}
    if len(forms) == 1 and len(outcomes) == known:
        form = forms.pop()
        text += f" ({'within' if seconds <= 60 * MINUTES[form] else 'over'} the {MINUTES[form]} minutes that {form} forms may take on two cores)"
    return text


def report_html(outcomes, facts, options):
    form = forms_of(outcomes)
    met = sum(outcome["error"] is None and outcome["result"].met for outcome in outcomes)
    summary = [[f'<a href="#{o["name"]}">{html.escape(o["module"].TITLE)}</a>', verdict(o), str(len(o["result"].checks)),
                duration(o)] for o in outcomes]
    about = [["Ductile", f'{facts["version"]}, {commits_of(outcomes)}'], ["Machine", machines_of(outcomes)],
             ["Devices", f'<pre>{html.escape(facts["devices"])}</pre>'], ["System", facts["system"]],
             ["Python", facts["python"] + ", " + ", ".join(f"{k} {v}" for k, v in facts["packages"].items())],
             ["Measured", f'{facts["date"]}, {form}, {time_of(outcomes, facts["studies_known"])}']]
    sections = [study_html(o, command_of(o)) for o in outcomes]
    papers = "".join(f"<dt>{name}</dt><dd>{html.escape(paper)}</dd>" for name, paper in PAPERS.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ductile: validation</title><style>{STYLE}</style></head><body><main>
<h1>Validation of Ductile</h1>
<p>Particle methods for elastic and inelastic solids against analytic answers, finite elements and other discretisations.
{met} of {len(outcomes)} studies hold all their bounds.</p>
{table_html(["study", "verdict", "bounds", "time"], summary)}
<p>Every figure and table below was made by the command under it. Bounds come from the mathematics or from the error of the
reference, and each says which. {html.escape(READING)}</p>
<h3>Where it was measured</h3>{table_html(["", ""], about)}
{"".join(sections)}
<section><h2>Papers</h2><dl>{papers}</dl></section>
</main></body></html>
"""


def markdown_table(columns, rows):
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *map(line, rows)]) + "\n"


def study_markdown(outcome, command):
    module, result = outcome["module"], outcome["result"]
    verdict_text = "failed" if outcome["error"] else "holds" if result.met else "misses its bound"
    parts = [f"## {module.TITLE}", f"`{outcome['name']}`: **{verdict_text}**. {module.SHOWS}", f"Answers: {module.ANSWERS}. Repeat: `{command}`. Measured: {outcome['measured']}."]
    if outcome["error"]:
        parts.append("```\n" + outcome["error"].strip() + "\n```")
    rows = [[c.what, f"{c.value:.4g} {c.unit}".strip(), f"{'>=' if c.least else '<='} {c.limit:.4g} {c.unit}".strip(),
             "holds" if c.met else f"**missed by {c.missed_by:.3g} {c.unit}**".replace(" **", "**"), c.origin] for c in result.checks]
    parts.append(markdown_table(["bound on", "measured", "bound", "", "where the bound comes from"], rows))
    parts += result.remarks
    parts += [f"![{figure.caption}](figures/{figure.name}.svg)\n\n*{figure.caption}*" for figure in result.figures]
    for table in result.tables:
        rows = [[plain_text(cell) for cell in row] for row in table.rows]
        parts.append(f"**{table.title}**\n\n" + markdown_table(table.columns, rows) + (f"\n{table.note}\n" if table.note else ""))
    if result.settings:
        parts.append(f"Solver settings of its runs: {result.settings}.")
    return "\n\n".join(parts)


def report_markdown(outcomes, facts, options):
    quick = " --quick" if options.quick else ""
    rows = [[f"[{o['module'].TITLE}](#{anchor(o['module'].TITLE)})", "failed" if o["error"] else "holds" if o["result"].met else "**misses its bound**",
             len(o["result"].checks), duration(o)] for o in outcomes]
    head = (f"# Validation, as measured\n\n{facts['date']}, on {machines_of(outcomes)}, Ductile {facts['version']} "
            f"({commits_of(outcomes)}), {forms_of(outcomes)}; {time_of(outcomes, facts['studies_known'])}. The same as one page: "
            f"`ductile validate{quick}` writes `report.html`. "
            f"{READING}\n")
    return "\n\n".join([head, markdown_table(["study", "verdict", "bounds", "time"], rows)] +
                       [study_markdown(o, command_of(o)) for o in outcomes] +
                       ["## Papers\n\n" + "\n".join(f"- {name}: {paper}" for name, paper in PAPERS.items())]) + "\n"


def anchor(title):
    """The link that Markdown viewers give a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def read(folder, module_of):
    """The outcomes of an earlier report, by name; None if its results.json has another schema."""
    outcomes, results = {}, json.loads((folder / "results.json").read_text(encoding="utf-8"))
    if results.get("schema") != SCHEMA:
        return None
    for study in results["studies"]:
        result = Result(runs=study["runs"], settings=study["settings"], remarks=study["remarks"])
        for c in study["checks"]:
            result.check(c["what"], c["value"], c["limit"], c["origin"], c["kind"] == "at least", c["unit"])
        for t in study["tables"]:
            result.table(t["title"], t["columns"], t["rows"], t["note"])
        for f in study["figures"]:
            svg = (folder / "figures" / f"{f['name']}.svg").read_text(encoding="utf-8")
            result.figures.append(Figure(f["name"], f["caption"], svg))
        outcomes[study["name"]] = {"name": study["name"], "module": module_of(study["name"]), "result": result,
                                   "error": study["error"], "seconds": study["seconds"],
                                   "processor_seconds": study["processor_seconds"], "quick": study["form"] == "quick",
                                   "measured": study["measured"], **{key: study[key] for key in ("date", "commit", "processor", "cores")}}
    return outcomes


def write(folder, outcomes, facts, options):
    page = folder / "report.html"
    page.write_text(report_html(outcomes, facts, options), encoding="utf-8")
    (folder / "README.md").write_text(report_markdown(outcomes, facts, options), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(results_json(outcomes, facts, options), indent=1) + "\n", encoding="utf-8")
    (folder / "figures").mkdir(exist_ok=True)
    for outcome in outcomes:
        for figure in outcome["result"].figures:
            (folder / "figures" / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    return {"html": page}
