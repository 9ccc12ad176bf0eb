# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The options that the measurements of ./dev bench have in common."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_common(parser, quick, files, built):
    """`quick` says what --quick does, `files` what is written, `built` what the build has."""
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--rounds", type=int, metavar="N", help="number of rounds")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"folder for {files}")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help=f"build folder of the {built}")


def add_data(parser):
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="folder on the disk for the databases; default: the build folder")


def parse(parser, arguments):
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return options
