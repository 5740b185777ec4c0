// The part in C++. It needs the library of C++.
#include <stdexcept>
#include <vector>

extern "C" int in_cxx(int number)
{
    std::vector<int> numbers(number, 1);
    try {
        return numbers.at(number);
    } catch (const std::out_of_range &) {
        return static_cast<int>(numbers.size());
    }
}
