-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The procedures that clients of format 1 call; each answers with one result set. Booleans are t
-- and f. A list is a JSON array of rows, which are arrays of texts in hexadecimal digits.
-- Status of an attempt: g granted, q in the queue, b busy, r say hello first; and for permits: n no
-- total is set, t another total is set, m more permits than the total.
delimiter //

-- Deletes locks that nobody used for a week, some at a time, and messages for clients that have
-- ended. The clock is ahead of the tokens of such locks.
create procedure @.tidy(p_floor bigint)
begin
    declare message_seq, ticks bigint;
    declare message_client varbinary(16);
    declare l_ns varbinary(64);
    declare l_name varbinary(1536);
    declare i int default 0;
    declare exit handler for sqlexception begin end;  -- a row is in use
    call @.get_ticks(ticks);
    set ticks = p_floor + ticks - 604800 * 65536;
    old_locks: while i < 100 do
        set i = i + 1, l_name = null;
        select k.ns, k.name into l_ns, l_name from @.lock k where k.owner is null
            and k.holders = 0 and k.waiting = 0 and k.total is null and k.fence < ticks limit 1;
        if l_name is null then leave old_locks; end if;
        delete from @.lock where ns = l_ns and name = l_name and owner is null
            and holders = 0 and waiting = 0 and total is null and fence < ticks;
    end while;
    set i = 0;
    old_messages: while i < 100 do
        set i = i + 1, message_seq = null;
        select g.client, g.seq into message_client, message_seq from @.message g
            where g.sent < utc_timestamp(6) - interval 1 day limit 1;
        if message_seq is null then leave old_messages; end if;
        delete from @.message where client = message_client and seq = message_seq;
    end while;
end//

-- The first call of a connection. `p_server` is the identity of the server. If another server
-- accepted writes before, holds that this one does not know may still live: nothing is granted for
-- the longest ttl, unless the client wants no pause.
create procedure @.hello_1(p_go boolean, p_server varbinary(255))
begin
    declare l_timeline, l_format, l_most_ttl int;
    declare l_server varbinary(255);
    declare l_hold_off datetime(6);
    declare is_standby boolean default cast(@@global.read_only as char) not in ('0', 'OFF');
    declare remaining, now bigint;
    declare exit handler for sqlexception begin rollback; resignal; end;
    set autocommit = 1;
    set session transaction isolation level read committed;
    set session innodb_lock_wait_timeout = 1;
    set session lock_wait_timeout = 1;
    -- The client says something every 15 s.
    set session wait_timeout = 60;
    set @pawl_server = p_server, @pawl_notified = '';
    select m.format, m.timeline, m.server into l_format, l_timeline, l_server
        from @.meta m where m.one = 1;
    if not is_standby then
        if not (l_server <=> p_server) then
            start transaction;
            select m.timeline, m.server, m.most_ttl into l_timeline, l_server, l_most_ttl
                from @.meta m where m.one = 1 for update;
            if not (l_server <=> p_server) then
                if l_timeline >= 65535 then
                    signal sqlstate '45000' set message_text =
                        'the timeline is larger than 65535, and tokens have no room for it';
                end if;
                -- Another failover does not end the pause.
                update @.meta m set m.timeline = l_timeline + 1, m.server = p_server,
                    m.hold_off = if(l_timeline > 0 and not p_go, greatest(
                        utc_timestamp(6) + interval l_most_ttl * 1000 microsecond,
                        coalesce(m.hold_off, utc_timestamp(6))), m.hold_off)
                    where m.one = 1;
            end if;
            commit;
        end if;
        select m.timeline, if(m.hold_off > utc_timestamp(6), m.hold_off, null)
            into l_timeline, l_hold_off from @.meta m where m.one = 1;
        if rand() < 0.1 then call @.tidy(l_timeline * 140737488355328); end if;
    end if;
    if l_hold_off is not null then call @.get_until(l_hold_off, remaining); end if;
    call @.get_now(now);
    select l_format, if(is_standby, 't', 'f'), l_timeline, remaining, connection_id(), now;
