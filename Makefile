# Every command that a person types is one of these or `cargo ...`.
#
#   make demo      build everything, profile SQLite, print where its time goes
#   make check     all tests; what the machine lacks is installed where it may be, or said loudly
#   make dist      stage target/dist/{bin,lib/gmon,include,share}
#   make install   copy that to PREFIX (default /usr/local; DESTDIR is honoured)
#   make bench     measure, paired against the alternatives
#   make clean

PREFIX ?= /usr/local
CARGO ?= cargo
OBJCOPY ?= objcopy
AR ?= ar
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
DIST := $(TARGET)/dist
OBJECTS := $(TARGET)/runtime-objects
LIBRARY := $(DIST)/lib/gmon

.PHONY: all demo check dist install bench clean runtime gprof

all: dist

demo: dist
	@sh tests/demo/run.sh "$(DIST)"

check:
	@sh tests/check.sh

dist: runtime gprof
	@mkdir -p "$(DIST)/share/doc/gmon" "$(DIST)/share/man/man3"
	@cp docs/*.3 "$(DIST)/share/man/man3/"
	@cp README.md CHANGELOG.md LICENSE docs/*.md "$(DIST)/share/doc/gmon/"
	@cp runtime/LICENSE "$(DIST)/share/doc/gmon/LICENSE.runtime"

gprof:
	$(CARGO) build --release --package gprof
	@mkdir -p "$(DIST)/bin"
	@cp "$(TARGET)/release/gprof" "$(DIST)/bin/"
	$(CARGO) run --quiet --package gprof --example manuals -- "$(DIST)"

# The start-up objects are the runtime as one relocatable object in which only the public names are global, once with
# _start and once more without the empty _dl_relocate_static_pie that a static PIE must get from the C library.
# libgmon.a is the runtime alone, and beside it what programs call that profile themselves.
LINK = $(LD) -r -T runtime/merge.ld
GLOBALS = --strip-debug --keep-global-symbols=runtime/exports.txt
# What replaces a function of the C library gives way to the program's own.
GLOBALS += --weaken-symbol=_exit --weaken-symbol=_Exit --weaken-symbol=daemon
# The part with other systems' profil: it is called plainly only where nobody else has that name, and finds the runtime's
# where that is linked.
PROFIL = --strip-debug --keep-global-symbols=runtime/exports-profil.txt
PROFIL += --weaken-symbol=profil --weaken-symbol=gmon_kernel_profil
RUSTC_RUNTIME = $(CARGO) rustc --package gmon-runtime --profile runtime --crate-type staticlib
BUILT = "$(TARGET)/runtime/libgmon_runtime.a"

runtime:
	@mkdir -p "$(OBJECTS)" "$(LIBRARY)" "$(DIST)/include"
	$(RUSTC_RUNTIME)
	@$(LINK) -u _start -u mcount -o "$(OBJECTS)/start.o" $(BUILT)
	@$(OBJCOPY) $(GLOBALS) "$(OBJECTS)/start.o" "$(LIBRARY)/gcrt1.o"
	@$(OBJCOPY) --localize-symbol=_dl_relocate_static_pie "$(LIBRARY)/gcrt1.o" "$(LIBRARY)/grcrt1.o"
	$(RUSTC_RUNTIME) --no-default-features
	@$(LINK) -u mcount -o "$(OBJECTS)/all.o" $(BUILT)
	@$(OBJCOPY) $(GLOBALS) "$(OBJECTS)/all.o" "$(OBJECTS)/gmon.o"
	# Without jump tables, so that what runs in its signal handler can be read off the code.
	$(RUSTC_RUNTIME) --no-default-features --features profil -- -C jump-tables=no
	@$(LINK) -u gmon_profil_bsd -o "$(OBJECTS)/calls.o" $(BUILT)
	@$(OBJCOPY) $(PROFIL) "$(OBJECTS)/calls.o" "$(OBJECTS)/profil.o"
	@rm -f "$(LIBRARY)/libgmon.a"
	@$(AR) rcs "$(LIBRARY)/libgmon.a" "$(OBJECTS)/gmon.o" "$(OBJECTS)/profil.o"
	@cp runtime/include/*.h "$(DIST)/include/"

install: dist
	mkdir -p "$(DESTDIR)$(PREFIX)"
	cp -R "$(DIST)/." "$(DESTDIR)$(PREFIX)/"

bench: dist
	@sh tests/bench.sh "$(DIST)"

clean:
	$(CARGO) clean
