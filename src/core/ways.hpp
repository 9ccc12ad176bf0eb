// The ways to ask for a lock, behind both faces.
#pragma once

#include "engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::core {

// What is asked for: with `once`, tries that wait for nobody; else `options.wait` counts.
struct request {
    lock_options options;
    std::optional<polling> once;
    std::optional<std::string> value{};  // of the caller's own
    bool adopting = false;               // what is held under it already
};

[[nodiscard]] request to_request(const try_options& options);

// Behind lock_owner: which holds are its own, and who of its own is asking. Used on the strand of
// the engine that it was made for.
class owner {
public:
    explicit owner(const engine& home);

    // What it holds already, with one more handle. Throws errc::lost when that hold is lost, and
    // errc::bad_option when it is not enough.
    [[nodiscard]] taken enter_again(const std::string& name, const lock_options& wanted) const;
    void remember(const std::string& name, const std::shared_ptr<lease>& one);
    [[nodiscard]] waiting_room& room() noexcept { return room_; }

private:
    waiting_room room_;
    std::unordered_map<std::string, std::weak_ptr<lease>> held_;
};

// On the engine's strand. Null: somebody else's, where `once`. Throws pawl::error. Without `who`
// every call is an owner of its own.
[[nodiscard]] boost::asio::awaitable<taken> take(engine::ptr home, std::shared_ptr<owner> who,
                                                 std::string name, request how);

// All or none, in one order; empty: one of them is somebody else's, where `once`. `who` as above.
[[nodiscard]] boost::asio::awaitable<std::vector<taken>> take_all(engine::ptr home,
                                                                  std::shared_ptr<owner> who,
                                                                  std::vector<std::string> names,
                                                                  request how);

// Looks every `interval` until the holder's token is another one than `seen`; no holder has none.
[[nodiscard]] boost::asio::awaitable<lock_info> wait_change(engine::ptr home, std::string name,
                                                            fencing_token seen, duration interval);

}  // namespace pawl::core
