// A C++ program with exceptions: matches lines with regular expressions, evaluates the formulas in them by recursive descent, and catches
// the errors of wrong formulas, most of them several levels above. Takes about half a second.
#include <cstdio>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>

namespace {

class Reader {
public:
    explicit Reader(const std::string &text) : text(text) {}

    long sum() {
        long value = product();
        while (next() == '+' || next() == '-')
            value = text[place++] == '+' ? value + product() : value - product();
        return value;
    }

private:
    char next() const { return place < text.size() ? text[place] : '\0'; }

    long product() {
        long value = factor();
        while (next() == '*' || next() == '/') {
            bool is_product = text[place++] == '*';
            long other = factor();
            if (!is_product && other == 0)
                throw std::domain_error("division by zero");
            value = is_product ? value * other % 1000003 : value / other;
        }
        return value;
    }

    long factor() {
        std::unique_ptr<std::string> note(new std::string(1, next())); // to be deleted if an exception passes
        if (next() == '(') {
            place++;
            long value = sum();
            if (next() != ')')
                throw std::invalid_argument("a parenthesis is missing after " + *note);
            place++;
            return value;
        }
        if (next() < '0' || next() > '9')
            throw std::invalid_argument("no number at " + *note);
        long value = 0;
        while (next() >= '0' && next() <= '9')
            value = value * 10 + (text[place++] - '0');
        return value;
    }

    std::string text;
    std::size_t place = 0;
};

std::string formula(unsigned &seed, int depth) {
    seed = seed * 1103515245u + 12345u;
    unsigned choice = seed >> 16;
    if (depth == 0)
        return choice % 29 == 0 ? "x" : std::to_string(choice % 100);
    static const char operators[] = "+-*/";
    std::string left = formula(seed, depth - 1), right = formula(seed, depth - 1);
    return "(" + left + operators[choice % 4] + right + (choice % 31 == 0 ? "" : ")");
}

} // namespace

int main() {
    const std::regex line("([a-z]+)([0-9]*) *= *([-+*/()0-9x]+)");
    std::map<std::string, long> values;
    unsigned seed = 1;
    long errors = 0;
    for (int i = 0; i < 150000; i++) {
        std::smatch found;
        std::string text = "name" + std::to_string(i % 500) + " = " + formula(seed, i % 4);
        if (!std::regex_match(text, found, line))
            return 1;
        try {
            values[found[2]] += Reader(found[3]).sum();
        } catch (const std::logic_error &) {
            errors++;
        }
    }
    std::printf("%zu values, %ld errors\n", values.size(), errors);
    return 0;
}
