// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock service: the place where locks are stored. Standard headers only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pawl::spi {
class backend;
struct backend_context;
}  // namespace pawl::spi

namespace pawl {

// Names a lock service: a server, a file or memory. A cheap, immutable value; making one does not
// connect. Thread-safe.
class service {
public:
    // For authors of backends. Any thread may call its members.
    class definition {
    public:
        virtual ~definition() = default;
        // Makes the backend of one client. Does not connect.
        [[nodiscard]] virtual std::unique_ptr<spi::backend> open(
            spi::backend_context context) const = 0;
        // As service::describe.
        [[nodiscard]] virtual std::string describe() const = 0;
        // As service::setup_text.
        [[nodiscard]] virtual std::string setup_text([[maybe_unused]] std::string_view role) const {
            return {};
        }
    };

    // For authors of backends.
    explicit service(std::shared_ptr<const definition> implementation) noexcept
        : definition_(std::move(implementation)) {}

    // The URL without user, password and connection options, for messages. Two services with the
    // same text have the same locks, but each "memory:" is new.
    [[nodiscard]] std::string describe() const { return definition_->describe(); }
    // What an administrator carries out before the first use, if programs may not: the SQL of a
    // schema. With the name of a role, also what gives it the rights that locks need, and no more.
    // Empty: the service needs no preparation. Does not connect. Throws errc::bad_option for a role
    // that cannot be named.
    [[nodiscard]] std::string setup_text(std::string_view role = {}) const {
        return definition_->setup_text(role);
    }
    // For clients: makes the backend of one client.
    [[nodiscard]] std::unique_ptr<spi::backend> open(spi::backend_context context) const;

private:
    std::shared_ptr<const definition> definition_;
};

// The service of a URL, such as redis://host or memory:. docs/guide/urls.md has the schemes, and
// `pawl --version` lists the backends of a build. Does not connect. Thread-safe.
//
// Throws errc::bad_url if the URL is not understood, errc::bad_option if its options do not fit
// together, and errc::refused if the path of a lock file leads to another place than it says.
[[nodiscard]] service from_url(std::string_view url);

// The URL for messages: without user and password, and with *** for the value of a `password`
// option. A mistaken URL may have its password in the wrong part; it then becomes SCHEME:***.
[[nodiscard]] std::string redacted(std::string_view url);

}  // namespace pawl
