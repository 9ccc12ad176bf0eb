#include "script_runner.hpp"

namespace pawl::redis {

boost::asio::awaitable<reply> script_runner::run(const script& what,
                                                 std::span<const std::string_view> keys,
                                                 std::span<const std::string_view> arguments,
                                                 time_point give_up_at, bool tracked) const {
    const auto count = std::to_string(keys.size());
    std::vector<std::string_view> words;
    words.reserve(3 + keys.size() + arguments.size());
    words.assign({"EVALSHA", what.sha1, count});
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    // Not one conditional expression: GCC 12 destroys what is awaited in one twice.
    reply answer;
    for (;;) {
        if (tracked)
            answer = co_await link_->exec_tracked(words, give_up_at);
        else
            answer = co_await link_->exec(words, give_up_at);
        const bool unknown =
            answer.what == reply::kind::error && answer.text.starts_with("NOSCRIPT");
        if (!unknown || words[0] == "EVAL") co_return answer;
        // Nothing was carried out, so the same words may be sent again.
        words[0] = "EVAL";
        words[1] = what.text;
    }
}

}  // namespace pawl::redis
