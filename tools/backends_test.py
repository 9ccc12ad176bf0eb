#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The list of backends is read right and complete, and few files beside it name a backend."""
import importlib.util
import json
import re
import sys
import types
import unittest
from pathlib import Path

from backends import backends
from tidy import project_files

ROOT = Path(__file__).resolve().parent.parent

# What a new backend touches beside its own files, its pages and its tests.
EVERY_BACKEND = {"CHANGELOG.md", "README.md", "cmake/backends.cmake", "vcpkg.json"}
# Files that may use a single backend: the lock file of the command, examples that show one, the
# installation of a server that would begin to run, and the search for a client library.
SINGLE_USES = {"cli/config/lock_file.cpp", "cmake/FindMariaDB.cmake", "examples/05_fencing.cpp",
               "examples/05_fencing.cmake", "examples/flash_sale/main.cpp", "tools/packages.sh"}
# Redis has a command-line verb, benchmarks and servers for the tests, so it is named in many
# places, and memory is a common word. The following files name neither.
FREE_OF_REDIS = ("CMakeLists.txt", "conanfile.py", "cmake/pawl", "cmake/libpawl", "src/registry/")


def own_files(name):
    return (f"src/{name}/", f"include/pawl/{name}", "src/guard/", "include/pawl/guard/", "docs/",
            "examples/guard/", "tests/", "bench/stores/", "bench/layers/",
            "bench/results/stores", "bench/results/layers")


def read(path):
    try:
        return (ROOT / path).read_text()
    except (UnicodeDecodeError, FileNotFoundError):
        return ""


def files_that_name(name):
    listed = [each.as_posix() for each in project_files(ROOT)]
    return {path for path in listed if not path.startswith(own_files(name)) and
            re.search(name, read(path), re.I)}


class Reading(unittest.TestCase):
    def test_entries(self):
        self.assertEqual(
            backends('include(a)\n\npawl_backend(b\n    TITLE "c d"\n    URLS e://f g:\n'
                     '    URLS h:\n    IN_PROCESS)\n\npawl_backend(i\n    CONAN "j/[>=1 <2]")\n'),
            {"b": {"TITLE": ["c d"], "URLS": ["e://f", "g:", "h:"], "IN_PROCESS": []},
             "i": {"CONAN": ["j/[>=1 <2]"]}})


class Completeness(unittest.TestCase):
    def test_folders_headers_and_pages(self):
        for name, entry in backends().items():
            self.assertTrue((ROOT / "src" / name).is_dir(), name)
            self.assertTrue((ROOT / f"include/pawl/{name}.hpp").is_file(), name)
            self.assertIn(name, entry["NAMESPACES"])
            if "IN_PROCESS" not in entry:
                self.assertTrue((ROOT / f"docs/backends/{name}.md").is_file(), name)

    def test_each_source_folder_of_a_backend_is_in_the_list(self):
        folders = {each.parent.name for each in (ROOT / "src").glob("*/urls.cpp")}
        self.assertEqual(folders, set(backends()))

    def test_every_scheme_is_in_the_page_of_urls(self):
        page = read("docs/guide/urls.md")
        for entry in backends().values():
            for url in entry["URLS"]:
                self.assertIn(re.match(r"[a-z+]+:", url)[0], page)

    def test_vcpkg_has_a_feature_for_each_backend_with_a_package(self):
        manifest = json.loads(read("vcpkg.json"))
        named = {name for name, entry in backends().items() if "PACKAGE" in entry}
        self.assertEqual(set(manifest["features"]) - {"schedules", "command", "tests"}, named)
        self.assertEqual(set(manifest["default-features"]), named)

    def test_conan_has_an_option_for_each_backend_with_a_package(self):
        modules = {"conan": ["ConanFile"], "conan.tools": [], "conan.tools.files": ["copy"],
                   "conan.tools.cmake": ["CMake", "CMakeDeps", "CMakeToolchain", "cmake_layout"]}
        for name, members in modules.items():
            sys.modules[name] = types.ModuleType(name)
            vars(sys.modules[name]).update(dict.fromkeys(members, object))
        spec = importlib.util.spec_from_file_location("conanfile", ROOT / "conanfile.py")
        recipe = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(recipe)
        self.assertEqual(recipe.backends, {name: entry["CONAN"] for name, entry in
                                           backends().items() if "CONAN" in entry})


class Places(unittest.TestCase):
    def test_few_other_files_name_a_backend(self):
        for name in set(backends()) - {"memory", "redis"}:
            self.assertEqual(files_that_name(name) - EVERY_BACKEND - SINGLE_USES, set(),
                             f"A fact of {name} belongs in cmake/backends.cmake or src/{name}.")
        self.assertLessEqual(len(EVERY_BACKEND | SINGLE_USES), 10)

    def test_what_is_made_from_the_list_does_not_name_redis(self):
        for path in sorted(files_that_name("redis")):
            if path.startswith(FREE_OF_REDIS):
                code = re.sub(r"(//|#) .*", "", read(path))
                self.assertIsNone(re.search(r"\bredis\b(?!-)", code, re.I), path)


if __name__ == "__main__":
    unittest.main()
