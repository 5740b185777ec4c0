# Every command that a person types is one of these or `cargo ...`.
#
#   make demo      build everything, profile SQLite, print where its time goes
#   make check     run all tests. Installs, as root on Debian, what the machine lacks, and says what. INSTALL=no installs nothing:
#                  tests that miss something then say SKIPPED
#   make dist      stage target/dist/{bin,lib,include,share}
#   make runtime-aarch64   add what is for another machine, with a cross compiler, in lib/gmon/aarch64
#   make runtime-freebsd-amd64 runtime-freebsd-aarch64   add what is for FreeBSD, with LLVM's tools, in lib/gmon/freebsd-...
#   make check-bsd   run the tests of what is for the BSDs. Installs what the machine lacks, as `make check` does
#   make install   copy that to PREFIX (default /usr/local; DESTDIR is honoured)
#   make bench     measure, paired against the alternatives
#   make clean

PREFIX ?= /usr/local
CARGO ?= cargo
OBJCOPY ?= objcopy
AR ?= ar
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
DIST := $(TARGET)/dist
LIBRARY := $(DIST)/lib/gmon
MANUALS := $(DIST)/share/man
HOST := $(shell uname -m)
SYSTEM := $(shell uname -s)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

.PHONY: all demo check check-bsd dist install bench clean runtime runtime-aarch64 gprof tools
.PHONY: runtime-Linux runtime-FreeBSD runtime-freebsd-amd64 runtime-freebsd-aarch64

all: dist

demo: dist
	@sh tests/demo/run.sh "$(DIST)"

check:
	@INSTALL=$(or $(INSTALL),yes) sh tests/check.sh

check-bsd:
	@INSTALL=$(or $(INSTALL),yes) sh tests/check-bsd.sh

