// Templates, virtual calls, lambdas, operators and namespaces: names that are long when written out.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes {

template <typename T> T twice(T value) { return value + value; }

struct Shape {
    virtual ~Shape() {}
    virtual double area(double scale) const = 0;
    Shape &operator+=(const Shape &other) { sum += other.sum; return *this; }
    double sum = 1;
};

struct Square : Shape {
    explicit Square(double side) : side(side) {}
    double area(double scale) const override { return side * side * scale; }
    double side;
};

struct Circle : Shape {
    double area(double scale) const override { return radius * radius * 3.14159 * scale; }
    double radius = 2;
};

namespace {
int hidden(const std::string &text, std::vector<int> &out, int (*call)(int))
{
    out.push_back(call(static_cast<int>(text.size())));
    return out.back();
}
} // namespace

template <typename Key, typename Value, int N> struct Table {
    std::map<Key, Value> map;
    Value &operator[](const Key &key) { return map[key]; }
    template <typename F> void each(F f) const
    {
        for (const auto &entry : map)
            f(entry.first, entry.second);
    }
    operator bool() const { return !map.empty(); }
};

} // namespace shapes

static int plus_one(int n) { return n + 1; }

int main()
{
    std::vector<std::unique_ptr<shapes::Shape>> all;
    double total = 0;
    shapes::Table<std::string, long, 7> table;
    std::vector<int> numbers;
    for (int i = 0; i < 2000; i++) {
        if (i % 2)
            all.emplace_back(new shapes::Square(i));
        else
            all.emplace_back(new shapes::Circle);
        table[std::to_string(i % 10)] += shapes::twice(i) + shapes::twice<long>(i);
        shapes::hidden("some text", numbers, plus_one);
    }
    for (const auto &shape : all)
        total += shape->area(2);
    *all[0] += *all[1];
    table.each([&](const std::string &key, long value) { total += value + key.size(); });
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
    std::function<int(int, const char *)> f = [](int n, const char *s) { return n + *s; };
    if (table)
        std::printf("%g %d\n", total, f(numbers[0], "x"));
    return 0;
}
