/* Gives Lua about half a second of work: recursion, tables, strings, sorts with a function in Lua, coroutines, and
 * errors. */
#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static const char script[] =
    "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end\n"
    "local sum = fib(28)\n"
    "local words, seed = {}, 1\n"
    "for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648; words[i] = string.format('%x-%d', seed, i) end\n"
    "table.sort(words, function(a, b) return a < b end)\n"
    "local all = table.concat(words, ' ')\n"
    "local counts = {}\n"
    "for digit in string.gmatch(all, '%x') do counts[digit] = (counts[digit] or 0) + 1 end\n"
    "local generator = coroutine.wrap(function() for i = 1, 100000 do coroutine.yield(string.upper(words[i])) end end)\n"
    "for i = 1, 100000 do sum = sum + #generator() end\n"
    "for i = 1, 100000 do if not pcall(function() if i % 2 == 0 then error({}) end end) then sum = sum + 1 end end\n"
    "local trees = {}\n"
    "local function tree(n) if n == 0 then return {} end return {tree(n - 1), tree(n - 1)} end\n"
    "for i = 1, 24 do trees[i] = tree(11) end\n"
    "return sum\n";

int main(void) {
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    if (luaL_dostring(state, script) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
        return 1;
    }
    printf("%lld\n", (long long)lua_tointeger(state, -1));
    lua_close(state);
    return 0;
}
