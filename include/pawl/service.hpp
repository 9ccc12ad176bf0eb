// Where locks live: a cheap, copyable, immutable value. Making one does not connect.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pawl {

class backend;
struct backend_context;

class service {
public:
    class definition {
    public:
        virtual ~definition() = default;
        [[nodiscard]] virtual std::unique_ptr<backend> open(backend_context context) const = 0;
        // For messages: what the URL says, without user and password.
        [[nodiscard]] virtual std::string describe() const = 0;
    };

    explicit service(std::shared_ptr<const definition> what) noexcept : what_(std::move(what)) {}

    [[nodiscard]] std::string describe() const { return what_->describe(); }
    [[nodiscard]] std::unique_ptr<backend> open(backend_context context) const;

private:
    std::shared_ptr<const definition> what_;
};

// redis://  rediss://  redis+unix://  sqlite:  memory:  (docs/urls.md). Throws errc::bad_url.
[[nodiscard]] service from_url(std::string_view url);

// The URL without user and password, for messages.
[[nodiscard]] std::string redacted(std::string_view url);

}  // namespace pawl
