# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from os.path import join


class Pawl(ConanFile):
    name = "pawl"
    version = "0.1.0"
    description = "Distributed locks for C++ whose fencing tokens only go forward"
    license = "BSL-1.0"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        "redis": [True, False],
        "sqlite": [True, False],
        "command": [True, False],
    }
    default_options = {"shared": False, "redis": True, "sqlite": True, "command": True,
                       "boost/*:header_only": True}
    exports_sources = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md",
                       "cmake/*", "include/*", "src/*", "conformance/*", "cli/*", "docs/*",
                       "examples/*", "bench/results/*")

    def requirements(self):
        self.requires("boost/[>=1.91]", transitive_headers=True)
        if self.options.redis:
            self.requires("openssl/[>=3 <4]")
        if self.options.sqlite:
            self.requires("sqlite3/[>=3.35]")
        if self.options.command:
            self.requires("cli11/[>=2.1]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["PAWL_WITH_REDIS"] = self.options.redis
        toolchain.variables["PAWL_WITH_SQLITE"] = self.options.sqlite
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