end//

-- Ends a hold of the caller from an earlier timeline: it may have ended there, and others may have
-- followed, which this server does not know.
create procedure @.end_earlier(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_floor bigint)
begin
    declare token bigint;
    declare expires datetime(6);
    declare is_exclusive boolean;
    call @.get_hold(p_ns, p_name, p_owner, token, expires, is_exclusive);
    if token < p_floor then
        if is_exclusive then
            call @.clear_owner(p_ns, p_name);
        else
            delete from @.holder where ns = p_ns and name = p_name and owner = p_owner;
            call @.count_holders(p_ns, p_name);
        end if;
    end if;
end//

-- An attempt with its place in the queue: `p_place` is n none, k kept, l lost. `p_wait`: 0 no
-- place, 1 a place for as long as the connection lives, 2 a place for 4 s. The row of the name is
-- locked.
create procedure @.attempt(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_who varbinary(2000), p_value varbinary(768), p_ttl int, p_mode int,
    p_permits int, p_total int, p_wait int, p_place char(1), p_floor bigint,
    p_hold_off datetime(6), out p_status char(1), out p_token bigint, out p_remaining bigint,
    out p_is_first boolean, out p_known_total int)
main: begin
    declare l_total, l_waiting int;
    declare seq bigint;
    declare expires datetime(6);
    declare fits boolean;
    declare first_owner varbinary(64);
    if p_mode = 2 then
        select k.total into l_total from @.lock k where k.ns = p_ns and k.name = p_name;
        set p_known_total = coalesce(l_total, p_total);
        set p_status = case when p_known_total = 0 then 'n'
            when p_place = 'n' and p_total <> 0 and p_total <> p_known_total then 't'
            when p_permits > p_known_total then 'm' end;
        if p_status is not null then
            call @.drop_waiter(p_ns, p_name, p_owner, seq);
            if seq is not null then call @.serve(p_ns, p_name, null, p_client); end if;
            leave main;
        end if;
        if l_total is null then
            update @.lock k set k.total = p_known_total where k.ns = p_ns and k.name = p_name;
        end if;
    end if;
    call @.end_earlier(p_ns, p_name, p_owner, p_floor);
    call @.serve(p_ns, p_name, p_owner, p_client);
    call @.get_hold(p_ns, p_name, p_owner, p_token, expires, fits);
    if p_token is null and p_hold_off is null then
        select k.waiting into l_waiting from @.lock k where k.ns = p_ns and k.name = p_name;
        if l_waiting = 0 then
            call @.get_fits(p_ns, p_name, p_mode, p_permits, fits);
            if fits then
                call @.give(p_ns, p_name, p_floor, p_owner, p_client, p_who, p_value, p_ttl,
                    p_mode, p_permits, p_token);
                set p_status = 'g', p_remaining = p_ttl;
                leave main;
            end if;
        end if;
    end if;
    if p_token is not null then
        set p_status = 'g';
        call @.get_until(expires, p_remaining);
        leave main;
    end if;
    call @.get_first_end(p_ns, p_name, p_hold_off, p_remaining);
    set p_status = 'b';
    if p_wait = 0 then leave main; end if;
    if p_place <> 'k' then
        insert into @.waiter (ns, name, expires, ttl, mode, permits, owner, client, who, value)
            values (p_ns, p_name, if(p_wait = 2, utc_timestamp(6) + interval 4 second, null),
                p_ttl, p_mode, p_permits, p_owner, p_client, p_who, p_value);
        update @.lock k set k.waiting = k.waiting + 1 where k.ns = p_ns and k.name = p_name;
    end if;
    select q.owner into first_owner from @.waiter q where q.ns = p_ns and q.name = p_name
        order by q.seq limit 1;
    set p_status = 'q', p_is_first = first_owner = p_owner;
