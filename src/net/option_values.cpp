// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "option_values.hpp"

#include "../core/util/limited_file.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace pawl::net {
namespace {

error tls_required_error(const std::string& option, std::string_view tls_advice) {
    return {errc::bad_option,
            std::string(tls_advice) + ", or leave out " + option + ", which is of no use here."};
}

constexpr std::size_t max_password_size = 65536;

// A container's secrets are often mounted read-only with a mode that lets everybody read them.
// Nobody can change that mode; the container itself protects them.
bool is_mounted_read_only(const std::string& path) {
    struct statvfs status {};
    return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// Ignores an error of `stat`: reading the file then fails, too.
void check_permissions(const std::string& path, const std::string& secret,
                       const std::string& option) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (!S_ISREG(status.st_mode) || (status.st_mode & S_IROTH) == 0) return;
    if (is_mounted_read_only(path)) return;
    throw error(errc::bad_option, "Everybody may read the " + secret + " file '" + path +
                                      "'; run: chmod o-r " + path + ", or name another one with " +
                                      option + ".");
}

}  // namespace

bool has_option(const core::url& parsed, std::string_view name) {
    return std::ranges::any_of(parsed.options,
                               [name](const auto& each) { return each.first == name; });
}

bool apply_tls_option(tls_options& target, std::string_view prefix, const std::string& name,
                      const std::string& value, std::string_view tls_advice) {
    if (!name.starts_with(prefix)) return false;
    const auto option = std::string_view(name).substr(prefix.size());
    std::string* const text = option == "ca"                       ? &target.ca_file
                              : option == "cert"                   ? &target.cert_file
                              : option == "cert_key"               ? &target.key_file
                              : option == "tls_name"               ? &target.name
                              : option == "cert_key_password_file" ? &target.key_password_file
                                                                   : nullptr;
    const bool is_pass_phrase = option == "cert_key_password_env";
    if (text == nullptr && option != "verify" && !is_pass_phrase) return false;
    if (!tls_advice.empty() && !target.enabled) throw tls_required_error(name, tls_advice);
    if (text != nullptr)
        *text = value;
    else if (is_pass_phrase)
        target.key_password = password_in_environment(value);
    else
        target.verify = parse_yes_no(name, value);
    return true;
}

bool parse_yes_no(const std::string& name, const std::string& value) {
    if (value == "yes") return true;
    if (value == "no") return false;
    throw error(errc::bad_url,
                "The URL's option " + name + "=" + value + " is not valid; use yes or no.");
}

std::string password_in_environment(const std::string& variable) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0')
        throw error(errc::bad_option, "The environment variable " + variable +
                                          ", which should have the password, is not set.");
    return value;
}

error several_passwords_error(const std::string& prefix) {
    return {errc::bad_option, "The URL has a password from more than one place; keep one of " +
                                  std::string(prefix.empty() ? "the URL itself, " : "") + prefix +
                                  "password_file and " + prefix + "password_env."};
}

void check_password(const password_places& places, const std::string& prefix) {
    if (!places.password.empty() && !places.file.empty()) throw several_passwords_error(prefix);
    if (places.has_function && !(places.password.empty() && places.file.empty()))
        throw error(errc::bad_option,
                    "There is a password beside the function for the credentials; keep one of "
                    "them.");
    if (!places.file.empty())
        static_cast<void>(read_secret_file(places.file, "password", prefix + "password_file"));
}

std::string advice_to_use(std::string_view scheme_with_tls) {
    return "Only " + std::string(scheme_with_tls) + " has TLS; use it";
}

void check_tls(const tls_options& tls, const std::string& prefix, std::string_view tls_advice) {
    if (!tls.enabled) {
        const auto refuse = [&](const char* option) {
            throw tls_required_error(prefix + option, tls_advice);
        };
        if (!tls.ca_file.empty()) refuse("ca");
        if (!tls.cert_file.empty()) refuse("cert");
        if (!tls.key_file.empty()) refuse("cert_key");
        if (!tls.key_password.empty() || !tls.key_password_file.empty())
            refuse("cert_key_password_file");
        if (!tls.verify) refuse("verify");
        if (!tls.name.empty()) refuse("tls_name");
    }
    if (tls.cert_file.empty() != tls.key_file.empty())
        throw error(errc::bad_option, std::string("The client certificate has no ") +
                                          (tls.key_file.empty() ? "key" : "certificate file") +
                                          ": " + prefix + "cert and " + prefix +
                                          "cert_key go together; give both.");
    if (!tls.key_password.empty() && !tls.key_password_file.empty())
        throw error(errc::bad_option, "The key's pass phrase comes from two places; keep one of " +
                                          prefix + "cert_key_password_file and " + prefix +
                                          "cert_key_password_env.");
    if (tls.key_file.empty() && !(tls.key_password.empty() && tls.key_password_file.empty()))
        throw error(errc::bad_option, "There is a pass phrase without a key; give " + prefix +
                                          "cert and " + prefix +
                                          "cert_key, or leave the pass phrase out.");
}

std::string read_secret_file(const std::string& path, const std::string& secret,
                             const std::string& option) {
    check_permissions(path, secret, option);
    auto line = core::first_line_of(path, "The " + secret + " file", max_password_size);
    if (line.empty())
        throw error(errc::bad_option, "The first line of the " + secret + " file '" + path +
                                          "' is empty; write the " + secret + " there.");
    return line;
}

}  // namespace pawl::net
