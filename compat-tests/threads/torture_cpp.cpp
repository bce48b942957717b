// SPDX-License-Identifier: BSD-3-Clause
// torture_cpp [-s SCENE] [-n SCENES] SEED: as torture, with the threads of C++: thread, async, conditions, futures, exceptions, objects of a thread
// with constructors and destructors. Scenes come one after the other; each prints a line that is the same however its threads race.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;

enum { LIMIT_S = 100, ROUNDS = 30 };

const char *rank = "0";

// The end of the program, unless it is so.
void must(bool is_so, int line)
{
    char text[80];

    if (is_so)
        return;
    int n = snprintf(text, sizeof text, "%s wrong: torture_cpp.cpp:%d\n", rank, line);
    _exit(write(1, text, static_cast<size_t>(n)) == n ? 3 : 4);
}
#define MUST(is_so) must(is_so, __LINE__)

class Chance {
public:
    explicit Chance(uint64_t seed) : state(seed * 2 + 1) { for (int i = 0; i < 8; i++) draw(); }
    uint64_t draw()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 2685821657736338717u >> 16;
    }
    int below(int n) { return static_cast<int>(draw() % static_cast<uint64_t>(n)); }

private:
    uint64_t state;
};

// One in each thread, made when it is first looked at, destroyed when the thread ends.
std::atomic<int> made{0}, destroyed{0};

class Own {
public:
    Own() : words(40, 3), self(this) { made++; }
    Own(const Own &) = delete;
    Own &operator=(const Own &) = delete;
    ~Own()
    {
        MUST(self == this && std::accumulate(words.begin(), words.end(), 0) == 120 + visits);
        destroyed++;
    }
    void visit()
    {
        MUST(self == this);
        words[static_cast<size_t>(visits++) % words.size()]++;
    }

private:
    std::vector<int> words;
    int visits = 0;
    Own *self;
};

thread_local Own own;

void breathe(Chance &c)
{
    volatile uint64_t x = 1;

    own.visit();
    switch (c.below(8)) {
    case 0: std::this_thread::yield(); break;
    case 1: std::this_thread::sleep_for(std::chrono::microseconds(c.below(800))); break;
    case 2: case 3:
        for (int n = c.below(40000); n; n--)
            x = x * 6364136223846793005u + 1;
        break;
    default: break;
    }
}

// So many threads at once. Each has chances of its own; what they return is added up in order.
template <typename F> uint64_t act(Chance &c, int n, F play)
{
    std::vector<uint64_t> results(static_cast<size_t>(n));
    std::vector<std::thread> threads;
    uint64_t hash = 0;

    for (int i = 0; i < n; i++)
        threads.emplace_back([&results, i, play, seed = c.draw()] {
            Chance mine(seed);
            results[static_cast<size_t>(i)] = play(i, mine);
        });
    for (auto &t : threads)
        t.join();
    for (uint64_t r : results)
        hash = hash * 31 + r;
    return hash;
}

// A value that is guarded: two halves, which are equal whenever somebody has the lock.
struct Pair {
    uint64_t a = 0, b = 0;
    void count(Chance &c)
    {
        MUST(a == b);
        a++;
        breathe(c);
        b++;
    }
};

template <typename M> uint64_t play_mutex(Chance &c)
{
    M mutex;
    Pair pair;

    act(c, 2 + c.below(3), [&](int, Chance &mine) {
        for (int i = 0; i < ROUNDS; i++) {
            std::lock_guard<M> guard(mutex);
            pair.count(mine);
        }
        return 0;
    });
    return pair.a;
}

uint64_t play_timed(Chance &c)
{
    std::recursive_timed_mutex mutex;
    Pair pair;

    act(c, 2 + c.below(3), [&](int, Chance &mine) {
        for (int i = 0; i < ROUNDS; i++) {
            std::unique_lock<std::recursive_timed_mutex> guard(mutex, std::defer_lock);
            while (!guard.try_lock_for(std::chrono::milliseconds(1 + mine.below(3))))
                ;
            std::lock_guard<std::recursive_timed_mutex> once_more(mutex);
            pair.count(mine);
        }
        return 0;
    });
    return pair.b;
}

