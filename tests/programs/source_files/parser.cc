/* C++ functions in a source file: the program prints the calls of each, as the functions counted themselves. */
#include <cstdio>

#define ROOM __attribute__((noinline, noclone))

static int parsed, skipped, freed;

struct Parser {
    ROOM void parse(int number)
    {
        parsed++;
        asm volatile("" : : "r"(number));
    }
    ROOM static void skip()
    {
        skipped++;
        asm volatile("");
    }
};

ROOM void release(int number)
{
    freed++;
    asm volatile("" : : "r"(number));
}

__attribute__((patchable_function_entry(0, 0))) int main()
{
    Parser parser;
    for (int number = 0; number < 5; number++) {
        parser.parse(number);
        if (number % 2)
            Parser::skip();
        release(number);
        release(number);
    }
    std::printf("_ZN6Parser5parseEi %d\n_ZN6Parser4skipEv %d\n_Z7releasei %d\n", parsed, skipped, freed);
    return 0;
}