end//

create procedure @.acquire_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_who varbinary(2000), p_value varbinary(768), p_ttl int, p_mode int,
    p_permits int, p_total int, p_wait int)
begin
    declare status char(1);
    declare floor, token, remaining, ticks, now bigint;
    declare hold_off, l_expires datetime(6);
    declare most_ttl, total int;
    declare is_first boolean;
    declare l_owner varbinary(64);
    declare exit handler for sqlexception begin rollback; resignal; end;
    main: begin
        call @.enter(floor, hold_off, most_ttl);
        if floor is null then set status = 'r'; leave main; end if;
        if p_ttl > most_ttl then call @.remember_ttl(p_ttl); end if;
        -- A try of a lock that is held locks nothing.
        if p_wait = 0 then
            select k.owner, k.expires into l_owner, l_expires from @.lock k
                where k.ns = p_ns and k.name = p_name;
            if l_owner <> p_owner and l_expires > utc_timestamp(6) then
                set status = 'b';
                call @.get_until(l_expires, remaining);
                leave main;
            end if;
        end if;
        -- A free lock is one statement. It changes the row if it matches, as the token grows.
        if p_mode = 0 and hold_off is null then
            call @.get_ticks(ticks);
            update @.lock k set k.fence = last_insert_id(greatest(k.fence + 1, floor + ticks)),
                k.owner = p_owner, k.client = p_client, k.who = p_who, k.value = p_value,
                k.ttl = p_ttl, k.since = utc_timestamp(6),
                k.expires = utc_timestamp(6) + interval p_ttl * 1000 microsecond
                where k.ns = p_ns and k.name = p_name and k.waiting = 0 and k.holders = 0
                and (k.owner is null or k.expires <= utc_timestamp(6));
            if row_count() = 1 then
                commit;
                set status = 'g', token = last_insert_id(), remaining = p_ttl;
                leave main;
            end if;
        end if;
        start transaction;
        call @.lock_row(p_ns, p_name);
        call @.attempt(p_ns, p_name, p_owner, p_client, p_who, p_value, p_ttl, p_mode, p_permits,
            p_total, p_wait, 'n', floor, hold_off, status, token, remaining, is_first, total);
        commit;
        call @.notify_1();
    end;
    call @.get_now(now);
    select status, token, remaining, if(is_first, 't', 'f'), total, now;
end//

-- Tells of a grant whose message was lost, serves the queue if a lease or the first waiter has
-- ended, and keeps the place. A claim that lost its place joins the queue again. While there is
-- nothing to serve, it only reads.
create procedure @.refresh_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_who varbinary(2000), p_value varbinary(768), p_ttl int, p_mode int,
    p_permits int, p_total int, p_wait int)
begin
    declare status char(1);
    declare floor, token, remaining, now, w_seq bigint;
    declare hold_off datetime(6);
    declare most_ttl, total int;
    declare is_first, is_alive boolean default false;
    declare l_owner, first_owner varbinary(64);
    declare first_client varbinary(16);
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.enter(floor, hold_off, most_ttl);
    select q.seq into w_seq from @.waiter q
        where q.ns = p_ns and q.name = p_name and q.owner = p_owner limit 1;
    if p_wait = 1 and w_seq is not null then
        select k.owner into l_owner from @.lock k where k.ns = p_ns and k.name = p_name;
        select q.owner, q.client into first_owner, first_client from @.waiter q
            where q.ns = p_ns and q.name = p_name order by q.seq limit 1;
        set is_first = first_owner = p_owner;
        call @.get_alive(first_client, p_client, is_alive);
        call @.get_first_end(p_ns, p_name, hold_off, remaining);
    end if;
    if floor is null then
        set status = 'r';
    elseif remaining > 0 and is_alive and not (l_owner <=> p_owner) then
        set status = 'q';
    else
        if p_ttl > most_ttl then call @.remember_ttl(p_ttl); end if;
        start transaction;
        call @.lock_row(p_ns, p_name);
        set w_seq = null;
        select q.seq into w_seq from @.waiter q
            where q.ns = p_ns and q.name = p_name and q.owner = p_owner limit 1;
        if w_seq is not null and p_wait = 2 then
            update @.waiter set expires = utc_timestamp(6) + interval 4 second
                where ns = p_ns and name = p_name and seq = w_seq;
        end if;
        call @.attempt(p_ns, p_name, p_owner, p_client, p_who, p_value, p_ttl, p_mode, p_permits,
            p_total, p_wait, if(w_seq is null, 'l', 'k'), floor, hold_off, status, token,
            remaining, is_first, total);
        commit;
    end if;
    call @.notify_1();
    call @.get_now(now);
    select status, token, remaining, if(is_first, 't', 'f'), total, now;
