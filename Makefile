# Users need only these commands and `cargo ...`.
#
#   make demo      build everything, profile SQLite, print where its time goes; then a program that other gprofs get
#                  wrong
#   make test      run the quick tier of the tests: an answer within two minutes after a change of one crate
#   make check     run all tests. As root on Debian, prints the names of missing packages and installs them. INSTALL=no
#                  installs nothing: tests that lack something then print SKIPPED
#   make dist      stage target/dist/{bin,lib,include,share}
#   make runtime-aarch64   add the AArch64 objects in lib/gmon/aarch64, with a cross compiler
#   make runtime-freebsd-amd64 runtime-freebsd-aarch64   add the objects for FreeBSD in lib/gmon/freebsd-..., with
#                                                        LLVM's tools
#   make runtime-openbsd-amd64 runtime-openbsd-aarch64   add the objects for OpenBSD in lib/gmon/openbsd-..., with the
#                                                        same tools
#   make check-bsd   run the tests of the objects for the BSDs; installs missing packages as `make check` does
#   make install   install target/dist in PREFIX (default /usr/local), or in BINDIR, LIBDIR, INCLUDEDIR, MANDIR,
#                  DATADIR, DOCDIR, and PKGCONFIGDIR; DESTDIR goes before all of them
#   make uninstall remove what `make install` with the same directories installed
#   make licenses  make LICENSES.thirdparty from the sources of the crates, with cargo-bundle-licenses
#   make vendor    pack the sources of all crates, for builds without a network: docs/building.md
#   make tarball   pack an archive that works wherever it is unpacked; tarball-aarch64: the same for AArch64, with a
#                  cross compiler
#   make fuzz      run the fuzz targets for SECONDS (default 600) in total; SECONDS=0 runs only the known inputs
#   make mutants   change the code in small ways for SECONDS, and print the changes that no test notices
#   make suites    run the test suites of other projects under gmon-run
#   make deb       build Debian packages
#   make check-packages check-deb   test the archives, and the Debian packages (as root on Debian)
#   make bench     run the benchmarks, in turns with the alternatives
#   make bench-compare  measure comparisons of several runs: simulated ones, and real runs
#   make clean     remove everything that was built

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/gmon
PKGCONFIGDIR ?= $(if $(filter FreeBSD,$(SYSTEM)),$(PREFIX)/libdata,$(LIBDIR))/pkgconfig
CARGO ?= cargo
OBJCOPY ?= objcopy
AR ?= ar
# The absolute path of cargo's directory. $(abspath) would split a path that has blanks.
TARGET := $(if $(filter /%,$(firstword $(CARGO_TARGET_DIR))),,$(CURDIR)/)$(or $(CARGO_TARGET_DIR),target)
DIST := $(TARGET)/dist
LIBRARY := $(DIST)/lib/gmon
MANUALS := $(DIST)/share/man
DOCUMENTS := $(DIST)/share/doc/gmon
HOST := $(shell uname -m)
SYSTEM := $(shell uname -s)
# Where pkg-config looks.
PKGCONFIG := $(DIST)/$(if $(filter FreeBSD,$(SYSTEM)),libdata,lib)/pkgconfig
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

.PHONY: all demo demo-sqlite test check check-bsd dist install uninstall vendor licenses fuzz mutants suites bench bench-compare clean runtime runtime-aarch64 gprof gmon-run tools documents
.PHONY: headers runtime-Linux runtime-FreeBSD runtime-OpenBSD runtime-freebsd-amd64 runtime-freebsd-aarch64 runtime-openbsd-amd64 runtime-openbsd-aarch64

all: dist

# gprof, the runtime, and SQLite are compiled side by side.
demo:
	@$(MAKE) --no-print-directory -j 2 dist demo-sqlite
	@sh tests/demo/run.sh "$(DIST)"

demo-sqlite:
	@MAKEFLAGS= sh tests/demo/sqlite.sh "$(TARGET)/demo" >/dev/null

test:
	@sh tests/quick.sh

# `make check check-bsd` is one run, whose steps share the processors.
check:
	@INSTALL=$(or $(INSTALL),yes) sh tests/check.sh linux $(if $(filter check-bsd,$(MAKECMDGOALS)),bsd)

check-bsd:
	@$(if $(filter check,$(MAKECMDGOALS)),:,INSTALL=$(or $(INSTALL),yes) sh tests/check.sh bsd)

