# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The list of backends. CMake makes everything from it that differs by backend; conanfile.py and the
# scripts in tools read it, too, so each keyword stands on a line of its own with all of its values.
# docs/contributing/writing-a-backend.md explains the keywords.
include(pawl_backends)

pawl_backend(redis
    TITLE "Locks in Redis and Valkey"
    URLS redis://HOST rediss://HOST redis+unix:///path/to/socket
    URLS redis+sentinel://HOST rediss+sentinel://HOST redis+cluster://HOST rediss+cluster://HOST
    URLS redlock://HOST redlocks://HOST
    NAMESPACES redis redlock
    EXPORTS redis::at redis::least_rights redis::access_rule::line
    EXPORTS redlock::at redlock::parse
    PARTS net
    PACKAGE OpenSSL
    LIBRARIES OpenSSL::SSL OpenSSL::Crypto
    PKG_CONFIG openssl
    DEBIAN libssl-dev
    CONAN "openssl/[>=3 <4]")

pawl_backend(sqlite
    TITLE "Locks in a SQLite file"
    URLS sqlite:/path/to/file
    NAMESPACES sqlite
    DIALECT sqlite
    EXPORTS sqlite::at sqlite::parse
    PACKAGE SQLite3
    LIBRARIES SQLite::SQLite3
    PKG_CONFIG sqlite3
    DEBIAN libsqlite3-dev
    CONAN "sqlite3/[>=3.35]"
    MAY_SLEEP database.cpp schema.cpp worker.cpp)

pawl_backend(postgres
    TITLE "Locks in a PostgreSQL database"
    URLS postgresql://HOST postgres://HOST
    NAMESPACES postgres
    DIALECT postgres
    EXPORTS postgres::at postgres::parse postgres::schema_of postgres::lock_in_transaction
    PARTS net sql
    PACKAGE PostgreSQL
    LIBRARIES PostgreSQL::PostgreSQL
    PKG_CONFIG libpq
    DEBIAN libpq-dev
    DEBIAN_TESTS postgresql pgbouncer
    CONAN "libpq/[>=14]")

pawl_backend(mysql
    TITLE "Locks in a MariaDB or MySQL database"
    URLS mysql://HOST mariadb://HOST
    NAMESPACES mysql
    DIALECT mysql
    EXPORTS mysql::at mysql::parse mysql::schema_of mysql::set_up_handle mysql::password_of
    PARTS net sql
    PACKAGE MariaDB
    LIBRARIES MariaDB::MariaDB
    PKG_CONFIG libmariadb
    DEBIAN libmariadb-dev
    DEBIAN_TESTS mariadb-server-core mariadb-client-core galera-4
    CONAN "mariadb-connector-c/[>=3.3]")

pawl_backend(etcd
    TITLE "Locks in etcd"
    URLS etcd://HOST etcds://HOST
    NAMESPACES etcd
    EXPORTS etcd::at etcd::parse
    PARTS net
    PACKAGE Nghttp2
    LIBRARIES Nghttp2::Nghttp2
    HEADERS protozero/pbf_reader.hpp
    PKG_CONFIG libnghttp2
    DEBIAN libnghttp2-dev libprotozero-dev
    DEBIAN_TESTS etcd-server etcd-client
    CONAN "libnghttp2/[>=1.43]" "protozero/[>=1.7]")

pawl_backend(zookeeper
    TITLE "Locks in ZooKeeper"
    URLS zookeeper://HOST zookeepers://HOST
    NAMESPACES zookeeper
    EXPORTS zookeeper::at zookeeper::parse
    PARTS net
    PACKAGE OpenSSL
    LIBRARIES OpenSSL::SSL OpenSSL::Crypto
    PKG_CONFIG openssl
    DEBIAN libssl-dev
    CONAN "openssl/[>=3 <4]")

pawl_backend(consul
    TITLE "Locks in Consul"
    URLS consul://HOST consuls://HOST
    NAMESPACES consul http
    EXPORTS consul::at consul::parse
    PARTS http net
    PACKAGE OpenSSL
    LIBRARIES OpenSSL::SSL OpenSSL::Crypto
    PKG_CONFIG openssl
    DEBIAN libssl-dev
    CONAN "openssl/[>=3 <4]")

pawl_backend(memory
    TITLE "Locks in the memory of one process"
    URLS memory:
    NAMESPACES memory
    EXPORTS memory::at
    IN_PROCESS)
