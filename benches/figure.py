"""What the scripts of this folder share: a line on the machine, and figures drawn by kirin-report."""
import json
import os
import subprocess


def machine():
    """Processor, vector units and cores."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        facts = dict(line.split(":", 1) for line in file if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    widest = "AVX-512" if "avx512f" in facts.get("flags", "") else "no AVX-512"
    kind = f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"
    return f"{facts.get('model name', 'unknown')}, {kind} ({widest}), {os.cpu_count()} cores"


def draw(figure, path):
    """Draws a figure, the fields of kirin_report::plot::Figure, as SVG or PNG."""
    subprocess.run(["cargo", "run", "--quiet", "--release", "-p", "kirin-report", "--example", "draw", "--", path],
                   input=json.dumps(figure), text=True, check=True)


def curves(title, x_label, named, form="measured"):
    """A panel of curves over a common axis, both scales logarithmic: a list of points for each name."""
    data = [{"label": name, "points": points, "form": form} for name, points in named.items()]
    return {"title": title, "x_label": x_label, "x_scale": "logarithmic", "scale": "logarithmic",
            "data": {"curves": data}}


def save(target, text, figure, picture=None):
    """Writes a page of results and its figure, beside it unless `picture` names another file."""
    with open(target + ".md", "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    draw(figure, picture or target + ".svg")
