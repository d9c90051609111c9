"""Every page, opened in a browser as its readers do: `make pages`.

    python -m tests.gallery [NAME ...]

The pages and their pictures, at three widths, light and dark and as printed, are in build/pages:
look at them, beginning with index.html. The status is 1 where the browser found a fault, 2 where
none starts.
"""

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections import defaultdict
from pathlib import Path

from tests.gallery.rows import EVERY, made

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / "requirements" / "pages"
OUT = ROOT / "build" / "pages"


def main(arguments):
    """Make pages, look at them, and print what there is; the exit status."""
    parser = ArgumentParser(prog="python -m tests.gallery", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EVERY))
    names = parser.parse_args(arguments).names or [*EVERY]
    if unknown := sorted(set(names) - set(EVERY)):
        parser.error(f"no page is called {', '.join(unknown)}; there are {', '.join(EVERY)}")
    OUT.mkdir(parents=True, exist_ok=True)
    for name in names:
        (OUT / f"{name}.html").write_text(made(name))
    return looked_at(names)


def looked_at(names):
    """Run the browser, a line for each view as it comes, and the findings at the end."""
    command = ["node", str(HERE / "look.mjs"), str(PACKAGES), str(OUT), *names]
    found, pictures = defaultdict(list), defaultdict(list)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as browser:
        for line in browser.stdout:
            seen = json.loads(line)
            if "browser" in seen:
                print(
                    f"Chromium {seen['browser']}\n\n{'page':28} {'view':12} findings  paint   load"
                )
                continue
            name, view, findings = seen["name"], seen["view"], seen["findings"]
            times = f"{seen['paint']:>4} ms {seen['load']:>3} ms"
            print(f"{name:28} {view:12} {len(findings):>8}  {times}", flush=True)
            pictures[name].append(view)
            for finding in findings:
                found[name, finding].append(view)
    if browser.returncode:
        return 2
    for (name, finding), views in found.items():
        print(f"\n{name}: {finding}\n  {', '.join(views)}")
    (OUT / "index.html").write_text(index(pictures))
    print(f"\n{len(found)} findings; the pictures: {OUT.relative_to(ROOT)}/index.html")
    return 1 if found else 0


def index(pictures):
    """All pictures side by side, each a link to itself at its size."""
    lines = [
        "<!doctype html><meta charset=utf-8><title>Pages</title>",
        "<style>img { height: 20rem; object-fit: cover; object-position: top }</style>",
    ]
    for name, views in pictures.items():
        lines.append(f'<h2><a href="{name}.html">{name}</a> · <a href="{name}.pdf">print</a></h2>')
        lines += [
            f'<a href="{name}-{view}.png"><img src="{name}-{view}.png" alt="{name} {view}"></a>'
            for view in views
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
