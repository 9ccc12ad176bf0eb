// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "schema.hpp"

#include "connection_string.hpp"
#include "shedlock.hpp"

#include <postgres_schema.hpp>

namespace pawl::postgres {
namespace {

std::string with_schema(std::string_view text, const std::string& schema) {
    std::string result;
    for (const char each : text)
        if (each == '@')
            result += quoted(schema);
        else
            result += each;
    return result;
}

// Functions and operators that another user made in a schema of the search path may fit better to a
// call than the server's. They would run with the rights of an administrator.
constexpr char trusted_names[] =
    "perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);\n";

void replace_all(std::string& text, std::string_view name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size()))
        text.replace(at, name.size(), value);
}

}  // namespace

std::string schema_text(const std::string& schema) {
    std::string text;
    for (const auto part : schema_parts)
        text += with_schema(part, schema);
    return text;
}

// The advisory lock is of the transaction. Two clients that begin at the same time make one schema.
std::string make_schema_statement(const std::string& schema) {
    return std::string("do $pawl_make$ begin\n") + trusted_names +
           "perform pg_advisory_xact_lock(('x' || left(md5('pawl schema " + schema +
           "'), 16))::bit(64)::bigint);\n"
           "if to_regclass('" +
           quoted(schema) +
           ".meta') is null then\n"
           "execute $pawl_schema$\n" +
           schema_text(schema) +
           "$pawl_schema$;\n"
           "end if;\n"
           "end $pawl_make$;\n";
}

std::string rights_text(const std::string& schema, std::string_view role) {
    static constexpr std::string_view text = R"sql(
do $pawl_owner$
declare
    statement text;
begin
    $names
    if not exists (select from pg_roles where rolname = $owner) then
        create role "$owner" nologin;
    end if;
    for statement in
        select format('alter %s %s owner to "$owner"',
            case c.relkind when 'S' then 'sequence' else 'table' end, c.oid::regclass)
            from pg_class c where c.relnamespace = '@'::regnamespace and c.relkind in ('r', 'S')
        union all select format('alter function %s owner to "$owner"', p.oid::regprocedure)
            from pg_proc p where p.pronamespace = '@'::regnamespace
        union all select 'alter schema @ owner to "$owner"'
        union all select 'revoke all on schema @ from public'
        union all select 'revoke all on all tables in schema @ from public'
        union all select 'revoke all on all functions in schema @ from public'
        union all select format('grant usage on schema @ to %I', $role)
        union all select format('grant execute on function %s to %I', p.oid::regprocedure, $role)
            from pg_proc p where p.pronamespace = '@'::regnamespace and p.proname ~ '_1$'
    loop
        execute statement;
    end loop;
end $pawl_owner$;
)sql";
    const auto owner = schema.substr(0, 57) + "_owner";
    auto result = with_schema(text, schema);
    replace_all(result, "$names\n", trusted_names);
    replace_all(result, "= $owner)", "= '" + owner + "')");
    replace_all(result, "$owner\"", owner + "\"");
    replace_all(result, "$role", "'" + std::string(role) + "'");
    return result;
}

std::string schema_of(const options& settings, std::string_view role) {
    check_options(settings);
    if (settings.shedlock) return shedlock_schema(*settings.shedlock, role);
    if (settings.kind == lock_kind::session)
        throw error(errc::unsupported,
                    "Advisory locks (mode=session) need no schema: every role that may connect can "
                    "lock them.");
    if (role.empty()) return make_schema_statement(settings.schema);
    check_role(role);
    return "begin;\n" + make_schema_statement(settings.schema) +
           rights_text(settings.schema, role) + "commit;\n";
}

}  // namespace pawl::postgres
