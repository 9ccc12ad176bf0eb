#include "script_runner.hpp"

namespace pawl::redis {

boost::asio::awaitable<reply> script_runner::run(const script& what, std::span<const std::string_view> keys,
                                                 std::span<const std::string_view> arguments,
                                                 time_point give_up_at, bool tracked) const {
    const auto count = std::to_string(keys.size());
    std::vector<std::string_view> words{"EVALSHA", what.sha1, count};
    words.reserve(words.size() + keys.size() + arguments.size());
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto answer = tracked ? co_await link_->exec_tracked(words, give_up_at)
                          : co_await link_->exec(words, give_up_at);
    if (answer.what == reply::kind::error && answer.text.starts_with("NOSCRIPT")) {
        // Nothing was carried out, so the same words may be sent again.
        words[0] = "EVAL";
        words[1] = what.text;
        answer = tracked ? co_await link_->exec_tracked(words, give_up_at)
                         : co_await link_->exec(words, give_up_at);
    }
    co_return answer;
}

}  // namespace pawl::redis