uint64_t play_shared(Chance &c)
{
    std::shared_timed_mutex mutex;
    Pair pair;

    return act(c, 2 + c.below(3), [&](int, Chance &mine) {
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 3 == 0) {
                std::unique_lock<std::shared_timed_mutex> guard(mutex);
                pair.count(mine);
            } else {
                std::shared_lock<std::shared_timed_mutex> guard(mutex);
                MUST(pair.a == pair.b);
                breathe(mine);
                MUST(pair.a == pair.b);
            }
        }
        return ROUNDS;
    });
}

// Tasks for a pool, results by futures.
uint64_t play_pool(Chance &c)
{
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::packaged_task<uint64_t(Chance &)>> tasks;
    std::vector<std::future<uint64_t>> futures;
    std::vector<std::thread> pool;
    uint64_t hash = 0;
    bool ends = false;

    for (int i = 0, n = 2 + c.below(3); i < n; i++)
        pool.emplace_back([&, seed = c.draw()] {
            Chance mine(seed);
            for (;;) {
                std::unique_lock<std::mutex> guard(mutex);
                while (tasks.empty() && !ends)
                    if (mine.below(2))
                        filled.wait(guard);
                    else
                        filled.wait_for(guard, std::chrono::microseconds(1 + mine.below(2000)));
                if (tasks.empty())
                    return;
                auto task = std::move(tasks.front());
                tasks.pop_front();
                guard.unlock();
                task(mine);
            }
        });
    for (uint64_t i = 0; i < 2 * ROUNDS; i++) {
        std::packaged_task<uint64_t(Chance &)> task([i](Chance &mine) {
            breathe(mine);
            if (i % 7 == 0)
                throw std::runtime_error("task " + std::to_string(i));
            return i * i;
        });
        futures.push_back(task.get_future());
        std::lock_guard<std::mutex> guard(mutex);
        tasks.push_back(std::move(task));
        filled.notify_one();
    }
    for (auto &f : futures) {
        if (c.below(3) == 0)
            while (f.wait_for(1ms) != std::future_status::ready)
                ;
        try {
            hash = hash * 31 + f.get();
        } catch (const std::runtime_error &e) {
            hash = hash * 31 + strlen(e.what());
        }
    }
    {
        std::lock_guard<std::mutex> guard(mutex);
        ends = true;
    }
    filled.notify_all();
    for (auto &t : pool)
        t.join();
    return hash;
}

uint64_t sum_of(uint64_t from, uint64_t to, int depth, uint64_t seed)
{
    Chance mine(seed);

    breathe(mine);
    if (depth == 0)
        return (to - from) * (from + to - 1) / 2;
    auto left = std::async(std::launch::async, sum_of, from, (from + to) / 2, depth - 1, mine.draw());
    return sum_of((from + to) / 2, to, depth - 1, mine.draw()) + left.get();
}

uint64_t play_async(Chance &c)
{
    uint64_t n = 1000 + static_cast<uint64_t>(c.below(1000)), sum = 0;

    for (int i = 0; i < 4; i++) {
        sum = sum_of(0, n, 3, c.draw());
        MUST(sum == n * (n - 1) / 2);
    }
    return sum;
}

// Objects of threads that come and go, an exception from one thread to another, a promise that is broken.
uint64_t play_lives(Chance &c)
{
    uint64_t hash = 0;
    int had = destroyed, n = 0;

    for (int i = 0; i < ROUNDS; i++) {
        std::exception_ptr thrown;
        std::promise<int> promise;
        auto future = promise.get_future();
        std::thread t([&thrown, i, promise = std::move(promise), seed = c.draw()]() mutable {
            Chance mine(seed);
            auto broken = std::move(promise);
            try {
                breathe(mine);
                if (i % 3 == 0)
                    broken.set_value(i);
                throw std::out_of_range(std::string(static_cast<size_t>(i), 'x'));
            } catch (...) {
                thrown = std::current_exception();
            }
        });
        t.join();
        n++;
        try {
            hash = hash * 31 + static_cast<uint64_t>(future.get());
        } catch (const std::future_error &) {
            hash++;
        }
        try {
            std::rethrow_exception(thrown);
        } catch (const std::out_of_range &e) {
            hash = hash * 31 + strlen(e.what());
        }
    }
    MUST(destroyed - had == n);
    return hash;
}

