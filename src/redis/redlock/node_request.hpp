// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a script at one node. The request names the run of the server that its connection has found,
// so it never waits for another connection: a server that has restarted since would be taken for
// the one that remembers.
#pragma once

#include "../scripting/failed_command.hpp"
#include "../scripting/known_scripts.hpp"
#include "../scripting/script_call.hpp"
#include "../transport/link.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace pawl::redlock {

// Names the memory of a node: another run of a server begins with none, and a master that Sentinels
// have promoted may lack what the last one granted. Then the epoch is another one, also if it is
// the same server again.
[[nodiscard]] inline std::string run_of(const redis::session& server) {
    if (server.epoch == 0) return server.run_id;
    return server.run_id + "." + std::to_string(server.epoch);
}

// Returns the server's reply, also if it is an error. Throws as `link::exec` does, and
// errc::unreachable if the node is not connected; then nothing was executed. `may_repeat` is asked
// before the script's text is sent to a server that does not know its digest. With `texts`, a
// script that is not among them is sent by its text at once. The arguments must outlive the
// operation.
template <class Call, class MayRepeat>
[[nodiscard]] boost::asio::awaitable<redis::reply> ask_node(redis::link& node, const Call& call,
                                                            time_point give_up_at,
                                                            MayRepeat may_repeat,
                                                            redis::known_scripts* texts = nullptr) {
    if (!node.connected()) throw error(errc::unreachable, node.connection_failure());
    const auto connection = node.current().connection_number;
    const auto run = run_of(node.current());
    redis::script_call command = call.command(run);
    if (texts != nullptr && !texts->contains(node, command.code())) command.send_text();
    auto answer = co_await node.exec(command.words(), give_up_at);
    if (answer.type == redis::reply::kind::error && answer.text.starts_with("NOSCRIPT")) {
        // Otherwise a node that is always the slowest would never learn the script.
        if (texts != nullptr) texts->remove(node, command.code());
        if (!node.connected() || node.current().connection_number != connection)
            throw error(errc::unreachable, "the connection ended");
        if (!may_repeat())
            throw error(errc::unreachable, "did not know the script, and answered too late");
        command.send_text();
        answer = co_await node.exec(command.words(), give_up_at);
    }
    if (texts != nullptr) texts->add(node, command.code());
    redis::name_failed_command(answer, command.code());
    co_return answer;
}

inline constexpr auto always = [] { return true; };

template <class Call>
[[nodiscard]] boost::asio::awaitable<redis::reply> ask_node(redis::link& node, const Call& call,
                                                            time_point give_up_at) {
    return ask_node(node, call, give_up_at, always);
}

}  // namespace pawl::redlock
