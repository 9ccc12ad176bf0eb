# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from os.path import join
from pathlib import Path
import re

# {name: the requirements of a backend}: the entries of the list with a keyword CONAN.
backends = {}
for backend, lines in re.findall(r"^pawl_backend\((\w+)\n([^)]*)\)", (
        Path(__file__).parent / "cmake/backends.cmake").read_text(), re.M):
    for line in re.findall(r"^ *CONAN (.*)", lines, re.M):
        backends.setdefault(backend, []).extend(re.findall(r'"([^"]*)"', line))


class Pawl(ConanFile):
    name = "pawl"
    version = "0.1.0"
    description = "Distributed locks for C++ whose fencing tokens only go forward"
    license = "BSL-1.0"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        **{name: [True, False] for name in backends},
        "schedules": [True, False],
        "command": [True, False],
    }
    default_options = {"shared": False, **dict.fromkeys(backends, True),
                       "schedules": True, "command": True, "boost/*:header_only": True}
    exports = "cmake/backends.cmake"
    exports_sources = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md",
                       "cmake/*", "include/*", "src/*", "conformance/*", "cli/*", "docs/*",
                       "examples/*", "bench/results/*")

    def requirements(self):
        self.requires("boost/[>=1.91]", transitive_headers=True)
        # Several backends may need the same package.
        needed = {each for name, requirements in backends.items()
                  if getattr(self.options, name) for each in requirements}
        for each in sorted(needed):
            self.requires(each)
        if self.options.schedules:
            self.requires("cctz/[>=2.3]")
        if self.options.command:
            self.requires("cli11/[>=2.1]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in backends:
            toolchain.variables[f"PAWL_WITH_{name.upper()}"] = getattr(self.options, name)
        toolchain.variables["PAWL_WITH_SCHEDULES"] = self.options.schedules
        toolchain.variables["PAWL_BUILD_CLI"] = self.options.command
        toolchain.variables["PAWL_BUILD_TESTS"] = False
        toolchain.variables["PAWL_BUILD_EXAMPLES"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))

    def package_info(self):
        # The project's own package files are right already: Conan's would only repeat them.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(join("lib", "cmake", "pawl"))
