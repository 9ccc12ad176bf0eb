#include <pawl/backend.hpp>
#include <pawl/error.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

[[noreturn]] void cannot(const char* what) {
    throw error(errc::unsupported, std::string("This service cannot ") + what +
                                       "; see the table in docs/guarantees.md.");
}

}  // namespace

asio::awaitable<std::optional<grant>> backend::downgrade([[maybe_unused]] const hold& what) {
    cannot("downgrade a lock");
    co_return std::nullopt;
}

asio::awaitable<std::optional<grant>> backend::adopt([[maybe_unused]] const claim& what) {
    cannot("adopt a lock");
    co_return std::nullopt;
}

asio::awaitable<std::vector<grant>> backend::acquire_several(
    [[maybe_unused]] std::span<const claim> what, [[maybe_unused]] time_point give_up_at) {
    cannot("take several locks at once");
    co_return std::vector<grant>{};
}

asio::awaitable<void> backend::resize([[maybe_unused]] std::string_view name,
                                      [[maybe_unused]] std::uint32_t permits) {
    cannot("count permits");
    co_return;
}

}  // namespace pawl
