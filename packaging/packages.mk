# Packages of what `make dist` builds: archives and Debian packages. docs/packages.md describes the packages.

PACKAGES := $(TARGET)/packages
# The directory that becomes an archive of the same name: $(call archive,MACHINE).
archive = $(PACKAGES)/gmon-$(VERSION)-linux-$(1)
# Whether this machine can build the objects for AArch64.
HAS_AARCH64 = command -v $(CROSS)ld >/dev/null && [ -d "$$($${RUSTC:-rustc} --print sysroot)/lib/rustlib/$(AARCH64)" ]

.PHONY: tarball tarball-aarch64 check-packages deb check-deb

# Packages share the directories of cargo and the linker, so `make -j` builds them one after the other. Each build is
# parallel.
ifneq ($(filter tarball tarball-aarch64 deb check-packages check-deb,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

# Each package is staged in an empty directory, so that objects of earlier builds do not come along.
tarball:
	@rm -rf "$(call archive,$(HOST))"
	$(MAKE) dist DIST="$(call archive,$(HOST))"
	@if [ $(HOST) = aarch64 ]; then :; elif $(HAS_AARCH64); then $(MAKE) runtime-aarch64 DIST="$(call archive,$(HOST))"; \
		else echo "tarball: the archive lacks the objects for AArch64, which need $(CROSS)ld and Rust's library for $(AARCH64)"; fi
	@sh packaging/archive.sh "$(call archive,$(HOST))"

# The archive for AArch64, built on x86-64 with the cross compiler. The objects for x86-64 are the cross objects in this
# archive.
tarball-aarch64:
	@[ $(HOST) = x86_64 ] || { echo "tarball-aarch64: this machine is no x86-64: make tarball makes the archive for this machine" >&2; exit 1; }
	@rm -rf "$(call archive,aarch64)"
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$(CROSS)gcc $(MAKE) gprof runtime-aarch64 headers tools documents \
		DIST="$(call archive,aarch64)" HOST=aarch64 AARCH64_LIBRARY="$(call archive,aarch64)/lib/gmon" GPROF_TARGET=$(AARCH64)
	$(MAKE) runtime-Linux LIBRARY="$(call archive,aarch64)/lib/gmon/x86_64"
	@sh packaging/archive.sh "$(call archive,aarch64)"

check-packages:
	@sh tests/packages/archives.sh "$(PACKAGES)"

# Debian's tools build in the source tree. CARGO_TARGET_DIR makes the build reuse earlier builds. debhelper changes
# HOME, by which cargo and rustup find their directories. -d: Rust may be installed without Debian's packages.
deb:
	@INSTALL=$(or $(INSTALL),yes) sh tests/check/packages.sh deb
	@mkdir -p "$(PACKAGES)"
	CARGO_TARGET_DIR="$(TARGET)" CARGO_HOME="$${CARGO_HOME:-$$HOME/.cargo}" RUSTUP_HOME="$${RUSTUP_HOME:-$$HOME/.rustup}" \
		DEB_DESTDIR="$(PACKAGES)" dpkg-buildpackage --build=binary --no-sign -d --post-clean \
		--buildinfo-file="$(PACKAGES)/gmon.buildinfo" --changes-file="$(PACKAGES)/gmon.changes" --buildinfo-option="-u$(PACKAGES)" --changes-option="-u$(PACKAGES)"

check-deb: deb
	@INSTALL=$(or $(INSTALL),yes) sh tests/packages/debian.sh "$(PACKAGES)"
