-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The rules of the queue, for the procedures of 3_locks.sql. The caller has locked the row of the
-- name. With READ COMMITTED, each statement sees what was committed before it, so what these
-- procedures read is true while the row is locked. UTC_TIMESTAMP is the time of each statement.
delimiter //

-- What a grant needs. `p_floor` is null: this session must say hello first, because the server has
-- changed its role. A definer with many rights may write to a read-only server, so this asks.
create procedure @.enter(out p_floor bigint, out p_hold_off datetime(6), out p_most_ttl int)
begin
    if cast(@@global.read_only as char) in ('0', 'OFF') then
        select m.timeline * 140737488355328, if(m.hold_off > utc_timestamp(6), m.hold_off, null),
            m.most_ttl into p_floor, p_hold_off, p_most_ttl
            from @.meta m where m.one = 1 and m.server = @pawl_server;
    end if;
end//

-- An error of a server that only reads, which does not stop a definer with many rights: the server
-- that follows it may have given the lock away.
create procedure @.check_writable()
begin
    if cast(@@global.read_only as char) not in ('0', 'OFF') then
        signal sqlstate 'HY000' set mysql_errno = 1290, message_text = 'the server is read-only';
    end if;
end//

create procedure @.remember_ttl(p_ttl int)
begin
    update @.meta set most_ttl = p_ttl where one = 1 and most_ttl < p_ttl;
end//

-- The time in 1/65536 s since 2024: the lower part of a new token.
create procedure @.get_ticks(out p_ticks bigint)
begin
    set p_ticks = floor(timestampdiff(microsecond, timestamp'2024-01-01 00:00:00',
        utc_timestamp(6)) * 0.065536);
end//

-- A client holds the user lock of its number for as long as its connection lives.
create procedure @.get_alive(p_client varbinary(16), p_caller varbinary(16), out p_alive boolean)
begin
    set p_alive = p_client = p_caller or is_used_lock(concat('pawl.', p_client)) is not null;
end//

-- A message for a client. notify_1 wakes its listener, after the commit.
create procedure @.notify(p_client varbinary(16), p_message varbinary(1700))
begin
    if is_used_lock(concat('pawl.', p_client)) is not null then
        insert into @.message (client, sent, message)
            values (p_client, utc_timestamp(6), p_message);
        set @pawl_notified = concat(coalesce(@pawl_notified, ''), p_client);
    end if;
end//

-- Wakes the listeners of the clients that the transaction before has sent messages to. A kill that
-- comes before the listener listens is lost, but the listener reads the messages before it listens.
create procedure @.notify_1()
begin
    declare clients mediumblob default @pawl_notified;
    declare connection bigint;
    declare continue handler for sqlexception begin end;
    set @pawl_notified = '';
    while length(clients) >= 16 do
        set connection = is_used_lock(concat('pawl-', left(clients, 16)));
        set clients = substr(clients, 17);
        if connection is not null then kill query connection; end if;
    end while;
end//

