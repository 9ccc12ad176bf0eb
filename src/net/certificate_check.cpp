// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "certificate_check.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <ctime>
#include <utility>

namespace asio = boost::asio;

namespace pawl::net {
namespace {

constexpr int max_listed_names = 4;

std::string text_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
    std::array<char, 64> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
    return {text.data(), size};
}

// The server chooses the names, and the message is for a terminal.
std::string printable(std::string_view name) {
    std::string text(name.substr(0, 64));
    for (char& each : text)
        if (each <= ' ' || each > '~') each = '?';
    return text;
}

std::string text_of(const GENERAL_NAME& name) {
    if (name.type == GEN_DNS)
        return printable({reinterpret_cast<const char*>(ASN1_STRING_get0_data(name.d.dNSName)),
                          static_cast<std::size_t>(ASN1_STRING_length(name.d.dNSName))});
    if (name.type != GEN_IPADD) return {};
    const auto* const bytes = ASN1_STRING_get0_data(name.d.iPAddress);
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(name.d.iPAddress));
    asio::ip::address_v4::bytes_type v4{};
    asio::ip::address_v6::bytes_type v6{};
    if (size == v4.size()) {
        std::memcpy(v4.data(), bytes, size);
        return asio::ip::address_v4(v4).to_string();
    }
    if (size != v6.size()) return {};
    std::memcpy(v6.data(), bytes, size);
    return asio::ip::address_v6(v6).to_string();
}

// As the check of the host: the alternative names, and without any the common name.
std::string host_names_of(const X509& certificate) {
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
        &GENERAL_NAMES_free);
    std::string text;
    int listed_count = 0;
    const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
    for (int i = 0; i < count && listed_count < max_listed_names; ++i) {
        const auto name = text_of(*sk_GENERAL_NAME_value(names.get(), i));
        if (name.empty()) continue;
        text.append(text.empty() ? "" : ", ").append(name);
        ++listed_count;
    }
    if (names) return text;
    std::array<char, 65> common_name{};
    const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName,
                                               common_name.data(), common_name.size());
    return size > 0 ? printable(common_name.data()) : std::string();
}

}  // namespace

certificate_check::certificate_check(std::string server_name,
                                     std::shared_ptr<certificate_problem> problem)
    : server_name_(std::move(server_name)), problem_(std::move(problem)) {}

bool certificate_check::operator()(bool is_preverified,
                                   asio::ssl::verify_context& verification) const {
    const asio::ssl::host_name_verification is_for_host(server_name_);
    if (is_preverified && is_for_host(true, verification)) return true;
    auto* const store = verification.native_handle();
    problem_->code =
        is_preverified ? X509_V_ERR_HOSTNAME_MISMATCH : X509_STORE_CTX_get_error(store);
    problem_->is_of_server = X509_STORE_CTX_get_error_depth(store) == 0;
    const auto* const certificate = X509_STORE_CTX_get_current_cert(store);
    if (certificate == nullptr) return false;
    problem_->valid_from = text_of(X509_get0_notBefore(certificate));
    problem_->valid_until = text_of(X509_get0_notAfter(certificate));
    problem_->host_names = host_names_of(*certificate);
    return false;
}

}  // namespace pawl::net
