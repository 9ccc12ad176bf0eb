# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""links.py FOLDER: every relative link of the installed pages leads to something."""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]*)(?:#[^)]*)?\)")

folder = pathlib.Path(sys.argv[1])
pages = sorted(folder.rglob("*.md"))
dead = []
links = 0
for page in pages:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not target or "://" in target or target.startswith("mailto:"):
            continue
        links += 1
        if not (page.parent / target).exists():
            dead.append(f"{page}: there is no {target}")
print("\n".join(dead))
sys.exit(1 if dead or links < 50 else 0)