end//

-- Status of an end: r released, e expired and nobody took the lock, t taken over, g kept.
-- `is_over` tells whether the connection of the claim has ended: then no request of it can still
-- arrive.
create procedure @.leave_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_claimed_by varbinary(16), p_mode int, p_keep boolean)
begin
    declare status char(1);
    declare l_waiting, l_holders, other_mode int;
    declare token, remaining, present, seq, first_seq, floor bigint;
    declare expires, hold_off datetime(6);
    declare most_ttl int;
    declare l_owner varbinary(64);
    declare is_exclusive, claim_lives boolean default false;
    declare exit handler for sqlexception begin rollback; resignal; end;
    if p_client <> p_claimed_by and p_claimed_by <> '' then
        call @.get_alive(p_claimed_by, p_client, claim_lives);
    end if;
    main: begin
        start transaction;
        select 1 into present from @.lock k where k.ns = p_ns and k.name = p_name for update;
        if present is null then set status = 'e'; commit; leave main; end if;
        if p_keep then
            call @.enter(floor, hold_off, most_ttl);
            call @.end_earlier(p_ns, p_name, p_owner, coalesce(floor, 9223372036854775807));
        end if;
        call @.expire(p_ns, p_name);
        select k.waiting into l_waiting from @.lock k where k.ns = p_ns and k.name = p_name;
        if l_waiting > 0 then
            call @.drop_waiter(p_ns, p_name, p_owner, seq);
            select min(q.seq) into first_seq from @.waiter q where q.ns = p_ns and q.name = p_name;
            if seq < first_seq then
                call @.enter(floor, hold_off, most_ttl);
                call @.tell_first(p_ns, p_name, hold_off);
            end if;
        end if;
        call @.get_hold(p_ns, p_name, p_owner, token, expires, is_exclusive);
        if token is not null then
            call @.get_until(expires, remaining);
            if p_keep then set status = 'g'; commit; leave main; end if;
            set status = 'r';
            if is_exclusive then
                call @.clear_owner(p_ns, p_name);
            else
                delete from @.holder where ns = p_ns and name = p_name and owner = p_owner;
                call @.count_holders(p_ns, p_name);
            end if;
        else
            select k.owner, k.holders into l_owner, l_holders
                from @.lock k where k.ns = p_ns and k.name = p_name;
            select h.mode into other_mode from @.holder h
                where h.ns = p_ns and h.name = p_name limit 1;
            set status = if(l_owner is null and (l_holders = 0 or p_mode = other_mode), 'e', 't');
        end if;
        call @.serve(p_ns, p_name, null, p_client);
        commit;
    end;
    call @.notify_1();
    select status, token, remaining, if(claim_lives, 'f', 't');
end//