// Who comes first makes it, all others wait: a static variable, call_once.
template <int I> const std::map<int, std::string> &table(Chance &c)
{
    static const std::map<int, std::string> made_once = [&c] {
        std::map<int, std::string> m;
        breathe(c);
        for (int i = 0; i < 50; i++)
            m[i] = std::to_string(i * (I + 1));
        return m;
    }();
    return made_once;
}

uint64_t play_statics(Chance &c)
{
    std::array<std::once_flag, ROUNDS> flags;
    std::atomic<int> times{0};

    return act(c, 2 + c.below(4), [&](int, Chance &mine) {
        for (auto &f : flags) {
            std::call_once(f, [&] {
                breathe(mine);
                times++;
            });
            breathe(mine);
        }
        MUST(times == ROUNDS);
        return table<0>(mine).size() + table<1>(mine).at(7).size() + table<2>(mine).at(49).size();
    });
}

// Memory, strings and streams of the library.
uint64_t play_strings(Chance &c)
{
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<std::string>> shared;

    act(c, 2 + c.below(3), [&](int me, Chance &mine) {
        for (int i = 0; i < ROUNDS; i++) {
            std::ostringstream text;
            text << me << ' ' << i << ' ' << std::string(static_cast<size_t>(mine.below(3000)), 'a');
            auto key = std::to_string(me * ROUNDS + i);
            auto value = std::make_shared<std::string>(text.str().substr(0, 4));
            breathe(mine);
            std::lock_guard<std::mutex> guard(mutex);
            shared[key] = value;
        }
        return 0;
    });
    uint64_t hash = 0;
    for (auto &entry : shared)
        for (char ch : entry.first + *entry.second)
            hash = hash * 131 + static_cast<unsigned char>(ch);
    return hash;
}

struct Scene {
    const char *name;
    uint64_t (*play)(Chance &c);
} const scenes[] = {{"mutex", play_mutex<std::mutex>}, {"recursive", play_mutex<std::recursive_mutex>}, {"timed", play_timed}, {"shared", play_shared},
                    {"pool", play_pool}, {"async", play_async}, {"lives", play_lives}, {"statics", play_statics}, {"strings", play_strings}};
constexpr int SCENES = sizeof scenes / sizeof *scenes;

}

int main(int argc, char **argv)
{
    const char *only = nullptr;
    int option, acts = 50;

    while ((option = getopt(argc, argv, "ls:n:")) != -1) {
        switch (option) {
        case 'l':
            for (const auto &s : scenes)
                puts(s.name);
            return 0;
        case 's': only = optarg; break;
        case 'n': acts = atoi(optarg); break;
        default: return 2;
        }
    }
    if (optind + 1 != argc)
        return 2;
    alarm(LIMIT_S);
    if (getenv("FTMPI_RANK"))
        rank = getenv("FTMPI_RANK");
    Chance c(strtoull(argv[optind], nullptr, 10) * 16 + strtoull(rank, nullptr, 10));
    own.visit();
    for (int i = 0; i < acts; i++) {
        const Scene *s = &scenes[c.below(SCENES)];
        for (const auto &wanted : scenes)
            if (only && strcmp(wanted.name, only) == 0)
                s = &wanted;
        uint64_t hash = s->play(c);
        printf("%s %d %s %016llx\n", rank, i, s->name, static_cast<unsigned long long>(hash));
        fflush(stdout);
    }
    MUST(made == destroyed + 1);
    printf("%s end\n", rank);
    return 0;
}
