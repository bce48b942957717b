// SPDX-License-Identifier: BSD-3-Clause
// Rows of outcome_locks with C++: what one thread does for all, and its streams.
#include <future>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "ft/outcome/test/locks.h"

namespace {

enum { ROUNDS = 900, WORK = 20000, FLAGS = 64 };

struct chain a = {'A', 0, 0, {}};
std::mutex mutex, output;
std::shared_timed_mutex shared;
std::once_flag flags[FLAGS];
int winner[FLAGS + 3];

int wins(unsigned me, int k)
{
    winner[FLAGS + k] = static_cast<int>(me);
    locks_say("a static variable is made by", me);
    return static_cast<int>(me);
}

int first(unsigned me) { static int who = wins(me, 0); return who; }
int second(unsigned me) { static int who = wins(me, 1); return who; }
int third(unsigned me) { static int who = wins(me, 2); return who; }

long work(unsigned me)
{
    unsigned seed = me + 5;
    long sum = 0;

    for (int i = 0; i < ROUNDS; i++) {
        locks_work(&seed, WORK);
        {
            std::lock_guard<std::mutex> guard(mutex);
            locks_step(&a, me);
        }
        sum += i % 3 == 0 ? first(me) : i % 3 == 1 ? second(me) : i > ROUNDS / 2 ? third(me) : 0;
        if (i % 20 == 0)
            std::call_once(flags[i / 20 % FLAGS], [&] {
                winner[i / 20 % FLAGS] = static_cast<int>(me);
                locks_say("once by", me);
            });
        if (i % 50 == 0) {
            std::lock_guard<std::mutex> guard(output);
            std::cout << "cout " << me << " " << i << std::endl;
        }
        if (i % 10 == 0) {
            std::shared_lock<std::shared_timed_mutex> guard(shared);
            sum += a.name;
        }
    }
    return sum;
}

void run_cpp()
{
    unsigned hash = 0;

    for (int round = 0; round < 3; round++) {
        auto x = std::async(std::launch::async, work, 0), y = std::async(std::launch::async, work, 1);
        std::thread z([] { work(2); });
        long sum = x.get() + y.get();

        z.join();
        locks_say("sum", sum);
    }
    for (int w : winner)
        hash = hash * 7 + static_cast<unsigned>(w);
    locks_say("winners", hash);
    locks_say("end", a.steps);
}

}

extern const struct locks_row locks_of_cpp[] = {{"cpp", run_cpp}, {nullptr, nullptr}};
