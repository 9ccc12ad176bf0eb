#include "scene.hpp"

namespace chaos {

void notebook::write(std::string_view line) {
    const std::scoped_lock alone(guard_);
    text_.append(line).append("\n");
}

std::string notebook::text() const {
    const std::scoped_lock alone(guard_);
    return text_;
}

std::ostream& operator<<(std::ostream& out, const std::optional<failure>& what) {
    if (!what) return out << "no failure";
    return out << pawl::make_error_code(what->reason).message() << ": " << what->sentence;
}

scene::scene(support::redis_plan plan)
    : server(std::move(plan)), proxy({.port = server.port(), .unix_socket = {}}) {}

client scene::direct(const std::string& more) { return at(server.url(more)); }

client scene::proxied(const std::string& more) { return at(proxy.url(more)); }

client scene::at(const std::string& url) {
    pawl::client_options options;
    options.log = [this](std::string_view line) { notes.write(line); };
    return client(pawl::redis::at(url), options);
}

std::optional<failure> scene::failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const pawl::error& what) {
        notes.write(what.what());
        return failure{what.reason(), what.what()};
    }
    return std::nullopt;
}

support::matcher scene::script(const pawl::redis::script& which) {
    return [&which](const support::command_words& words) {
        return words.size() > 1 && (words[1] == which.sha1 || words[1] == which.text);
    };
}

std::vector<std::string> scene::leftovers() {
    auto all = server.keys();
    std::erase_if(all, [](const std::string& key) { return key.ends_with(":f"); });
    return all;
}

std::uint64_t scene::waiters(const std::string& name) {
    return static_cast<std::uint64_t>(server.ask({"ZCARD", "pawl:{" + name + "}:q"}).number());
}

bool scene::held(const std::string& name) {
    return server.ask({"EXISTS", "pawl:{" + name + "}"}).number() == 1;
}

bell::bell(const held_lock& lock)
    : told_(lock.lost(), [this] { when_ = boot_clock::now().time_since_epoch().count(); }) {}

bool bell::rang_within(std::chrono::nanoseconds bound) const {
    return eventually([this] { return when_ != 0; }, bound);
}

}  // namespace chaos