dist: runtime gprof gmon-run tools documents

# All documents are staged in one directory, so links to docs/ in the documents of other directories lose docs/. The
# copies of read-only sources are read-only, so cp needs -f the next time.
documents:
	@rm -rf "$(DOCUMENTS)"
	@mkdir -p "$(DOCUMENTS)/pictures" "$(DOCUMENTS)/examples/rust/src" "$(DOCUMENTS)/examples/words"
	@cp -f CHANGELOG.md LICENSE LICENSES.thirdparty docs/*.md "$(DOCUMENTS)/"
	@MAKEFLAGS= sh packaging/library-license.sh "$(DOCUMENTS)"
	@for document in README.md SECURITY.md CONTRIBUTING.md; do sed 's,](docs/,](,g' $$document >"$(DOCUMENTS)/$$document" || exit; done
	@cp -f runtime/LICENSE "$(DOCUMENTS)/LICENSE.runtime"
	@cp -f docs/pictures/*.png "$(DOCUMENTS)/pictures/"
	@cp -f docs/examples/rust/Cargo.toml "$(DOCUMENTS)/examples/rust/"
	@cp -f docs/examples/rust/src/*.rs "$(DOCUMENTS)/examples/rust/src/"
	@cp -f docs/examples/words/words.c "$(DOCUMENTS)/examples/words/"

# The program does not contain paths of this machine. GPROF_TARGET names Rust's target if the program is for another
# machine. GPROF_NAME is the name of the program, its manual page, and its completions, for systems that keep their own
# gprof. GPROF_PROGRAM is a gprof that has been built: `make check` stages the one that the tests run.
GPROF_NAME ?= gprof
GPROF_PROGRAM ?=
# The program that prints the manual page and the completions. A program for another machine does not run here.
GENERATOR = $(if $(GPROF_TARGET),$(TARGET)/generator/$(GPROF_NAME),$(DIST)/bin/$(GPROF_NAME))
gprof:
ifeq ($(GPROF_PROGRAM),)
	options=$$(MAKEFLAGS= sh packaging/remap.sh "$(TARGET)") && MAKEFLAGS= CARGO_ENCODED_RUSTFLAGS="$$options" $(CARGO) build --release \
		--package gprof $(addprefix --target ,$(GPROF_TARGET))
endif
	@mkdir -p "$(DIST)/bin" "$(MANUALS)/man1" $(foreach place,$(COMPLETIONS),"$(DIST)/share/$(place)")
	@cp -f "$(or $(GPROF_PROGRAM),$(TARGET)/$(GPROF_TARGET)/release/gprof)" "$(DIST)/bin/$(GPROF_NAME)"
ifneq ($(GPROF_TARGET),)
	MAKEFLAGS= $(CARGO) build --quiet --package gprof
	@mkdir -p "$(TARGET)/generator" && cp -f "$(TARGET)/debug/gprof" "$(GENERATOR)"
endif
	@"$(GENERATOR)" --generate=man >"$(MANUALS)/man1/$(GPROF_NAME).1"
	@"$(GENERATOR)" --generate=bash >"$(DIST)/share/bash-completion/completions/$(GPROF_NAME)"
	@"$(GENERATOR)" --generate=zsh >"$(DIST)/share/zsh/site-functions/_$(GPROF_NAME)"
	@"$(GENERATOR)" --generate=fish >"$(DIST)/share/fish/vendor_completions.d/$(GPROF_NAME).fish"

# The program that profiles any program, on Linux, and its completions. GMON_RUN_PROGRAM is a gmon-run that has been
# built.
GMON_RUN_PROGRAM ?=
RUN_GENERATOR = $(if $(GPROF_TARGET),$(TARGET)/debug/gmon-run,$(DIST)/bin/gmon-run)
gmon-run:
ifeq ($(SYSTEM),Linux)
ifeq ($(GMON_RUN_PROGRAM),)
	options=$$(MAKEFLAGS= sh packaging/remap.sh "$(TARGET)") && MAKEFLAGS= CARGO_ENCODED_RUSTFLAGS="$$options" $(CARGO) build --release \
		--package gmon-run $(addprefix --target ,$(GPROF_TARGET))
endif
	@mkdir -p "$(DIST)/bin" $(foreach place,$(COMPLETIONS),"$(DIST)/share/$(place)")
	@cp -f "$(or $(GMON_RUN_PROGRAM),$(TARGET)/$(GPROF_TARGET)/release/gmon-run)" "$(DIST)/bin/gmon-run"
ifneq ($(GPROF_TARGET),)
	MAKEFLAGS= $(CARGO) build --quiet --package gmon-run
endif
	@"$(RUN_GENERATOR)" --generate=bash >"$(DIST)/share/bash-completion/completions/gmon-run"
	@"$(RUN_GENERATOR)" --generate=zsh >"$(DIST)/share/zsh/site-functions/_gmon-run"
	@"$(RUN_GENERATOR)" --generate=fish >"$(DIST)/share/fish/vendor_completions.d/gmon-run.fish"
endif

# Where shells look for completions, below share/.
COMPLETIONS = bash-completion/completions zsh/site-functions fish/vendor_completions.d

# Each start-up object is the runtime as one relocatable object in which only the public names are global. gcrt1.o has
# the entry point. On Linux, the code of gcrt1.o is in the section gmon_text, which linkers do not merge with the
# program's code. grcrt1.o lacks the empty _dl_relocate_static_pie, which a static PIE must get from the C library.
# static-pie/ holds grcrt1.o under the name that clang looks for. gmon.o lacks the entry point, for compilers that look
# for neither name. libgmon.a has the runtime, and the functions of programs that profile themselves.
GLOBALS = --strip-debug --keep-global-symbols=runtime/exports.txt
# The symbols of a program's own crt1.o.
ENTRY = _start _dl_relocate_static_pie _IO_stdin_used __data_start data_start
# Our replacements of C library functions are weak, so a program may define its own.
GLOBALS += --weaken-symbol=_exit --weaken-symbol=_Exit --weaken-symbol=daemon --weaken-symbol=dlclose
GLOBALS += --weaken-symbol=prctl --weaken-symbol=syscall --weaken-symbol=mlockall
GLOBALS += --weaken-symbol=sigaltstack --weaken-symbol=munmap
GLOBALS += $(foreach name,chroot unshare setns setrlimit setrlimit64 prlimit prlimit64 umask,--weaken-symbol=$(name))
GLOBALS += $(foreach name,sigaction signal bsd_signal ssignal sysv_signal __sysv_signal sigset sigprocmask pthread_sigmask,--weaken-symbol=$(name))
# The member with other systems' profil. `profil` is weak, because a program may define its own, and so is the pointer
# to the runtime's kernel, which this member uses if the runtime is linked.
PROFIL = --strip-debug --keep-global-symbols=runtime/exports-profil.txt
PROFIL += --weaken-symbol=profil --weaken-symbol=gmon_kernel_profil
# Inlining for speed is not worth its size: only mcount, which is assembly, runs often. Most of Rust's library is marked
# #[inline], and the compiler would inline it at more than five times this limit. At a lower limit, the walk of stacks
# would make a call for each cached rule.
SMALL = -C llvm-args=--inline-threshold=6 -C llvm-args=--inlinehint-threshold=60
# Cargo would complain that make does not share its jobs with commands that are no make.
RUSTC_RUNTIME = MAKEFLAGS= $(CARGO) rustc --package gmon-runtime --profile runtime --crate-type staticlib
# The code of all crates must have the properties of the objects.
RUSTC_OBJECT = MAKEFLAGS= RUSTFLAGS="$(RUSTFLAGS) $(SMALL) -C jump-tables=no" $(CARGO) rustc --profile runtime --crate-type staticlib
RUSTC_PROFIL = $(RUSTC_OBJECT) --package gmon-profil --features object

# gmon-run loads the runtime as a shared object into any program. The object needs no library and no version of a
# symbol, and all symbols that it needs are weak, so each C library accepts the object. The object's own calls do not go
# to functions of other objects with the same names; only the address of sigaction is that which the program sees.
# Every process loads the object, so the object has few segments and pages: the code and what is only read are one
# segment, and there is one table of the names, which every dynamic linker since 2006 reads. The object's constructor
# runs before those of all other objects.
SHARED = -shared -soname libgmon-run.so -z initfirst -z now -z relro -z nodelete -z noexecstack -z noseparate-code \
	--hash-style=gnu --build-id --eh-frame-hdr \
	-Bsymbolic --dynamic-list=runtime/visible-run.txt

# The objects have no jump tables, so a test can follow every branch below mcount and in signal handlers.
# $(call objects,OPTIONS,BUILT,LIBRARY,LD,OBJCOPY,AR,AS,MACHINE): builds with these cargo options, takes the archive
# from the directory BUILT, and stages the objects in LIBRARY, with what `gmon-cc --on-demand` adds to shared objects
# and programs.
define objects
	@mkdir -p "$(2)" "$(3)/static-pie"
	$(RUSTC_OBJECT) --package gmon-runtime $(1) --features start
	@$(4) -r -T runtime/merge.ld -u _start -u mcount -o "$(2)/start.o" "$(2)/libgmon_runtime.a"
	@$(5) $(GLOBALS) --rename-section .text=gmon_text "$(2)/start.o" "$(3)/gcrt1.o"
	@$(5) --localize-symbol=_dl_relocate_static_pie "$(3)/gcrt1.o" "$(3)/grcrt1.o"
	@cp "$(3)/grcrt1.o" "$(3)/static-pie/"
	@cp "$(3)/grcrt1.o" "$(3)/static-pie/gcrt1.o"
	@$(5) $(foreach name,$(ENTRY),--localize-symbol=$(name)) "$(3)/gcrt1.o" "$(3)/gmon.o"
	$(RUSTC_OBJECT) --package gmon-runtime $(1) --features runtime
	@$(4) -r -T runtime/merge.ld -u mcount -o "$(2)/all.o" "$(2)/libgmon_runtime.a"
	@$(5) $(GLOBALS) "$(2)/all.o" "$(2)/gmon.o"
	$(RUSTC_PROFIL) $(1)
	@$(4) -r -T runtime/merge.ld -u gmon_profil_bsd -o "$(2)/calls.o" "$(2)/libgmon_profil.a"
	@$(5) $(PROFIL) "$(2)/calls.o" "$(2)/profil.o"
	@rm -f "$(3)/libgmon.a"
	@$(6) rcs "$(3)/libgmon.a" "$(2)/gmon.o" "$(2)/profil.o"
	$(RUSTC_OBJECT) --package gmon-runtime $(1) --features preload
	@$(4) -r -T runtime/merge.ld -u mcount -o "$(2)/run.o" "$(2)/libgmon_runtime.a"
	@$(5) --strip-debug --keep-global-symbols=runtime/exports-run.txt --weaken "$(2)/run.o" "$(2)/weak.o"
	@$(4) $(SHARED) -o "$(3)/libgmon-run.so" "$(2)/weak.o"
	@$(7) -o "$(3)/gmon-shared.o" runtime/src/entry/linux/$(8)/loaded.s
	@cp -f runtime/on-demand.txt "$(3)/"
endef

runtime: runtime-$(SYSTEM) headers

headers:
	@mkdir -p "$(DIST)/include"
	@cp -f runtime/include/*.h "$(DIST)/include/"

runtime-Linux:
	$(call objects,,$(TARGET)/runtime,$(LIBRARY),$(LD),$(OBJCOPY),$(AR),$(AS),$(HOST))

# On FreeBSD itself, with FreeBSD's packages of Rust and LLVM.
runtime-FreeBSD:
	@mkdir -p "$(LIBRARY)"
	$(RUSTC_RUNTIME) --features start -- $(FREEBSD_RUST)
	$(call freebsd_object,$(TARGET)/runtime/libgmon_runtime.a,$(LIBRARY)/gcrt1.o,$(FREEBSD_EMULATION),_start mcount,$(FREEBSD_GLOBALS))
	$(RUSTC_RUNTIME) --features runtime -- $(FREEBSD_RUST)
	$(RUSTC_PROFIL) -- -A dead_code -A unused_imports
	$(call freebsd_library,$(TARGET)/runtime,$(LIBRARY),$(FREEBSD_EMULATION))

# On OpenBSD itself, with OpenBSD's packages of Rust and LLVM. That Rust's library lacks the instructions of
# OPENBSD_...; the linker includes none of the library's functions that are called by their addresses.
runtime-OpenBSD: OPENBSD_TARGET = $(if $(filter arm64,$(HOST)),aarch64,x86_64)-unknown-openbsd
runtime-OpenBSD: OPENBSD_CARGO = RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(OPENBSD_$(OPENBSD_TARGET)) -C unsafe-allow-abi-mismatch=branch-protection" $(RUSTC_RUNTIME)
runtime-OpenBSD: OPENBSD_EMULATION = $(if $(filter arm64,$(HOST)),aarch64elf,elf_x86_64)
runtime-OpenBSD:
	@mkdir -p "$(LIBRARY)"
	$(OPENBSD_CARGO) --features start -- $(FREEBSD_RUST)
	$(call openbsd_object,$(TARGET)/runtime,$(LIBRARY)/gcrt0.o,$(OPENBSD_EMULATION),$(OPENBSD_EXPORTS))
	$(OPENBSD_CARGO) --features runtime -- $(FREEBSD_RUST)
	$(call openbsd_library,$(TARGET)/runtime,$(LIBRARY),$(OPENBSD_EMULATION))

# The objects for AArch64, with Rust's target and the cross binutils, beside those for this machine.
CROSS ?= aarch64-linux-gnu-
AARCH64 := aarch64-unknown-linux-gnu
AARCH64_LIBRARY := $(LIBRARY)/aarch64
runtime-aarch64:
	$(call objects,--target $(AARCH64),$(TARGET)/$(AARCH64)/runtime,$(AARCH64_LIBRARY),$(CROSS)ld,$(CROSS)objcopy,$(CROSS)ar,$(CROSS)as,aarch64)

# The objects for FreeBSD, on another system, with Debian's Rust (rustc-web, cargo-web, rust-web-src), which has the
# sources of `core`, and LLVM's tools. The last step sets FreeBSD's ABI in the ELF header; the linker copies the ABI
# into programs.
BSD_RUST ?= RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
BSD_CARGO ?= /usr/bin/cargo
BSD := $(TARGET)/bsd
# $(call encoded,PATH,OPTIONS): the options for Rust's library in PATH, which may have blanks, in the form of
# CARGO_ENCODED_RUSTFLAGS.
SEPARATOR := $(shell printf '\037')
encoded = --sysroot$(SEPARATOR)$(1)$(subst $() ,,$(addprefix $(SEPARATOR),$(2)))
LLD ?= ld.lld
LLVM_OBJCOPY ?= llvm-objcopy
LLVM_AR ?= llvm-ar
FREEBSD_EMULATION = $(if $(filter arm64,$(HOST)),aarch64elf,elf_x86_64_fbsd)
FREEBSD_GLOBALS = --strip-debug --keep-global-symbols=runtime/exports-freebsd.txt
# Our replacements of libc's functions are weak, so a program may define its own.
FREEBSD_REPLACEMENTS = _exit _Exit daemon dlclose fork pdfork rfork execve _execve fexecve execv execvp execvpe execvP execl execle execlp
FREEBSD_GLOBALS += $(foreach name,$(FREEBSD_REPLACEMENTS),--weaken-symbol=$(name))

# Items that only other systems need are dead code.
FREEBSD_RUST = $(SMALL) -C jump-tables=no -A dead_code -A unused_imports

# The member with other systems' profil: see PROFIL above. `profil` itself is FreeBSD's system call.
FREEBSD_PROFIL = --strip-debug --keep-global-symbols=runtime/exports-profil-freebsd.txt
FREEBSD_PROFIL += --weaken-symbol=gmon_kernel_profil --weaken-symbol=gmon_handler_entries

# $(call freebsd_object,ARCHIVE,OBJECT,EMULATION,SYMBOLS,OPTIONS): makes the object of an archive, with options of
# LLVM_OBJCOPY.
define freebsd_object
	@$(LLD) -r -m $(3) -T runtime/merge.ld $(addprefix -u ,$(4)) -o "$(1).o" "$(1)"
	@$(LLVM_OBJCOPY) $(5) "$(1).o" "$(2)"
	@printf '\011' | dd of="$(2)" bs=1 seek=7 conv=notrunc 2>/dev/null
endef

# $(call freebsd_library,BUILT,LIBRARY,EMULATION): makes the library without start-up code of the archives in the
# directory BUILT.
define freebsd_library
	$(call freebsd_object,$(1)/libgmon_runtime.a,$(1)/gmon.o,$(3),mcount,$(FREEBSD_GLOBALS))
	$(call freebsd_object,$(1)/libgmon_profil.a,$(1)/profil.o,$(3),gmon_profil_bsd,$(FREEBSD_PROFIL))
	@rm -f "$(2)/libgmon.a"
	@$(LLVM_AR) rcs "$(2)/libgmon.a" "$(1)/gmon.o" "$(1)/profil.o"
endef

# $(call freebsd_cargo,RUST_TARGET,PACKAGE,FLAGS): builds the archive of a package.
define freebsd_cargo
	$(BSD_RUST) CARGO_ENCODED_RUSTFLAGS="$(call encoded,$(BSD)/$(1))" CARGO_TARGET_DIR="$(BSD)/build-$(1)" $(BSD_CARGO) rustc --offline \
		--package $(2) --profile runtime --crate-type staticlib --target $(1) $(3) -- $(FREEBSD_RUST)
endef

# $(call freebsd,MACHINE,RUST_TARGET,EMULATION): MACHINE is FreeBSD's name for it.
define freebsd
	@sh tests/bsd/sysroot.sh $(2) "$(BSD)/$(2)"
	@mkdir -p "$(LIBRARY)/freebsd-$(1)"
	$(call freebsd_cargo,$(2),gmon-runtime,--features start)
	$(call freebsd_object,$(BSD)/build-$(2)/$(2)/runtime/libgmon_runtime.a,$(LIBRARY)/freebsd-$(1)/gcrt1.o,$(3),_start mcount,$(FREEBSD_GLOBALS))
	$(call freebsd_cargo,$(2),gmon-runtime,--features runtime)
	$(call freebsd_cargo,$(2),gmon-profil,--features object)
	$(call freebsd_library,$(BSD)/build-$(2)/$(2)/runtime,$(LIBRARY)/freebsd-$(1),$(3))
	$(call pkgconfig,$(LIBRARY)/freebsd-$(1))
endef

# $(call pkgconfig,LIBRARY): makes the pkg-config file beside the objects of another system in the directory LIBRARY.
define pkgconfig
	@mkdir -p "$(1)/pkgconfig"
	@sed -e 's/@VERSION@/$(VERSION)/' -e '/^prefix=/s,$$,/../..,' -e '/^libdir=/s,=.*,=$$\{pcfiledir}/..,' runtime/gmon.pc.in \
		>"$(1)/pkgconfig/gmon.pc"
endef

runtime-freebsd-amd64: headers
	$(call freebsd,amd64,x86_64-unknown-freebsd,elf_x86_64)

runtime-freebsd-aarch64: headers
	$(call freebsd,aarch64,aarch64-unknown-freebsd,aarch64elf)

# The objects for OpenBSD, with the same tools. The linker drops what no public name needs. All functions that are
# called by their addresses begin with endbr64 or bti, which OpenBSD requires of processors that know these
# instructions. An older lld merges the build attributes of arm64 into a section at which later linkers warn, so the
# section is removed. The last step sets OpenBSD's ABI in the ELF header: without an object of this ABI, lld makes no
# table of system calls in the program.
OPENBSD_EXPORTS = $(shell cat runtime/exports-openbsd.txt)
OPENBSD_x86_64-unknown-openbsd = -Z cf-protection=branch
OPENBSD_aarch64-unknown-openbsd = -Z branch-protection=bti

# $(call openbsd_build,RUST_TARGET,FEATURE): builds the archive of the runtime with that feature.
define openbsd_build
	$(BSD_RUST) CARGO_ENCODED_RUSTFLAGS="$(call encoded,$(BSD)/$(1),$(OPENBSD_$(1)))" CARGO_TARGET_DIR="$(BSD)/build-$(1)" $(BSD_CARGO) rustc --offline \
		--package gmon-runtime --profile runtime --crate-type staticlib --target $(1) --features $(2) -- $(FREEBSD_RUST)
endef

# $(call openbsd_object,BUILT,OBJECT,EMULATION,SYMBOLS): makes the object of the archive in the directory BUILT.
define openbsd_object
	@$(LLD) -r -m $(3) --gc-sections -T runtime/merge.ld $(addprefix -u ,$(4)) -o "$(1)/all.o" "$(1)/libgmon_runtime.a"
	@$(LLVM_OBJCOPY) --strip-debug --remove-section=.ARM.attributes --keep-global-symbols=runtime/exports-openbsd.txt "$(1)/all.o" "$(2)"
	@printf '\014' | dd of="$(2)" bs=1 seek=7 conv=notrunc 2>/dev/null
endef

# $(call openbsd_library,BUILT,LIBRARY,EMULATION): makes the library without start-up code of the archive in the
# directory BUILT.
define openbsd_library
	$(call openbsd_object,$(1),$(1)/gmon.o,$(3),$(filter-out _start __start,$(OPENBSD_EXPORTS)))
	@rm -f "$(2)/libgmon.a"
	@$(LLVM_AR) rcs "$(2)/libgmon.a" "$(1)/gmon.o"
endef

# $(call openbsd,MACHINE,RUST_TARGET,EMULATION): MACHINE is the name of the directory.
define openbsd
	@sh tests/bsd/sysroot.sh $(2) "$(BSD)/$(2)" core "$(OPENBSD_$(2))"
	@mkdir -p "$(LIBRARY)/openbsd-$(1)"
	$(call openbsd_build,$(2),start)
	$(call openbsd_object,$(BSD)/build-$(2)/$(2)/runtime,$(LIBRARY)/openbsd-$(1)/gcrt0.o,$(3),$(OPENBSD_EXPORTS))
	$(call openbsd_build,$(2),runtime)
	$(call openbsd_library,$(BSD)/build-$(2)/$(2)/runtime,$(LIBRARY)/openbsd-$(1),$(3))
	$(call pkgconfig,$(LIBRARY)/openbsd-$(1))
endef

runtime-openbsd-amd64: headers
	$(call openbsd,amd64,x86_64-unknown-openbsd,elf_x86_64)

runtime-openbsd-aarch64: headers
	$(call openbsd,aarch64,aarch64-unknown-openbsd,aarch64elf)

# Tools that go with the objects: the compiler wrapper, the pkg-config file, manual pages.
tools:
	@mkdir -p "$(DIST)/bin" "$(PKGCONFIG)" "$(MANUALS)/man1" "$(MANUALS)/man3" "$(MANUALS)/man5"
	@sed -e 's/@VERSION@/$(VERSION)/' -e 's/@HOST@/$(HOST)/' -e 's/@SYSTEM@/$(SYSTEM)/' runtime/gmon-cc.sh >"$(DIST)/bin/gmon-cc"
	@chmod 755 "$(DIST)/bin/gmon-cc"
	@for name in gmon-c++ gmon-fortran; do \
		ln -sf gmon-cc "$(DIST)/bin/$$name" && echo ".so man1/gmon-cc.1" >"$(MANUALS)/man1/$$name.1"; done
	@sed 's/@VERSION@/$(VERSION)/' runtime/gmon.pc.in >"$(PKGCONFIG)/gmon.pc"
	@cp -f docs/man/*.1 "$(MANUALS)/man1/"
	@cp -f docs/man/*.3 "$(MANUALS)/man3/"
	@cp -f docs/man/*.5 "$(MANUALS)/man5/"
	@for name in monstartup _mcleanup gmon_dump write_profiling; do \
		echo ".so man3/moncontrol.3" >"$(MANUALS)/man3/$$name.3"; done
	@for name in gmon_profil_bsd gmon_profil_openbsd gmon_profil_illumos gmon_pcsample gmon_profil_aix; do \
		echo ".so man3/profil.3" >"$(MANUALS)/man3/$$name.3"; done

vendor: VENDORED = $(TARGET)/gmon-$(VERSION)-vendor
vendor:
	@sh packaging/vendor.sh "$(VENDORED)"
	@sh packaging/archive.sh "$(VENDORED)"

licenses:
	@mkdir -p "$(TARGET)"
	@sh packaging/licenses.sh >"$(TARGET)/LICENSES.thirdparty"
	@cp "$(TARGET)/LICENSES.thirdparty" LICENSES.thirdparty

DIRECTORIES = $(foreach name,DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR PKGCONFIGDIR,$(name)="$($(name))")

install: dist
	@$(DIRECTORIES) sh packaging/install.sh "$(DIST)"

uninstall:
	@$(DIRECTORIES) sh packaging/uninstall.sh

SECONDS ?= 600

fuzz:
	@sh tests/fuzz.sh run $(SECONDS)

mutants:
	@sh tests/mutants.sh $(SECONDS)

suites: dist
	@sh tests/suites.sh $(SUITES)

bench: dist
	@sh tests/bench.sh "$(DIST)"

bench-compare: dist
	@sh tests/bench-compare.sh "$(DIST)"

include packaging/packages.mk

clean:
	$(CARGO) clean