create procedure @.release_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_mode int)
begin
    declare status char(1);
    declare l_expires datetime(6);
    declare exit handler for sqlexception begin rollback; resignal; end;
    if p_mode = 0 then
        select k.expires into l_expires from @.lock k
            where k.ns = p_ns and k.name = p_name and k.owner = p_owner;
        -- Without a waiter it is one statement. It matches only if nobody took the lock meanwhile.
        update @.lock k set k.owner = null, k.client = null, k.who = null, k.value = null
            where k.ns = p_ns and k.name = p_name and k.owner = p_owner
            and k.holders = 0 and k.waiting = 0;
        if row_count() = 1 then
            commit;
            set status = if(l_expires > utc_timestamp(6), 'r', 'e');
        end if;
    end if;
    if status is not null then
        select status, null, null, 't';
    else
        call @.leave_1(p_ns, p_name, p_owner, p_client, p_client, p_mode, false);
    end if;
end//

-- A row for each hold, in their order: x extended, r refused, m refused and nobody has the lock.
-- Locks the rows in the order of their names, so that two batches cannot wait for each other.
-- A hold is its name, owner, mode and ttl.
create procedure @.renew_1(p_ns varbinary(64), p_client varbinary(16),
    p_holds longtext character set utf8mb4)
begin
    declare results mediumtext character set utf8mb4
        default repeat('m', json_length(p_holds));
    declare i, a_mode, a_ttl, l_holders int;
    declare at_end, is_live boolean default false;
    declare now, others bigint;
    declare a_name varbinary(1536);
    declare a_owner, l_owner varbinary(64);
    declare l_expires, h_expires datetime(6);
    declare asked cursor for
        select h.i, unhex(h.name), unhex(h.owner), cast(unhex(h.mode) as signed),
            cast(unhex(h.ttl) as signed)
        from json_table(p_holds, '$[*]' columns (i for ordinality,
            name varchar(3072) character set latin1 path '$[0]',
            owner varchar(128) character set latin1 path '$[1]',
            mode varchar(16) character set latin1 path '$[2]',
            ttl varchar(32) character set latin1 path '$[3]')) h
        order by unhex(h.name), h.i;
    declare continue handler for not found set at_end = true;
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.check_writable();
    start transaction;
    open asked;
    renewals: loop
        set at_end = false;
        fetch asked into i, a_name, a_owner, a_mode, a_ttl;
        if at_end then leave renewals; end if;
        set l_owner = null, l_expires = null, l_holders = 0, h_expires = null;
        select k.owner, k.expires, k.holders into l_owner, l_expires, l_holders
            from @.lock k where k.ns = p_ns and k.name = a_name for update;
        set is_live = coalesce(l_owner is not null and l_expires > utc_timestamp(6), false);
        if a_mode = 0 and is_live and l_owner = a_owner then
            update @.lock k set k.expires = utc_timestamp(6) + interval a_ttl * 1000 microsecond,
                k.ttl = a_ttl, k.client = p_client where k.ns = p_ns and k.name = a_name;
            set results = insert(results, i, 1, 'x');
            iterate renewals;
        end if;
        if a_mode <> 0 and l_holders > 0 then
            select h.expires into h_expires from @.holder h where h.ns = p_ns and h.name = a_name
                and h.owner = a_owner and h.mode = a_mode;
            if h_expires > utc_timestamp(6) then
                update @.holder h set h.ttl = a_ttl, h.client = p_client,
                    h.expires = utc_timestamp(6) + interval a_ttl * 1000 microsecond
                    where h.ns = p_ns and h.name = a_name and h.owner = a_owner;
                set results = insert(results, i, 1, 'x');
                iterate renewals;
            end if;
        end if;
        select count(*) into others from @.holder h
            where h.ns = p_ns and h.name = a_name and h.expires > utc_timestamp(6);
        if is_live or others > 0 then set results = insert(results, i, 1, 'r'); end if;
    end loop;
    close asked;
    commit;
    call @.get_now(now);
    select substr(results, s.i, 1), now
        from json_table(p_holds, '$[*]' columns (i for ordinality)) s order by s.i;
end//
