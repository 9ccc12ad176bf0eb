#include "options.hpp"

#include "backend.hpp"
#include "boost_link.hpp"
#include "keys.hpp"
#include "password_file.hpp"
#include "redisson/backend.hpp"

#include "../core/url.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace pawl::redis {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options where) : where_(std::move(where)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        const auto connect = boost_link_factory(where_, context);
        if (where_.layout == key_layout::redisson)
            return redisson::make_backend(where_, context, connect);
        return make_backend(where_, context, connect);
    }
    std::string describe() const override { return redis::describe(where_); }

private:
    options where_;
};

std::string from_environment(const std::string& variable) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0')
        throw error(errc::bad_option, "The environment variable " + variable +
                                          ", which should have the password, is not set.");
    return value;
}

// What is longer is meant as no end, and would run over when it is added to the present time.
constexpr duration longest_timeout = std::chrono::hours(24);
constexpr duration shortest_retention = std::chrono::seconds(1);
constexpr duration longest_retention = std::chrono::hours(365 * 24);

duration milliseconds(const std::string& name, const std::string& text, std::int64_t least = 1,
                      std::int64_t most = 600'000) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || value < least ||
        value > most)
        throw error(errc::bad_url, "The URL's option " + name + "=" + text +
                                       " is out of range; give milliseconds, " +
                                       std::to_string(least) + " to " + std::to_string(most) + ".");
    return std::chrono::milliseconds(value);
}

duration retention(const std::string& name, const std::string& text) {
    const auto count = [](duration d) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    };
    return milliseconds(name, text, count(shortest_retention), count(longest_retention));
}

bool yes_or_no(const std::string& name, const std::string& value) {
    if (value == "yes") return true;
    if (value == "no") return false;
    throw error(errc::bad_url,
                "The URL's option " + name + "=" + value + " is not valid; use yes or no.");
}

key_layout layout(const std::string& text) {
    if (text == "native") return key_layout::native;
    if (text == "redisson") return key_layout::redisson;
    throw error(errc::bad_url, "The URL's option layout=" + text +
                                   " is unknown; use layout=native, or layout=redisson for locks "
                                   "that Java services take with Redisson.");
}

redisson_object object(const std::string& text) {
    if (text == "lock") return redisson_object::lock;
    if (text == "readwrite") return redisson_object::readwrite;
    if (text == "semaphore") return redisson_object::semaphore;
    throw error(errc::bad_url, "The URL's option object=" + text +
                                   " is unknown; use lock, readwrite or semaphore, which are "
                                   "objects of Redisson.");
}

void take_password(options& where, std::string password) {
    if (!where.password.empty())
        throw error(errc::bad_option,
                    "The URL has a password from more than one place; keep one of the URL itself, "
                    "password_file and password_env.");
    where.password = std::move(password);
}

error without_tls(const std::string& option) {
    return {errc::bad_option, "Only rediss:// has TLS; use it, or leave out " + option +
                                  ", which is of no use here."};
}

// Of no use is what is given at all: the usual value, too.
void check_layout(key_layout layout, bool name_space_given, bool object_given,
                  bool retention_given) {
    if (layout == key_layout::redisson && name_space_given)
        throw error(errc::bad_option,
                    "Redisson's layout has no namespace; leave it out, or set the key template "
                    "(key=PREFIX:{name}) as the NameMapper of the Java side does.");
    if (layout != key_layout::redisson && object_given)
        throw error(
            errc::bad_option,
            "Only Redisson's layout has objects; add layout=redisson, or leave out object.");
    if (layout == key_layout::redisson && retention_given)
        throw error(errc::bad_option,
                    "The counters of Redisson's layout never expire; leave out "
                    "token_retention_ms, or layout=redisson.");
}

// Who shares a lock must know its other keys by the same names.
void check_template(const options& where, bool name_space_given) {
    if (where.key.empty()) return;
    if (name_space_given)
        throw error(errc::bad_option,
                    "A key template and a namespace cannot be combined: readers and holders of "
                    "permits in two namespaces would not know of each other. Leave out namespace, "
                    "or leave out key.");
    if (where.key == where.name_space + ":{{name}}")
        throw error(errc::bad_option,
                    "The key template " + where.key +
                        " is the key that Pawl's locks have without one; leave out key.");
}

bool has(const core::url& url, std::string_view option) {
    return std::ranges::any_of(url.options,
                               [option](const auto& one) { return one.first == option; });
}

std::string known_options(const options& where) {
    const std::string all =
        "namespace, key, layout, object, password_file, password_env, connect_timeout_ms, "
        "reply_timeout_ms";
    if (!where.unix_socket.empty()) return all + ", token_retention_ms and database";
    return all + ", token_retention_ms and, with rediss://, ca, cert, cert_key and verify";
}

// Most likely a variable of a script that is not set.
void refuse_empty(const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
}

