// SPDX-License-Identifier: BSD-3-Clause
// A rank of streams.sh: prints what it is told of the time, of chance and of its process when it begins, goes on for a while, and prints
// all of it once more at the end. It may be killed as often as one likes: both are the same, and time has not gone back.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static double last;

static double seconds()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

static void forward(double now)
{
    if (now < last) {
        std::printf("FAILED: time has gone back\n");
        std::exit(1);
    }
    last = now;
}

static std::string numbers()
{
    std::ostringstream s;
    std::random_device device;
    unsigned char bytes[16];
    timeval day;
    timespec utc;
    tms used;
    rusage usage;

    s << device() << ' ' << device();
    if (getrandom(bytes, sizeof bytes, 0) == 16)
        s << ' ' << int(bytes[0]) << ' ' << int(bytes[15]);
    if (getentropy(bytes, sizeof bytes) == 0)
        s << ' ' << int(bytes[3]);
    gettimeofday(&day, nullptr);
    timespec_get(&utc, TIME_UTC);
    s << ' ' << time(nullptr) << ' ' << day.tv_usec << ' ' << utc.tv_nsec << ' ' << clock() << ' ' << times(&used) << ' ' << used.tms_utime;
    s << ' ' << std::chrono::system_clock::now().time_since_epoch().count();
    getrusage(RUSAGE_SELF, &usage);
    s << ' ' << usage.ru_maxrss << ' ' << usage.ru_minflt << ' ' << sched_getcpu();
    return s.str();
}

static std::string process()
{
    std::ostringstream s;
    utsname name;
    char host[256];
    double load[3];

    uname(&name);
    gethostname(host, sizeof host);
    s << getpid() << ' ' << gettid() << ' ' << isatty(0) << isatty(1) << ' ' << name.release << ' ' << host << ' '
      << std::thread::hardware_concurrency() << ' ' << sysconf(_SC_AVPHYS_PAGES) << ' ' << getloadavg(load, 3) << ' ' << load[0];
    return s.str();
}

static std::string of_a_file(const char *name)
{
    std::ifstream in(name);
    std::string line;

    std::getline(in, line);
    return line;
}

static std::string urandom()
{
    std::ifstream in("/dev/urandom", std::ios::binary);
    char c[4] = "";

    in.read(c, 4);
    return std::to_string(int(c[0])) + std::to_string(int(c[3]));
}

int main(int argc, char **argv)
{
    std::vector<std::string> told;
    int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const pid_t pid = getpid();

    for (int round = 0; round < rounds; round++) {
        told.push_back(numbers() + " | " + process() + " | " + of_a_file("/proc/loadavg") + " | " + urandom());
        std::cout << round << ": " << told.back() << std::endl;
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        forward(seconds());
        if (getpid() != pid || kill(pid, 0) != 0)
            return 2;
    }
    for (int round = 0; round < rounds; round++)
        std::cout << round << ": " << told[size_t(round)] << '\n';
    return 0;
}
