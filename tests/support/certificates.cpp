// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "certificates.hpp"

#include <conformance/process.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace support {
namespace {

using namespace std::chrono_literals;

const std::string new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 ";

void run_openssl(const std::string& folder, const std::string& arguments) {
    pawl::conformance::launch_options options;
    options.arguments = {"openssl"};
    std::istringstream words(arguments);
    for (std::string word; words >> word;)
        options.arguments.push_back(word);
    options.folder = folder;
    options.output_file = folder + "/openssl.log";
    pawl::conformance::child openssl(options);
    if (openssl.wait(30s) != 0) throw std::runtime_error("openssl failed: " + arguments);
}

}  // namespace

certificate_authority::certificate_authority(std::string folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)) {
    run_openssl(folder_, "req -x509 -days 2 -subj /CN=" + name_ + " " + new_key +
                             "-nodes -keyout " + name_ + ".key -out " + name_ + ".crt");
    std::ofstream(folder_ + "/" + name_ + ".index").flush();
    std::ofstream(folder_ + "/" + name_ + ".cnf")
        << "[ca]\ndefault_ca=own\n[own]\ndatabase=" << name_ << ".index\nunique_subject=no\n"
        << "new_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\ndefault_days=2\npolicy=any\n"
        << "certificate=" << name_ << ".crt\nprivate_key=" << name_
        << ".key\n[any]\ncommonName=optional\n";
}

void certificate_authority::issue(const std::string& owner,
                                  const certificate_options& options) const {
    const auto protection =
        options.pass_phrase.empty() ? "-nodes" : "-passout pass:" + options.pass_phrase;
    run_openssl(folder_, "req -new -subj /CN=" + owner + " " + new_key + protection + " -keyout " +
                             owner + ".key -out " + owner + ".csr");
    std::ofstream(folder_ + "/names") << "subjectAltName=" << options.host_names << "\n";
    std::string period;
    if (!options.valid_from.empty()) period += " -startdate " + options.valid_from;
    if (!options.valid_until.empty()) period += " -enddate " + options.valid_until;
    run_openssl(folder_, "ca -batch -notext -config " + name_ + ".cnf -extfile names -in " + owner +
                             ".csr -out " + owner + ".crt" + period);
}

}  // namespace support