-- Creates the row if it is missing, and locks it.
create procedure @.lock_row(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare present int;
    select 1 into present from @.lock k where k.ns = p_ns and k.name = p_name for update;
    if present is null then
        -- It locks the row at once, also if another session has just created it.
        insert into @.lock (ns, name, fence) values (p_ns, p_name, 0)
            on duplicate key update fence = fence;
    end if;
end//

create procedure @.count_holders(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare n int;
    select count(*) into n from @.holder h where h.ns = p_ns and h.name = p_name;
    update @.lock k set k.holders = n where k.ns = p_ns and k.name = p_name;
end//

create procedure @.count_waiters(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare n int;
    select count(*) into n from @.waiter q where q.ns = p_ns and q.name = p_name;
    update @.lock k set k.waiting = n where k.ns = p_ns and k.name = p_name;
end//

-- Leaves the queue. `p_seq` is null if the owner is not in it.
create procedure @.drop_waiter(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    out p_seq bigint)
begin
    select q.seq into p_seq from @.waiter q
        where q.ns = p_ns and q.name = p_name and q.owner = p_owner limit 1;
    if p_seq is not null then
        delete from @.waiter where ns = p_ns and name = p_name and seq = p_seq;
        call @.count_waiters(p_ns, p_name);
    end if;
end//

-- Ends the exclusive hold.
create procedure @.clear_owner(p_ns varbinary(64), p_name varbinary(1536))
begin
    update @.lock k set k.owner = null, k.client = null, k.who = null, k.value = null
        where k.ns = p_ns and k.name = p_name;
end//

-- Ends the leases that are over.
create procedure @.expire(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare t datetime(6) default utc_timestamp(6);
    declare l_owner, h_owner varbinary(64);
    declare l_expires datetime(6);
    declare l_holders int;
    select k.owner, k.expires, k.holders into l_owner, l_expires, l_holders
        from @.lock k where k.ns = p_ns and k.name = p_name;
    if l_owner is not null and l_expires <= t then call @.clear_owner(p_ns, p_name); end if;
    if l_holders > 0 then
        drops: loop
            set h_owner = null;
            select h.owner into h_owner from @.holder h
                where h.ns = p_ns and h.name = p_name and h.expires <= t limit 1;
            if h_owner is null then leave drops; end if;
            delete from @.holder where ns = p_ns and name = p_name and owner = h_owner;
        end loop;
        call @.count_holders(p_ns, p_name);
    end if;
end//

-- True if a claim fits beside the holders. The leases that are over have been ended.
create procedure @.get_fits(p_ns varbinary(64), p_name varbinary(1536), p_mode int, p_permits int,
    out p_fits boolean)
begin
    declare l_owner varbinary(64);
    declare l_holders, l_total, readers, used int;
    select k.owner, k.holders, k.total into l_owner, l_holders, l_total
        from @.lock k where k.ns = p_ns and k.name = p_name;
    if l_owner is not null then
        set p_fits = false;
    elseif l_holders = 0 then
        set p_fits = p_mode <> 2 or p_permits <= coalesce(l_total, 0);
    elseif p_mode = 0 then
        set p_fits = false;
    else
        select coalesce(sum(h.mode = 1), 0), coalesce(sum(if(h.mode = 2, h.permits, 0)), 0)
            into readers, used from @.holder h where h.ns = p_ns and h.name = p_name;
        set p_fits = if(p_mode = 1, used = 0,
            readers = 0 and used + p_permits <= coalesce(l_total, 0));
    end if;
end//

-- Grants the lock. Readers that join others share their token, which is the newest one of the
-- lock; but not a token of an earlier timeline, since a newer one may have been lost in the
-- failover. @pawl_began is the beginning of the lease, in us.
create procedure @.give(p_ns varbinary(64), p_name varbinary(1536), p_floor bigint,
    p_owner varbinary(64), p_client varbinary(16), p_who varbinary(2000), p_value varbinary(768),
    p_ttl int, p_mode int, p_permits int, out p_token bigint)
begin
    declare t datetime(6);
    declare l_holders int;
    declare ticks bigint;
    select k.fence, k.holders into p_token, l_holders
        from @.lock k where k.ns = p_ns and k.name = p_name;
    if p_mode <> 1 or l_holders = 0 or p_token < p_floor then
        call @.get_ticks(ticks);
        set p_token = greatest(p_token + 1, p_floor + ticks);
    end if;
    set t = utc_timestamp(6);
    set @pawl_began = timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', t);
    if p_mode = 0 then
        update @.lock k set k.fence = p_token, k.owner = p_owner, k.client = p_client,
            k.who = p_who, k.value = p_value, k.ttl = p_ttl, k.since = t,
            k.expires = t + interval p_ttl * 1000 microsecond
            where k.ns = p_ns and k.name = p_name;
    else
        insert into @.holder values (p_ns, p_name, p_owner, p_token,
            t + interval p_ttl * 1000 microsecond, t, p_ttl, p_mode, p_permits, p_client, p_who);
        update @.lock k set k.fence = p_token, k.holders = l_holders + 1
            where k.ns = p_ns and k.name = p_name;
    end if;
end//

-- The time in ms until the first end of a lease, or of the pause after a failover; null without
-- either.
create procedure @.get_first_end(p_ns varbinary(64), p_name varbinary(1536),
    p_hold_off datetime(6), out p_remaining bigint)
begin
    declare l_owner varbinary(64);
    declare first_expiry datetime(6);
    select k.owner, k.expires into l_owner, first_expiry
        from @.lock k where k.ns = p_ns and k.name = p_name;
    if l_owner is null then
        select min(h.expires) into first_expiry from @.holder h
            where h.ns = p_ns and h.name = p_name;
        set first_expiry = least(coalesce(first_expiry, p_hold_off),
            coalesce(p_hold_off, first_expiry));
    end if;
    call @.get_until(first_expiry, p_remaining);
end//

-- Tells the first two waiters when the lease that they wait for ends: they look then, if no other
-- message comes before. A holder that was served may have stopped and never renew, and so may the
-- first waiter.
create procedure @.tell_first(p_ns varbinary(64), p_name varbinary(1536), p_hold_off datetime(6))
begin
    declare w_owner varbinary(64);
    declare w_client varbinary(16);
    declare remaining bigint;
    declare at_end boolean default false;
    declare first_ones cursor for select q.owner, q.client from (
        select w.seq, w.owner, w.client, w.expires from @.waiter w
            where w.ns = p_ns and w.name = p_name order by w.seq limit 2) q
        where q.expires is null order by q.seq;
    declare continue handler for not found set at_end = true;
    call @.get_first_end(p_ns, p_name, p_hold_off, remaining);
    open first_ones;
    tells: loop
        set at_end = false;
        fetch first_ones into w_owner, w_client;
        if at_end then leave tells; end if;
        call @.notify(w_client, concat_ws(' ', 'n', w_owner, coalesce(remaining, 0)));
    end loop;
    close first_ones;
end//

-- Ends the leases that are over, and grants the lock to the first waiters as long as they fit.
-- `p_owner`, or null, is the claim of the caller, which is alive: it gets its whole ttl and no
-- message. The others get a claim window of 1.8 s, in which they must renew.
create procedure @.serve(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16))
begin
    declare l_owner, w_owner varbinary(64);
    declare l_waiting, l_total, ignored, w_ttl, w_mode, w_permits int;
    declare floor, w_seq, w_token bigint;
    declare hold_off, w_expires datetime(6);
    declare w_client varbinary(16);
    declare w_who varbinary(2000);
    declare w_value varbinary(768);
    declare is_own, fits boolean;
    declare was_changed boolean default false;
    call @.expire(p_ns, p_name);
    select k.owner, k.waiting, k.total into l_owner, l_waiting, l_total
        from @.lock k where k.ns = p_ns and k.name = p_name;
    if l_waiting > 0 and l_owner is null then
        call @.enter(floor, hold_off, ignored);
    end if;
    if floor is not null and hold_off is null then
        waiters: loop
            set w_seq = null;
            select q.seq, q.expires, q.ttl, q.mode, q.permits, q.owner, q.client, q.who, q.value
                into w_seq, w_expires, w_ttl, w_mode, w_permits, w_owner, w_client, w_who, w_value
                from @.waiter q where q.ns = p_ns and q.name = p_name order by q.seq limit 1;
            if w_seq is null then leave waiters; end if;
            set is_own = w_owner <=> p_owner, fits = true;
            if is_own then
                begin end;
            elseif w_expires is not null then
                set fits = w_expires > utc_timestamp(6);
            else
                call @.get_alive(w_client, p_client, fits);
            end if;
            if not fits then
                set was_changed = true;
                delete from @.waiter where ns = p_ns and name = p_name and seq = w_seq;
                iterate waiters;
            end if;
            if w_mode = 2 and w_permits > coalesce(l_total, 0) then
                set was_changed = true;
                -- The woken waiter looks, and gets the error.
                delete from @.waiter where ns = p_ns and name = p_name and seq = w_seq;
                if w_expires is null then call @.notify(w_client, concat('w ', w_owner)); end if;
                iterate waiters;
            end if;
            call @.get_fits(p_ns, p_name, w_mode, w_permits, fits);
            if not fits then leave waiters; end if;
            set was_changed = true;
            delete from @.waiter where ns = p_ns and name = p_name and seq = w_seq;
            if not is_own then set w_ttl = least(w_ttl, 1800); end if;
            call @.give(p_ns, p_name, floor, w_owner, w_client, w_who, w_value, w_ttl, w_mode,
                w_permits, w_token);
            if not is_own and w_expires is null then
                call @.notify(w_client,
                    concat_ws(' ', 'g', w_owner, w_token, w_ttl, @pawl_began));
            end if;
            if w_mode = 0 then leave waiters; end if;
        end loop;
        if was_changed then
            call @.count_waiters(p_ns, p_name);
            call @.tell_first(p_ns, p_name, null);
        end if;
    end if;
end//

-- In ms, rounded up.
create procedure @.get_until(p_time datetime(6), out p_remaining bigint)
begin
    set p_remaining = greatest(0,
        ceil(timestampdiff(microsecond, utc_timestamp(6), p_time) / 1000));
end//

create procedure @.get_now(out p_now bigint)
begin
    set p_now = timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', utc_timestamp(6));
end//

-- The live hold of an owner; null without one.
create procedure @.get_hold(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    out p_token bigint, out p_expires datetime(6), out p_is_exclusive boolean)
begin
    set p_is_exclusive = false;
    select k.fence, k.expires, true into p_token, p_expires, p_is_exclusive from @.lock k
        where k.ns = p_ns and k.name = p_name and k.owner = p_owner;
    if p_token is null then
        select h.token, h.expires into p_token, p_expires from @.holder h
            where h.ns = p_ns and h.name = p_name and h.owner = p_owner;
    end if;
end//
