# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""recipe.py SOURCE FOLDER CMAKE NINJA COMPILER BOOST: the steps of conanfile.py.

Runs the recipe with a small replacement of Conan, so the test needs no package of it. The sources
are only those that the recipe exports. Nothing is compiled: the test reads what the build would
make, and leaves it out of the installation. Compares vcpkg.json with the sources, too.
"""
import fnmatch
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import types

source, folder, cmake, ninja, compiler, boost = sys.argv[1:]
source, folder = pathlib.Path(source), pathlib.Path(folder)
exported, build, package = folder / "source", folder / "build", folder / "package"


def run(*words):
    done = subprocess.run([str(each) for each in words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}")
    return done.stdout


class Toolchain:
    variables = {}

    def __init__(self, recipe):
        Toolchain.variables = {}

    def generate(self):
        Toolchain.variables.update(BUILD_SHARED_LIBS=False, PAWL_BOOST_INCLUDE_DIR=boost)


class CMake:
    def __init__(self, recipe):
        pass

    def configure(self):
        run(cmake, "-S", exported, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}",
            f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
            *(f"-D{name}={value}" for name, value in Toolchain.variables.items()))

    def build(self):
        planned = run(ninja, "-C", build, "-t", "commands", "all")
        for library in ("libpawl.a", "libpawl_asio.a", "libpawl.so", "libpawl_asio.so"):
            if library not in planned:
                sys.exit(f"The build of the recipe makes no {library}, which can be installed.")

    def install(self):
        run(cmake, "--install", build, "--prefix", package, "--component", "package")


def load_recipe():
    tools = types.SimpleNamespace(
        CMake=CMake, CMakeToolchain=Toolchain, cmake_layout=lambda recipe: None,
        CMakeDeps=lambda recipe: types.SimpleNamespace(generate=lambda: None),
        copy=lambda recipe, name, start, to: (pathlib.Path(to).mkdir(parents=True),
                                              shutil.copy(pathlib.Path(start) / name, to)))
    base = type("ConanFile", (), {"source_folder": str(exported), "package_folder": str(package)})
    modules = {"conan": {"ConanFile": base}, "conan.tools": {},
               "conan.tools.cmake": vars(tools), "conan.tools.files": vars(tools)}
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    spec = importlib.util.spec_from_file_location("conanfile", source / "conanfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe = module.Pawl()
    recipe.options = types.SimpleNamespace(**{
        name: value for name, value in recipe.default_options.items() if "*" not in name})
    return recipe


def export(patterns):
    for name in run("git", "-C", source, "ls-files", "--cached", "--others",
                    "--exclude-standard").splitlines():
        if any(fnmatch.fnmatch(name, each) for each in patterns) and (source / name).is_file():
            (exported / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, exported / name)


def check_vcpkg(version, description):
    manifest = json.loads((source / "vcpkg.json").read_text(encoding="utf-8"))
    named = {each if isinstance(each, str) else each["name"] for each in
             manifest["dependencies"] + sum((each["dependencies"] for each in
                                             manifest["features"].values()), [])}
    included = set()
    for each in (*source.glob("include/**/*.hpp"), *source.glob("src/**/*.[ch]pp")):
        included.update(re.findall(r"#include <boost/(\w+)", each.read_text(encoding="utf-8")))
    needed = {f"boost-{each}" for each in included - {"version"}}
    wrong = needed ^ {each for each in named if each.startswith("boost-")}
    if wrong:
        sys.exit(f"vcpkg.json and the sources differ in {sorted(wrong)}.")
    if (manifest["version-semver"], manifest["description"]) != (version, description):
        sys.exit("vcpkg.json and CMakeLists.txt differ in the version or the description.")


shutil.rmtree(folder, ignore_errors=True)
recipe = load_recipe()
project = (source / "CMakeLists.txt").read_text(encoding="utf-8")
version = re.search(r"project\(pawl VERSION (\S+)", project)[1]
description = re.search(r'DESCRIPTION "([^"]*)"', project)[1]
if (recipe.version, recipe.description) != (version, description):
    sys.exit("conanfile.py and CMakeLists.txt differ in the version or the description.")
export(recipe.exports_sources)
recipe.generate()
recipe.build()
recipe.package()
if not (package / "licenses/LICENSE").is_file():
    sys.exit("The package has no license.")
check_vcpkg(version, description)
