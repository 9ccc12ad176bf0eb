#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Makes FOLDER/html from the pages and the public headers; FOLDER is build/docs by default.

Fails for a public name without a comment, for a comment or page that mentions a public name which
does not exist, and for a link that leads nowhere.
"""
import shutil
import subprocess
import sys
from pathlib import Path

from headers import Reference, undocumented, unknown_names
from reference import Names
from site_pages import Site

ROOT = Path(__file__).resolve().parent.parent.parent


def read_headers(root, work):
    shutil.rmtree(work / "xml", ignore_errors=True)  # it may have names that are gone
    work.mkdir(parents=True, exist_ok=True)
    settings = (Path(__file__).parent / "Doxyfile").read_text()
    settings += f"OUTPUT_DIRECTORY = {work}\nWARN_LOGFILE = {work}/doxygen.log\n"
    subprocess.run(["doxygen", "-"], cwd=root, input=settings, text=True, check=True)
    return Reference(work / "xml", root)


def main():
    work = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/docs").resolve()
    reference = read_headers(ROOT, work)
    errors = [f"{file}:{entity.line}: {entity.qualified} has no comment"
              for file, entities in sorted(reference.files.items())
              for entity in undocumented(entities)]
    errors += [f"{file}:{line}: no public header has the name {name}"
               for file, line, name in unknown_names(reference)]
    site = Site(ROOT, work / "html", reference, Names(reference))
    errors += site.build()
    for line in errors:
        print(line)
    count = len(list(site.out.rglob("*.html")))
    print(f"{count} pages, {len(errors)} to repair; open {site.out / 'index.html'}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
