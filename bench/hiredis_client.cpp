// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "hiredis_client.hpp"

#include <redis_scripts.hpp>

#include <hiredis/hiredis.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

int hex_digit(char c) { return c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0'; }

// MONITOR's quoting: "…" with \" \\ \n \r \t \a \b and \xHH.
command_words unquote(const std::string& text, std::size_t at) {
    command_words result;
    while ((at = text.find('"', at)) != std::string::npos) {
        std::string word;
        for (++at; at < text.size() && text[at] != '"'; ++at) {
            if (text[at] != '\\') {
                word += text[at];
                continue;
            }
            const char kind = text[++at];
            if (kind == 'x') {
                word += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
                at += 2;
            } else {
                const std::string names = "nrtab";
                const auto which = names.find(kind);
                word += which == std::string::npos ? kind : "\n\r\t\a\b"[which];
            }
        }
        ++at;
        result.push_back(word);
    }
    return result;
}

}  // namespace

void hiredis_client::close_context::operator()(redisContext* context) const noexcept {
    redisFree(context);
}

void hiredis_client::free_reply::operator()(redisReply* reply) const noexcept {
    freeReplyObject(reply);
}

hiredis_client::hiredis_client(std::uint16_t port) : context_(redisConnect("127.0.0.1", port)) {
    if (!context_ || context_->err != 0) {
        throw std::runtime_error("hiredis cannot connect");
    }
}

hiredis_client::reply_ptr hiredis_client::command(const command_words& command) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& each : command) {
        texts.push_back(each.data());
        sizes.push_back(each.size());
    }
    reply_ptr reply(static_cast<redisReply*>(redisCommandArgv(
        context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data())));
    if (!reply || reply->type == REDIS_REPLY_ERROR) {
        throw std::runtime_error(command[0] + ": " + (reply ? reply->str : context_->errstr));
    }
    return reply;
}

std::string hiredis_client::call(const command_words& words) {
    const reply_ptr reply = command(words);
    return reply->str != nullptr ? std::string(reply->str, reply->len) : std::string();
}

std::int64_t hiredis_client::call_for_number(const command_words& words) {
    const reply_ptr reply = command(words);
    return reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 ? reply->element[0]->integer
                                                                   : reply->integer;
}

std::string hiredis_client::receive() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
        throw std::runtime_error(context_->errstr);
    }
    const reply_ptr reply(static_cast<redisReply*>(raw));
    const redisReply* last =
        reply->type == REDIS_REPLY_ARRAY ? reply->element[reply->elements - 1] : reply.get();
    return last->str != nullptr ? std::string(last->str, last->len) : std::string();
}

void hiredis_client::append(const command_words& command) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : command) {
        texts.push_back(word.data());
        sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(),
                           sizes.data());
}

void hiredis_client::send(const command_words& command) {
    append(command);
    for (int done = 0; done == 0;)
        if (redisBufferWrite(context_.get(), &done) != REDIS_OK)
            throw std::runtime_error(context_->errstr);
}

int hiredis_client::descriptor() const noexcept { return context_->fd; }

int hiredis_client::read_ready() {
    if (redisBufferRead(context_.get()) != REDIS_OK) throw std::runtime_error(context_->errstr);
    for (int replies = 0;; ++replies) {
        void* raw = nullptr;
        if (redisGetReplyFromReader(context_.get(), &raw) != REDIS_OK)
            throw std::runtime_error(context_->errstr);
        if (raw == nullptr) return replies;
        const reply_ptr reply(static_cast<redisReply*>(raw));
        if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(reply->str);
    }
}

void hiredis_client::pipeline(const std::vector<command_words>& commands) {
    for (const command_words& each : commands)
        append(each);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        receive();
    }
}

std::string hiredis_client::info(const std::string& section, const std::string& field) {
    std::istringstream lines(call({"INFO", section}));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(field + ":")) {
            return line.substr(field.size() + 1, line.find('\r') - field.size() - 1);
        }
    }
    return {};
}

std::map<std::string, std::int64_t> hiredis_client::calls_per_command() {
    std::map<std::string, std::int64_t> result;
    std::istringstream lines(call({"INFO", "commandstats"}));
    const std::string start = "cmdstat_";
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(":calls=");
        if (line.starts_with(start) && colon != std::string::npos) {
            result[line.substr(start.size(), colon - start.size())] =
                std::stoll(line.substr(colon + 7));
        }
    }
    return result;
}

std::map<std::string, std::int64_t> difference(const std::map<std::string, std::int64_t>& before,
                                               const std::map<std::string, std::int64_t>& after) {
    std::map<std::string, std::int64_t> result;
    for (const auto& [name, calls] : after) {
        const auto old = before.find(name);
        const std::int64_t more = calls - (old == before.end() ? 0 : old->second);
        if (more != 0 && name != "info") {
            result[name] = more;
        }
    }
    return result;
}

monitor::monitor(std::uint16_t port) : monitoring_(port), marking_(port) {
    monitoring_.call({"MONITOR"});
}

void monitor::mark() { marking_.call({"ECHO", "mark " + std::to_string(++marks_)}); }

std::vector<monitor::line> monitor::until_mark() {
    const std::string mark = "mark " + std::to_string(marks_);
    std::vector<line> lines;
    for (;;) {
        const std::string text = monitoring_.receive();
        const auto bracket = text.find(']');
        if (bracket == std::string::npos) {
            continue;
        }
        line entry{.in_script = text.substr(0, bracket).ends_with(" lua"),
                   .command = unquote(text, bracket)};
        if (entry.command.size() == 2 && entry.command[1] == mark) {
            return lines;
        }
        lines.push_back(std::move(entry));
    }
}

std::string name_of(const command_words& command) {
    std::string name = command.at(0);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (name == "EVALSHA" || name == "EVAL") {
        for (const auto& script : pawl::redis::scripts::all) {
            if (command.at(1) == script.sha1 || command.at(1) == script.text) {
                return name + ' ' + std::string(script.name);
            }
        }
    }
    return name;
}

}  // namespace bench