void apply(options& where, const std::string& name, const std::string& value) {
    const bool of_tls = name == "ca" || name == "cert" || name == "cert_key" || name == "verify";
    if (of_tls && !where.tls.on) throw without_tls(name);
    if (name == "namespace")
        where.name_space = value;
    else if (name == "key")
        where.key = value;
    else if (name == "layout")
        where.layout = layout(value);
    else if (name == "object")
        where.object = object(value);
    else if (name == "password_file")
        take_password(where, read_password_file(value));
    else if (name == "password_env")
        take_password(where, from_environment(value));
    else if (name == "connect_timeout_ms")
        where.connect_timeout = milliseconds(name, value);
    else if (name == "reply_timeout_ms")
        where.reply_timeout = milliseconds(name, value);
    else if (name == "token_retention_ms")
        where.token_retention = retention(name, value);
    else if (name == "ca")
        where.tls.ca_file = value;
    else if (name == "cert")
        where.tls.cert_file = value;
    else if (name == "cert_key")
        where.tls.key_file = value;
    else if (name == "verify")
        where.tls.verify = yes_or_no(name, value);
    else
        throw error(errc::bad_url, "The URL's option '" + name + "' is unknown; known are " +
                                       known_options(where) + ".");
}

std::uint32_t database(const std::string& path) {
    std::uint32_t number = 0;
    const auto digits = std::string_view(path).substr(1);
    if (digits.empty()) return 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size())
        throw error(errc::bad_url,
                    "'" + std::string(digits) +
                        "' is not a database; the path of a Redis URL is its number, as in /0.");
    return number;
}

}  // namespace

void check(const options& where) {
    const key_scheme keys(where.name_space, where.key);
    const options usual;
    check_layout(where.layout, where.name_space != usual.name_space, where.object != usual.object,
                 where.token_retention != usual.token_retention);
    check_template(where, where.name_space != usual.name_space);
    if (where.unix_socket.empty() && where.host.empty())
        throw error(errc::bad_option, "The URL names no host; write redis://localhost.");
    if (where.unix_socket.size() > 107)
        throw error(errc::bad_option, "The path of the unix socket is longer than 107 bytes.");
    if (!where.unix_socket.empty() && where.tls.on)
        throw error(errc::bad_option, "A unix socket has no TLS; use redis+unix:// without it.");
    const auto& tls = where.tls;
    if (!tls.on) {
        if (!tls.ca_file.empty()) throw without_tls("ca");
        if (!tls.cert_file.empty()) throw without_tls("cert");
        if (!tls.key_file.empty()) throw without_tls("cert_key");
        if (!tls.verify) throw without_tls("verify");
    }
    if (tls.cert_file.empty() != tls.key_file.empty())
        throw error(errc::bad_option, std::string("The client certificate has no ") +
                                          (tls.key_file.empty() ? "key" : "certificate file") +
                                          ": cert and cert_key go together; give both.");
    if (where.connect_timeout <= duration{} || where.reply_timeout <= duration{})
        throw error(errc::bad_option, "connect_timeout and reply_timeout must be above 0.");
    if (where.connect_timeout > longest_timeout || where.reply_timeout > longest_timeout)
        throw error(errc::bad_option,
                    "connect_timeout and reply_timeout must be 24 h at the most.");
    if (where.token_retention < shortest_retention || where.token_retention > longest_retention)
        throw error(errc::bad_option, "token_retention must be between 1 s and 365 days.");
}

std::string describe(const options& where) {
    const options usual;
    std::string text;
    if (where.unix_socket.empty()) {
        const bool v6 = where.host.find(':') != std::string::npos;
        text = std::string(where.tls.on ? "rediss://" : "redis://") +
               (v6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port) + "/" +
               std::to_string(where.database);
    } else {
        text = "redis+unix://" + core::encode_path(where.unix_socket);
        if (where.database != 0)
            core::append_option(text, "database", std::to_string(where.database));
    }
    if (where.name_space != usual.name_space)
        core::append_option(text, "namespace", where.name_space);
    if (!where.key.empty()) core::append_option(text, "key", where.key);
    if (where.layout == key_layout::redisson) core::append_option(text, "layout", "redisson");
    if (where.object == redisson_object::readwrite)
        core::append_option(text, "object", "readwrite");
    if (where.object == redisson_object::semaphore)
        core::append_option(text, "object", "semaphore");
    return text;
}

service at(options where) {
    check(where);
    return service(std::make_shared<definition>(std::move(where)));
}

service at(std::string_view text) {
    const auto url = core::parse_url(text);
    options where;
    if (url.scheme == "redis+unix") {
        if (!url.host.empty() || url.port)
            throw error(errc::bad_url,
                        "A redis+unix: URL has no host; write redis+unix:///path/to/socket.");
        where.unix_socket = url.path;
        if (url.path.empty())
            throw error(errc::bad_url,
                        "The URL names no socket; write redis+unix:///path/to/socket.");
    } else if (url.scheme == "redis" || url.scheme == "rediss") {
        where.host = url.host;
        if (url.port) where.port = *url.port;
        if (!url.path.empty()) where.database = database(url.path);
        where.tls.on = url.scheme == "rediss";
    } else {
        throw error(errc::bad_url, "'" + url.scheme +
                                       "' is not a scheme of Redis; use redis, rediss or "
                                       "redis+unix.");
    }
    where.user = url.user.value_or("");
    where.password = url.password.value_or("");
    for (const auto& [name, value] : url.options) {
        refuse_empty(name, value);
        if (name == "database" && url.scheme == "redis+unix")
            where.database = database("/" + value);
        else
            apply(where, name, value);
    }
    check_layout(where.layout, has(url, "namespace"), has(url, "object"),
                 has(url, "token_retention_ms"));
    return at(std::move(where));
}

}  // namespace pawl::redis
