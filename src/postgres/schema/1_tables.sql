-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The tables of format 1. Only primary keys are indexed, so that every change of a lease is a HOT
-- update; columns of a fixed size come first, so that the log keeps little of a changed row.
-- `@` stands for the schema.
create schema if not exists @;

create table @.meta (
    one int primary key check (one = 1),
    format int not null,
    timeline int not null,   -- of the server that made the newest row of @.boot
    most_ttl int not null,   -- the longest ttl that anybody requested, in ms
    hold_off timestamptz,    -- as in @.boot, which a crash during the pause empties
    floor bigint not null default 0);  -- as in @.boot; it never goes back
-- A standby that is promoted knows at least these: the pause after a failover depends on them.
insert into @.meta select 1, 1,
    ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int, 30000;

-- Empty after a crash, and on a standby that was promoted.
create unlogged table @.boot (
    one int primary key check (one = 1),
    started timestamptz not null,
    floor bigint not null,  -- of the tokens on this timeline
    most_ttl int not null,
    hold_off timestamptz);  -- no grants until this time

-- A lock and its exclusive hold. `fence` is the newest token.
create table @.lock (
    fence bigint not null,
    expires timestamptz,
    since timestamptz,
    ttl int,
    holders int not null default 0,  -- rows in @.holder
    waiting int not null default 0,  -- rows in @.waiter
    total int,                       -- of the semaphore
    ns text collate "C" not null,
    name text collate "C" not null,
    owner text collate "C",  -- null: no exclusive hold
    client text collate "C",
    who text,
    value text collate "C",  -- the caller's name for the hold
    primary key (ns, name))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- Readers, and holders of permits. `mode`: 0 exclusive, 1 shared, 2 permits.
create table @.holder (
    token bigint not null,
    expires timestamptz not null,
    since timestamptz not null,
    ttl int not null,
    mode int not null,
    permits int not null,
    ns text collate "C" not null,
    name text collate "C" not null,
    owner text collate "C" not null,
    client text collate "C" not null,
    who text,
    primary key (ns, name, owner))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create sequence @.place;

-- `expires` is null if the client's advisory lock proves that it waits.
create table @.waiter (
    seq bigint not null,
    expires timestamptz,
    ttl int not null,
    mode int not null,
    permits int not null,
    ns text collate "C" not null,
    name text collate "C" not null,
    owner text collate "C" not null,
    client text collate "C" not null,
    who text,
    value text collate "C",
    primary key (ns, name, seq))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- A latch that was reset keeps its row, so that no later generation has an earlier number.
create table @.latch (
    count bigint not null,
    generation bigint not null,
    first bigint not null,  -- the oldest generation since the latch was last unknown
    expires timestamptz not null,
    ttl bigint not null,
    parties bigint not null,  -- 0: a latch, not a barrier
    ns text collate "C" not null,
    name text collate "C" not null,
    primary key (ns, name))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- The steps that have counted in the present generation and in the one before.
create table @.latch_step (
    count bigint not null,
    generation bigint not null,
    ns text collate "C" not null,
    name text collate "C" not null,
    request text collate "C" not null,
    primary key (ns, name, request));

create table @.latch_waiter (
    expires timestamptz,
    ns text collate "C" not null,
    name text collate "C" not null,
    owner text collate "C" not null,
    client text collate "C" not null,
    primary key (ns, name, owner));
