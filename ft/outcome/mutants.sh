#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recorders that break one rule each: torture.sh must find every one, or points.sh if a row is named, or locks.sh ("locks ROW"), conditions.sh, relay.sh. A mutant is
# one substitution in one file, linked in the place of the object that ships; in lock.h it is in the place of all that have it.
# That takes hours, so it is FT_TIER=full; else what is looked at is that each mutant's text is still there.
# mutants.sh TEXT: those whose description has it, all of it.
# shellcheck disable=SC2016
set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
command -v perl >/dev/null || exit 77
[ -e "$build/.libs/liboutcome_test.so" ] || exit 77
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-outcome-mutants.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
bad=0
only=${1-}
texts_only=1
if [ -n "$only" ] || [ "${FT_TIER-}" = full ]; then texts_only=; fi
mkdir "$tmp/.libs" "$tmp/objects"
cp "$build/outcome_cuts" "$build/outcome_agent" "$build/outcome_torture" "$build/outcome_calls" "$build/outcome_locks" "$build/outcome_conditions" "$build/outcome_relay" "$tmp"
(cd "$tmp/objects" && ar x "$build/.libs/liboutcome.a" && ar x "$build/.libs/liblocks_test.a") || exit 99
locks="lock behind wrap_mutex wrap_semaphore wrap_condition wrap_winner wrap_openmp wrap_locked"
cp "$build"/ft/outcome/test/.libs/*start.o "$tmp/objects/start.o"

# search ROW: with the mutant.
search() {
    if [ "${1%% *}" = locks ]; then
        # shellcheck disable=SC2086
        FT_SEEDS=${FT_SEEDS:-12} FT_WRONG=1 FT_LIMIT=30 sh "$top/ft/outcome/locks.sh" ${1#locks }
    elif [ "${1%% *}" = cuts ]; then
        # shellcheck disable=SC2086
        FT_SEEDS=${FT_SEEDS:-4} FT_WRONG=1 FT_LIMIT=20 sh "$top/ft/outcome/cuts.sh" ${1#cuts }
    elif [ "$1" = relay ]; then
        FT_SEEDS=${FT_SEEDS:-4} FT_WRONG=1 sh "$top/ft/outcome/relay.sh"
    elif [ "$1" = conditions ]; then
        FT_LIMIT=15 sh "$top/ft/outcome/conditions.sh"
    elif [ -n "$1" ]; then
        FT_RUNS=all FT_PAIRS=0 sh "$top/ft/outcome/points.sh" "$1"
    else
        FT_SEEDS=${FT_SEEDS:-12} sh "$top/ft/outcome/torture.sh" first
    fi
}

compile() {
    ${CC:-cc} -std=gnu17 -O2 -fPIC -fexceptions -ftls-model=initial-exec -w -D_GNU_SOURCE -U_FORTIFY_SOURCE -Dsyscall=ft_syscall -DFT_LOCK_TESTED -I"$tmp/include" -I"$top" -I"$build" \
        -c -o "$2" "$1"
}

# mutant TEXT FILE FROM TO [ROW]: FROM is in FILE once.
mutant() {
    case $1 in *"$only"*) ;; *) return ;; esac
    object=$(echo "$tmp"/objects/lib*_la-"$(basename "$2" .c)".o)
    [ "$(basename "$2")" != start.c ] || object=$tmp/objects/start.o
    if ! from=$3 to=$4 perl -0pe '$n = s/\Q$ENV{from}\E/$ENV{to}/g; END { exit($n != 1) }' "$top/$2" >"$tmp/mutant.c"; then
        echo "FAIL: $1: its text is not in $2 once" && bad=1 && return
    fi
    [ -z "$texts_only" ] || return
    rm -rf "$tmp/kept" "$tmp/include" && cp -r "$tmp/objects" "$tmp/kept"
    linked=0
    case $2 in
    *.h)
        mkdir -p "$tmp/include/$(dirname "$2")" && mv "$tmp/mutant.c" "$tmp/include/$2"
        for name in $locks; do
            compile "$top/ft/outcome/$name.c" "$tmp/objects/liblocks_test_la-$name.o" || linked=1
        done
        ;;
    *) compile "$tmp/mutant.c" "$object" || linked=1 ;;
    esac
    [ $linked = 1 ] || ${CC:-cc} -shared -o "$tmp/.libs/liboutcome_test.so" "$tmp"/objects/*.o "$build/.libs/libft.a" -ldl -lpthread || linked=1
    rm -r "$tmp/objects" && mv "$tmp/kept" "$tmp/objects"
    [ $linked = 0 ] || { echo "FAIL: $1: cannot be built" && bad=1 && return; }
    if (export top_srcdir="$top" top_builddir="$tmp" && search "${5-}") >"$tmp/said" 2>&1; then
        echo "FAIL: not found: $1" && bad=1
    else
        echo "found: $1: $(grep -m 1 FAIL "$tmp/said" | cut -c 1-150)"
    fi
}

mutant "what a rename was of is not looked at" ft/outcome/wrap_names.c \
    'else if (was_renamed(&c, dir, from, todir, to, flags))' 'else if (0)'
mutant "what a removal was of is not looked at" ft/outcome/wrap_names.c \
    'else if (c.record->note[0] && name_id(dir, name) != c.record->note[0])' 'else if (0)'
mutant "what was there before a mkdir is not looked at" ft/outcome/wrap_names.c \
    'else if (!c.record->note[0] && is_made(dir, name, kind))' 'else if (0)'
mutant "an open is made again whatever there is" ft/outcome/wrap_open.c \
    'fd = c.under_way ? ft_descriptors_stray(is_opened, &(struct opening){dir, name, flags}) : -1;' 'fd = -1;'
mutant "descriptors that are left are not swept" ft/outcome/record.c 'ft_descriptors_sweep();' ''
mutant "a copy is made before what is left is swept" ft/outcome/record.c \
    'ft_recorder_live(); /* first: the copy' '/* first: the copy'
mutant "an append is written again" ft/outcome/wrap_write.c 'if (end != SENTINEL)' 'if (0)'
mutant "a replayed close takes what is left" ft/outcome/descriptors.c \
    '(struct descriptor){.left = of(fd)->left, .was_open = of(fd)->was_open}' '(struct descriptor){0}'
mutant "a copy has a table of its own" ft/snap/image.c 'CLONE_PARENT | CLONE_FILES' 'CLONE_PARENT'
# Not by these, since their files are too young: "an input that is changed has no copy made" (no ft_recorder_renew in inputs.c). streams.sh finds it.

# At one point of a call only.
mutant "a read does not go back" ft/outcome/wrap_read.c '        if (at >= 0)' '        if (0)' read
mutant "a dup2 that ends a replay is closed" ft/outcome/wrap_descriptor.c \
    'doubled_to(fd, to, result); /* first: where' '(void)0; /* first: where' dup
mutant "a read is noted before where it was" ft/outcome/wrap_read.c 'ft_call_note(&c, at, 0);' \
    'if (c.record) { c.record->step = 1; __asm__ volatile("" ::: "memory"); c.record->note[0] = at; }' read
mutant "an attribute that was there is not looked at" ft/outcome/wrap_attributes.c 'EEXIST, again && !c.record->note[0])' 'EEXIST, again)' xattr
mutant "what is in the scratch is sent again" ft/outcome/pipes.c 'if (o->step == SEND) {' 'if (0) {' 'write to a pipe'

# Of threads' numbers.
mutant "a number is used again before its thread has ended" ft/outcome/threads.c \
    'wait_until(is_its_turn, n, (uint64_t)life / FT_OUTCOME_THREADS);' ';' relay
mutant "a thread that is not in the log is made before the replay's end" ft/outcome/wrap_thread.c \
    'if (!o && ft_recorder_replays())' 'if (0)' relay
mutant "an end is not in the log" ft/outcome/wrap_thread.c 'ft_log_put(FT_CALL_THREAD, ENDED, 0, 0)' '1' relay

# Of locks between threads.
mutant "a lock is published before it is recorded" ft/outcome/lock.h \
    'ft_lock_tell(kind, result, before);
    ft_lock_publish();' 'atomic_store(ft_lock_thread.published, ft_thread.locks + 1);
    ft_lock_point(FT_LOCK_RECORDED);
    ft_lock_tell(kind, result, before);
    ft_lock_publish();' "locks mutex semaphores"
mutant "a lock is never published" ft/outcome/lock.h 'atomic_store_explicit(ft_lock_thread.published, ++ft_thread.locks, memory_order_release);' \
    '++ft_thread.locks;' "locks mutex"
mutant "nobody waits for who had the lock before" ft/outcome/lock.c 'ft_threads_await(thread_of(before), count_of(before) - 1);' ';' "locks mutex"
mutant "all is known to lie before" ft/outcome/lock.c 'bool other = before && thread_of(before) != ft_thread.number && !is_known(before);' \
    'bool other = false;' "locks mutex"
mutant "a failure that was not published is given" ft/outcome/lock.c 'o->result = (int64_t)(done - 1 - o->what);' ';' "locks try"
mutant "a post is done before it is published" ft/outcome/wrap_semaphore.c 'struct ft_lock l;

    if (ft_locks()) {' 'struct ft_lock l;

    ft_real()->sem_post(semaphore);
    sched_yield();
    if (ft_locks()) {' "locks semaphores"
mutant "a semaphore that was waited for is not taken again" ft/outcome/wrap_semaphore.c 'take_again(semaphore));
    } else { /*' '0);
    } else { /*' "locks semaphores"
mutant "a wait for a condition at the end of the log waits" ft/outcome/wrap_condition.c '    ft_real()->pthread_mutex_unlock(mutex);
    return come_back(mutex, 0);' '    if (ft_lock_at_end()) {
        ft_threads_all_given();
        return wait_live(condition, mutex, w);
    }
    ft_real()->pthread_mutex_unlock(mutex);
    return come_back(mutex, 0);' "locks queue"
mutant "arrivals at a barrier are in no order" ft/outcome/wrap_condition.c 'last = ++of(barrier)->arrived % of(barrier)->count == 0;
        ft_lock_again(&l, at, 0);' 'last = false;
        ft_lock_again(&l, at, 0);' "locks barriers"
mutant "whoever comes first makes a static variable" ft/outcome/wrap_winner.c 'if (o && (uint64_t)o->note[1] == place)' 'if (1)' "locks cpp"
mutant "whoever comes first is given work" ft/outcome/wrap_openmp.c '(void)FT_LOCK_TAKES(FT_LOCK_OPENMP, ft_lock_at_mutex(&order), take_order(), take_order(), end_order());' \
    'take_order();' "locks loops"
mutant "streams are in no order" ft/outcome/wrap_locked.c '(void)FT_LOCK_TAKES(FT_LOCK_STREAM, ft_lock_at(f), take(f), take(f), ft_real()->funlockfile(f));' 'take(f);' "locks print"

# Of conditions, and mutexes that the kernel knows.
mutant "a waiter is not counted" ft/outcome/condition.c 'next += ONE_WAITS;' ';' conditions
mutant "a signal counts all waiters as woken" ft/outcome/condition.c '((now >> 32) - 1) << 32 | next_number(now)' 'next_number(now)' conditions
mutant "a signal leaves the number" ft/outcome/condition.c 'uint32_t number = (uint32_t)state + 1;' 'uint32_t number = (uint32_t)state;' conditions
mutant "each condition begins with the same number" ft/outcome/condition.c 'return number;
}

static uint32_t next_number' 'return 1;
}

static uint32_t next_number' conditions
mutant "the time is of the other clock" ft/outcome/condition.c 'w.operation |= FUTEX_CLOCK_REALTIME;' ';' conditions
mutant "a mutex that is not had is waited with" ft/outcome/condition.c '    if (error)
        return error;' '' conditions
mutant "a wait cannot be cancelled" ft/outcome/condition.c 'pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);' \
    'pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);' conditions
mutant "who is cancelled does not lock" ft/outcome/condition.c 'ft_real()->pthread_mutex_lock(w->mutex);' ';' conditions
mutant "who is cancelled stays busy" ft/outcome/wrap_condition.c '    FT_BUSY_HERE();
    return wait_busy(condition, mutex, w);' '    int result;

    ft_busy();
    result = wait_busy(condition, mutex, w);
    ft_idle();
    return result;' conditions
mutant "a condition that processes share is ours" ft/outcome/condition.c 'if (!ft_condition_ours() || shared != PTHREAD_PROCESS_PRIVATE)' \
    'if (!ft_condition_ours())' conditions
mutant "a child has the C library's" ft/outcome/wrap_exec.c 'void ft_in_child(void)
{' 'extern int ft_condition_whose;
void ft_in_child(void)
{
    ft_condition_whose = 2;' conditions
mutant "a mutex of a rank inherits" ft/outcome/wrap_inherit.c 'if (!inherits(attributes) || !ft_condition_ours())' 'if (1)' "locks torture"
mutant "a thread that is led out of a wait stays there" ft/outcome/wrap_condition.c '        if (ft_waits_led())
            return come_back(mutex, 0);' '        if (ft_waits_led()) {
            ft_real()->pthread_mutex_lock(mutex);
            return wait_live(condition, mutex, w);
        }' conditions
mutant "a thread that was put back leaves no robust mutex" ft/outcome/robust.c 'if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)' \
    'if (1)' conditions
mutant "robust mutexes are left before the destructors" ft/outcome/robust.c 'if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)' 'if (0)' conditions
mutant "who waits for a robust mutex is not woken" ft/outcome/robust.c '    if (now & FUTEX_WAITERS)
        wake_one(word);' '' conditions

# Of copies of a rank with threads (cuts.sh). Not by these: a robust list that is not registered (robust.c gives them up), errno (what runs in a
# thread that stands does not fail), a wait that is entered although threads are to stand (a signal would have to be late: ft/model/cuts.sh,
# DEKKER_SWAPPED), a tail that goes back behind a copy (log_test.c), what is swept too early, or a thread that is
# stopped on its way back (one run in thirty; ft/model/threads.sh, SWEEP_EARLY).
mutant "threads in a recorded call are stopped there" ft/outcome/stand.c '        if (!ft_thread.busy)
            stand(context);' '        stand(context);' "cuts CUT_ALL"
mutant "a thread that waits goes on where it was" ft/outcome/put_back.c 'atomic_exchange(&t->waits, FT_WAITS_NOT) != FT_WAITS_NOT;' \
    '(atomic_store(&t->waits, FT_WAITS_NOT), false);' "cuts CUT_ALL"
mutant "a thread that waits is put back on its last signal's frame" ft/outcome/put_back.c 'ft_signals_put_back(&ft_thread.task->mask, NULL);' \
    'ft_signals_put_back(&ft_thread.task->mask, ft_thread.task->frame);' "cuts CUT_ALL"
mutant "a lock that was waited for in another life counts" ft/outcome/lock.h 'if (__builtin_expect(life_ == ft_threads_life, 1))' 'if (1)' "locks mutex"
mutant "what was begun before the copy counts again" ft/outcome/threads.c 'return (int32_t)(o->begun - (uint32_t)first) <= 0;' 'return false;' "cuts CUT_ALL"
mutant "a thread's number is set anew" ft/outcome/put_back.c '                CLONE_CHILD_CLEARTID;' '                CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;' "cuts CUT_ALL"
mutant "restartable sequences are not registered" ft/outcome/put_back.c 'if (ft_task_layout.rseq_bytes)
        syscall(SYS_rseq, (uintptr_t)t->handle' 'if (0)
        syscall(SYS_rseq, (uintptr_t)t->handle' "cuts CUT_ALL"
mutant "a thread's mask is its maker's" ft/outcome/wrap_mask.c 'memcpy(&masked, frame ? &frame->uc_sigmask : mask, NSIG / 8);' ';' "cuts CUT_ALL"
mutant "a thread has no name, policy or processors" ft/outcome/put_back.c '    set_policy(t, maker);' '' "cuts CUT_ALL"
mutant "a thread has its maker's processors" ft/outcome/put_back.c 'if (!CPU_EQUAL(&t->processors, &maker->processors))' 'if (0)' "cuts CUT_ALL"
mutant "a thread has its maker's policy" ft/outcome/put_back.c 'if (t->policy.size && memcmp' 'if (0 && memcmp' "cuts CUT_ALL"
mutant "how a thread that waited rounds is lost" ft/outcome/put_back.c '__asm__ volatile("ldmxcsr %0\n fldcw %1" : : "m"(t->mxcsr), "m"(t->x87));' '' "cuts CUT_ALL"
exit $bad