dist: runtime gprof tools
	@mkdir -p "$(DIST)/share/doc/gmon"
	@cp README.md CHANGELOG.md LICENSE docs/*.md "$(DIST)/share/doc/gmon/"
	@cp runtime/LICENSE "$(DIST)/share/doc/gmon/LICENSE.runtime"

gprof:
	$(CARGO) build --release --package gprof
	@mkdir -p "$(DIST)/bin"
	@cp "$(TARGET)/release/gprof" "$(DIST)/bin/"
	$(CARGO) run --quiet --package gprof --example manuals -- "$(DIST)"

# The start-up objects are the runtime as one relocatable object in which only the public names are global: gcrt1.o has
# the entry point; grcrt1.o is without the empty _dl_relocate_static_pie that a static PIE must get from the C library;
# static-pie/ has that under the name by which clang looks for it; gmon.o is without the entry point, for compilers that
# look for neither. libgmon.a is the runtime alone, and beside it what programs call that profile themselves.
GLOBALS = --strip-debug --keep-global-symbols=runtime/exports.txt
# What a program's own crt1.o has.
ENTRY = _start _dl_relocate_static_pie _IO_stdin_used __data_start data_start
# What replaces a function of the C library gives way to the program's own.
GLOBALS += --weaken-symbol=_exit --weaken-symbol=_Exit --weaken-symbol=daemon --weaken-symbol=dlclose
GLOBALS += --weaken-symbol=prctl --weaken-symbol=syscall --weaken-symbol=mlockall
GLOBALS += $(foreach name,sigaction signal bsd_signal ssignal sysv_signal __sysv_signal sigset sigprocmask pthread_sigmask,--weaken-symbol=$(name))
# The part with other systems' profil: it is called plainly only where nobody else has that name, and finds the runtime's
# where that is linked.
PROFIL = --strip-debug --keep-global-symbols=runtime/exports-profil.txt
PROFIL += --weaken-symbol=profil --weaken-symbol=gmon_kernel_profil
# Functions are not inlined for speed: all but mcount, which is assembly, runs rarely.
SMALL = -C llvm-args=--inline-threshold=5
RUSTC_RUNTIME = $(CARGO) rustc --package gmon-runtime --profile runtime --crate-type staticlib
# Two crates: what holds of the code of one must hold of the other.
RUSTC_PROFIL = RUSTFLAGS="$(RUSTFLAGS) $(SMALL) -C jump-tables=no" $(CARGO) rustc --package gmon-profil --profile runtime --crate-type staticlib

# All are made without jump tables, so that what runs below mcount and in signal handlers can be read off the code.
# $(call objects,OPTIONS,BUILT,LIBRARY,LD,OBJCOPY,AR): builds with those options of cargo, which leaves its archive in
# the directory BUILT, and stages the objects in LIBRARY.
define objects
	@mkdir -p "$(2)" "$(3)/static-pie"
	$(RUSTC_RUNTIME) $(1) --features start -- $(SMALL) -C jump-tables=no
	@$(4) -r -T runtime/merge.ld -u _start -u mcount -o "$(2)/start.o" "$(2)/libgmon_runtime.a"
	@$(5) $(GLOBALS) "$(2)/start.o" "$(3)/gcrt1.o"
	@$(5) --localize-symbol=_dl_relocate_static_pie "$(3)/gcrt1.o" "$(3)/grcrt1.o"
	@cp "$(3)/grcrt1.o" "$(3)/static-pie/"
	@cp "$(3)/grcrt1.o" "$(3)/static-pie/gcrt1.o"
	@$(5) $(foreach name,$(ENTRY),--localize-symbol=$(name)) "$(3)/gcrt1.o" "$(3)/gmon.o"
	$(RUSTC_RUNTIME) $(1) --features runtime -- $(SMALL) -C jump-tables=no
	@$(4) -r -T runtime/merge.ld -u mcount -o "$(2)/all.o" "$(2)/libgmon_runtime.a"
	@$(5) $(GLOBALS) "$(2)/all.o" "$(2)/gmon.o"
	$(RUSTC_PROFIL) $(1)
	@$(4) -r -T runtime/merge.ld -u gmon_profil_bsd -o "$(2)/calls.o" "$(2)/libgmon_profil.a"
	@$(5) $(PROFIL) "$(2)/calls.o" "$(2)/profil.o"
	@rm -f "$(3)/libgmon.a"
	@$(6) rcs "$(3)/libgmon.a" "$(2)/gmon.o" "$(2)/profil.o"
endef

runtime: runtime-$(SYSTEM)
	@mkdir -p "$(DIST)/include"
	@cp runtime/include/*.h "$(DIST)/include/"

runtime-Linux:
	$(call objects,,$(TARGET)/runtime,$(LIBRARY),$(LD),$(OBJCOPY),$(AR))

# On FreeBSD itself, with its packages of Rust and LLVM.
runtime-FreeBSD:
	@mkdir -p "$(LIBRARY)"
	$(RUSTC_RUNTIME) --features start -- $(FREEBSD_RUST)
	$(call freebsd_object,$(TARGET)/runtime,$(LIBRARY),$(if $(filter arm64,$(HOST)),aarch64elf,elf_x86_64_fbsd))

# For another machine, with Rust's target for it and the cross binutils, next to what is for this one.
runtime-aarch64: CROSS ?= aarch64-linux-gnu-
runtime-aarch64: RUST_TARGET = aarch64-unknown-linux-gnu
runtime-aarch64:
	$(call objects,--target $(RUST_TARGET),$(TARGET)/$(RUST_TARGET)/runtime,$(LIBRARY)/aarch64,$(CROSS)ld,$(CROSS)objcopy,$(CROSS)ar)

# For FreeBSD, on another system: Debian's Rust (rustc-web, cargo-web, rust-web-src), which has the sources of `core`, and LLVM's
# tools. The last step says in the file's header that it is FreeBSD's, which the linker takes over into the program.
BSD_RUST ?= RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
BSD_CARGO ?= /usr/bin/cargo
BSD := $(TARGET)/bsd
LLD ?= ld.lld
LLVM_OBJCOPY ?= llvm-objcopy
FREEBSD_GLOBALS = --strip-debug --keep-global-symbols=runtime/exports-freebsd.txt
FREEBSD_GLOBALS += $(foreach name,_exit _Exit daemon dlclose execve fork,--weaken-symbol=$(name))

# Items that only other systems need are dead code.
FREEBSD_RUST = $(SMALL) -C jump-tables=no -A dead_code -A unused_imports

# $(call freebsd_object,BUILT,LIBRARY,EMULATION): makes the object of the archive in the directory BUILT.
define freebsd_object
	@$(LLD) -r -m $(3) -T runtime/merge.ld -u _start -u mcount -o "$(1)/start.o" "$(1)/libgmon_runtime.a"
	@$(LLVM_OBJCOPY) $(FREEBSD_GLOBALS) "$(1)/start.o" "$(2)/gcrt1.o"
	@printf '\011' | dd of="$(2)/gcrt1.o" bs=1 seek=7 conv=notrunc 2>/dev/null
endef

# $(call freebsd,MACHINE,RUST_TARGET,EMULATION): MACHINE is FreeBSD's name for it.
define freebsd
	@sh tests/bsd/sysroot.sh $(2) "$(BSD)/$(2)"
	@mkdir -p "$(LIBRARY)/freebsd-$(1)"
	$(BSD_RUST) RUSTFLAGS="--sysroot $(BSD)/$(2)" CARGO_TARGET_DIR="$(BSD)/build" $(BSD_CARGO) rustc --offline \
		--package gmon-runtime --profile runtime --crate-type staticlib --target $(2) --features start -- $(FREEBSD_RUST)
	$(call freebsd_object,$(BSD)/build/$(2)/runtime,$(LIBRARY)/freebsd-$(1),$(3))
endef

runtime-freebsd-amd64:
	$(call freebsd,amd64,x86_64-unknown-freebsd,elf_x86_64)

runtime-freebsd-aarch64:
	$(call freebsd,aarch64,aarch64-unknown-freebsd,aarch64elf)

# What goes round the objects: the compiler's wrapper, what pkg-config tells of them, manual pages.
tools:
	@mkdir -p "$(DIST)/bin" "$(DIST)/lib/pkgconfig" "$(MANUALS)/man1" "$(MANUALS)/man3" "$(MANUALS)/man5"
	@sed 's/@HOST@/$(HOST)/' runtime/gmon-cc.sh >"$(DIST)/bin/gmon-cc"
	@chmod 755 "$(DIST)/bin/gmon-cc"
	@sed 's/@VERSION@/$(VERSION)/' runtime/gmon.pc.in >"$(DIST)/lib/pkgconfig/gmon.pc"
	@cp docs/man/*.1 "$(MANUALS)/man1/"
	@cp docs/man/*.3 "$(MANUALS)/man3/"
	@cp docs/man/*.5 "$(MANUALS)/man5/"
	@for name in monstartup _mcleanup gmon_dump write_profiling; do \
		echo ".so man3/moncontrol.3" >"$(MANUALS)/man3/$$name.3"; done
	@for name in gmon_profil_bsd gmon_profil_openbsd gmon_profil_illumos gmon_pcsample gmon_profil_aix; do \
		echo ".so man3/profil.3" >"$(MANUALS)/man3/$$name.3"; done

install: dist
	mkdir -p "$(DESTDIR)$(PREFIX)"
	cp -R "$(DIST)/." "$(DESTDIR)$(PREFIX)/"

bench: dist
	@sh tests/bench.sh "$(DIST)"

clean:
	$(CARGO) clean
