// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "errors.hpp"

#include "../core/util/duration_text.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {

error connection_error(const connection& ended, const boost::system::error_code& reason,
                       bool is_late, const std::string& subject) {
    if (const auto explained = ended.explain_end(reason, subject)) return *explained;
    if (is_late && ended.was_opened())
        return {errc::unreachable, subject +
                                       " accepted the connection and did not answer in time; see "
                                       "that it has a leader (`pawl doctor`)."};
    if (is_late) return {errc::unreachable, subject + " did not answer in time."};
    if (reason == asio::ssl::error::stream_truncated)
        return {errc::unreachable,
                subject +
                    " ended the TLS handshake: a port without TLS wants zookeeper:// in place "
                    "of zookeepers:// in the URL, and the port with TLS is secureClientPort."};
    const bool was_cut = reason == asio::error::eof || reason == asio::error::connection_reset;
    if (was_cut && ended.was_opened() && !ended.has_received())
        return {errc::unreachable,
                subject +
                    " closed the connection without an answer: it has no leader, or has older data "
                    "than the client has seen, or it is a port with TLS (zookeepers://), or no "
                    "ZooKeeper; see its log."};
    return {errc::unreachable, subject + ": " + reason.message() + "."};
}

error login_error(const std::string& subject) {
    return {errc::refused, subject +
                               " refused the login; check user and password, and that the "
                               "server has the scheme digest."};
}

void check_timeout(duration requested, duration given, const client_settings& settings,
                   const std::string& subject) {
    if (given == requested) return;
    if (given < requested)
        throw error(errc::bad_option,
                    subject + " allows sessions of at most " + core::duration_text(given) +
                        ", and this ttl needs one of " + core::duration_text(requested) +
                        "; ask for a ttl of at most " +
                        core::duration_text(std::max<duration>(given - 2 * settings.tick, 0ns)) +
                        ", or raise maxSessionTimeout on every server.");
    throw error(errc::bad_option,
                subject + " has no sessions shorter than " + core::duration_text(given) +
                    ", and this ttl needs one of " + core::duration_text(requested) +
                    "; set tick in the URL to the server's tickTime, such as tick=" +
                    std::to_string(given / 2 / 1ms) + "ms.");
}

error reply_error(reply_code code, const client_settings& settings, std::string_view path) {
    const auto subject = settings.description + ": the node " + std::string(path);
    switch (code) {
    case reply_code::no_auth:
        return {errc::refused, subject +
                                   " may not be used by this client: it belongs to another login; "
                                   "give the user and password that all users of the lock have."};
    case reply_code::auth_failed: return login_error(settings.description);
    case reply_code::invalid_acl:
        return {errc::refused, subject +
                                   " cannot be made with rights for this login; check user and "
                                   "password."};
    case reply_code::session_expired:
    case reply_code::session_moved:
    case reply_code::connection_loss:
    case reply_code::operation_timeout:
        return {errc::unreachable, subject + ": the session has ended or moved."};
    case reply_code::no_node: return root_error(settings);
    case reply_code::no_children_for_ephemerals:
        return {errc::wrong_type, subject +
                                      " is below an ephemeral node, which is no place for locks; "
                                      "choose another name or root."};
    case reply_code::quota_exceeded:
        return {errc::unavailable, subject + " is over the quota of its folder; raise the quota."};
    case reply_code::throttled:
    case reply_code::not_read_only:
    case reply_code::new_config_no_quorum:
        return {errc::unavailable, subject + " cannot be changed at present; try again soon."};
    case reply_code::unimplemented:
        return {errc::unsupported,
                settings.description + " is older than ZooKeeper 3.5; Pawl needs 3.5 or later."};
    default:
        return {errc::protocol, subject + ": the server answered with the error " +
                                    std::to_string(static_cast<int>(code)) +
                                    "; see its log, and run `pawl doctor`."};
    }
}

void throw_if_failed(const reply& answer, const client_settings& settings, std::string_view path) {
    if (answer.code != reply_code::ok) throw reply_error(answer.code, settings, path);
}

error numbers_error(const std::string& path) {
    return {errc::unavailable,
            "The node " + path +
                " has used up its sequence numbers, after which ZooKeeper gives the same number to "
                "several clients; delete the node when no lock is held below it.",
            false};
}

error root_error(const client_settings& settings) {
    return {errc::bad_option, settings.description + " has no node " + settings.root +
                                  "; create it (in zkCli.sh: create " + settings.root +
                                  "), add make_root=yes to the URL, or correct its path."};
}

}  // namespace pawl::zookeeper
