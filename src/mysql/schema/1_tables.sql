-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The tables of format 1, for MariaDB and MySQL. `@` stands for the database. Texts are binary:
-- equal only if all bytes are, and sorted by their bytes. Times are UTC. Every change of a row
-- names its full primary key, so that it locks no row of another name.
delimiter //
set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'//
set autocommit = 1//
create database if not exists @//

create table if not exists @.meta (
    one int primary key,
    format int not null,
    timeline int not null,     -- counts the servers that became the one that accepts writes
    server varbinary(255),     -- the identity of the newest of them
    most_ttl int not null,     -- the longest ttl that anybody requested, in ms
    hold_off datetime(6)) engine = innodb//  -- no grants until this time

-- A lock and its exclusive hold. `fence` is the newest token.
create table if not exists @.lock (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    fence bigint not null,
    expires datetime(6),
    since datetime(6),
    ttl int,
    holders int not null default 0,  -- rows in @.holder
    waiting int not null default 0,  -- rows in @.waiter
    total int,                       -- of the semaphore
    owner varbinary(64),             -- null: no exclusive hold
    client varbinary(16),
    who varbinary(2000),
    value varbinary(768),            -- the caller's name for the hold
    primary key (ns, name)) engine = innodb row_format = dynamic//

-- Readers, and holders of permits. `mode`: 0 exclusive, 1 shared, 2 permits.
create table if not exists @.holder (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    owner varbinary(64) not null,
    token bigint not null,
    expires datetime(6) not null,
    since datetime(6) not null,
    ttl int not null,
    mode int not null,
    permits int not null,
    client varbinary(16) not null,
    who varbinary(2000),
    primary key (ns, name, owner)) engine = innodb row_format = dynamic//

-- `expires` is null if the client's user lock proves that it waits.
create table if not exists @.waiter (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    seq bigint not null auto_increment,
    expires datetime(6),
    ttl int not null,
    mode int not null,
    permits int not null,
    owner varbinary(64) not null,
    client varbinary(16) not null,
    who varbinary(2000),
    value varbinary(768),
    primary key (ns, name, seq),
    key (seq)) engine = innodb row_format = dynamic//

-- Messages that the listener of a client has not yet confirmed.
create table if not exists @.message (
    client varbinary(16) not null,
    seq bigint not null auto_increment,
    sent datetime(6) not null,
    message varbinary(1700) not null,
    primary key (client, seq),
    key (seq)) engine = innodb row_format = dynamic//

-- A latch that was reset keeps its row, so that no later generation has an earlier number.
create table if not exists @.latch (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    count bigint not null,
    generation bigint not null,
    first bigint not null,  -- the oldest generation since the latch was last unknown
    expires datetime(6) not null,
    ttl bigint not null,
    parties bigint not null,  -- 0: a latch, not a barrier
    primary key (ns, name)) engine = innodb row_format = dynamic//

-- The steps that have counted in the present generation and in the one before.
create table if not exists @.latch_step (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    request varbinary(64) not null,
    count bigint not null,
    generation bigint not null,
    primary key (ns, name, request)) engine = innodb row_format = dynamic//

create table if not exists @.latch_waiter (
    ns varbinary(64) not null,
    name varbinary(1536) not null,
    owner varbinary(64) not null,
    expires datetime(6),
    client varbinary(16) not null,
    primary key (ns, name, owner)) engine = innodb row_format = dynamic//
