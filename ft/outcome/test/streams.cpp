// SPDX-License-Identifier: BSD-3-Clause
// A rank of streams.sh: C++ streams. What it prints, and the files that it leaves in the directory given, are the same in each run.
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

int main(int argc, char **argv)
{
    const std::string dir = argc > 1 ? argv[1] : ".";
    const bool synchronised = argc > 2;
    std::string line, big(100000, '.');

    std::ios::sync_with_stdio(synchronised);
    for (int round = 0; round < 15; round++) {
        std::ofstream(dir + "/append", std::ios::app) << "round " << round << '\n';
        std::fstream both(dir + "/both", round ? std::ios::in | std::ios::out : std::ios::in | std::ios::out | std::ios::trunc);
        both.seekp(0, std::ios::end);
        both << std::setw(40) << round << '\n';
        both.seekg(round * 7);
        both >> line;
        std::cout << "round " << round << " has " << line << " at " << both.tellg() << '\n';
        std::ofstream(dir + "/big").write(big.data(), std::streamsize(big.size()));
        std::ifstream in(dir + "/big", std::ios::binary);
        in.seekg(-10, std::ios::end);
        std::cout << in.tellg() << std::endl;
        if (std::getline(std::cin, line))
            std::cout << "input: " << line << '\n';
        std::cerr << "to standard error " << round << std::endl;
    }
    return 0;
}
