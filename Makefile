# r4: the build. "make help" lists the targets; missing packages are installed on the way.
#
#   make            library and commands, in build/       make SAN=1 ...   with sanitizers, in build-san/
#   make demo       build, train and show                 make WERROR=1    warnings are errors
#   make check      all tests                             make CC=clang    another compiler
#   make check-long sanitizers, fuzzing, mutations        make MARCH=x86-64-v3   for other machines
#   make fuzz       fuzz each reader FUZZ_SECONDS long    make V=1         show the commands
#   make races      ThreadSanitizer on what has threads   make demo-isic  the demo on photographs; needs ISIC
#   make bench      measure steps against the peers       make bench-epoch whole epochs, needs MNIST
#   make format     clang-format all sources              make python-check the Python package: build, types, tests
#   make wheel      for pip install, in dist/             make portable    what packages have, for many CPUs
#   make install    into DESTDIR/PREFIX                   make uninstall   make clean
#   make man        doc/r4.1, from what r4 help says      make SERVE=no    without r4 serve and libmicrohttpd
#   make prose      spelling and style of the documents, where codespell and proselint are installed

# ---- Settings ----

ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# For the CPU at hand, unless CC compiles for another kind.
ifndef MARCH
MARCH := $(if $(filter aarch64%,$(shell $(CC) -dumpmachine | grep -v "^$$(uname -m)-")),armv8-a,native)
endif
FUZZ_SECONDS ?= 60
# CC=aarch64-linux-gnu-gcc has tools of its own, with the same beginning; "ccache" and "-12" around it do not matter.
CROSS := $(shell for word in $(CC); do tool=$$(echo "$$word" | sed -n 's/g\{0,1\}cc\(-[0-9.]*\)\{0,1\}$$//p'); \
           test -n "$$tool" && command -v "$${tool}objcopy" >/dev/null && echo "$$tool" && break; done)
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
ifeq ($(origin LD),default)
LD := $(CROSS)ld
endif
OBJCOPY ?= $(CROSS)objcopy
# What r4 serve needs, and nothing else; SERVE=no leaves it out, and so does a system that has none. It is looked for
# when it is linked: the packages may have been installed by then.
HTTP = $(if $(filter no,$(SERVE)),,$(shell echo '\#include <microhttpd.h>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo -lmicrohttpd))
LIBS := -ldnnl -lnettle -lyaml -lpng -lturbojpeg -lz -lzip -lutf8proc -lm

VERSION := $(shell sed -n 's/^\#define R4_VERSION "\(.*\)"/\1/p' include/r4.h)
# Before 1.0, each minor version may change what programs see.
NUMBERS := $(subst ., ,$(VERSION))
SONAME := libr4.so.$(firstword $(NUMBERS))$(if $(filter 0.%,$(VERSION)),.$(word 2,$(NUMBERS)))

# Each way of building has a folder of its own. FUZZ=1 and TSAN=1 are set by the targets "fuzz" and "races" only.
ifdef FUZZ
OUT := build-fuzz
MODE := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
else ifdef TSAN
OUT := build-tsan
MODE := -O1 -fno-omit-frame-pointer -fsanitize=thread
else ifdef MPI
OUT := build-mpi
MODE := -O3
else ifdef SAN
OUT := build-san
MODE := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
else
OUT := build
MODE := -O3
endif

# Never -ffast-math: bounds need NaN, infinity and the order of operations. CFLAGS is the user's.
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
# Of clang: calls of libm in a loop stay calls; constants of enums are whole numbers with a name, also next to reals;
# entries of tables leave out what is 0, which gcc accepts inside of a designated initializer.
WARN += $(if $(findstring clang,$(CC)),-Wno-pass-failed -Wno-enum-float-conversion -Wno-missing-field-initializers)
# Values are IEEE's; errno and traps are not used, and would keep loops from becoming vector code.
REALS := -ffp-contract=off -fno-math-errno -fno-trapping-math
# The library and the tests see src; the command sees itself and include/.
ROOM = $(if $(filter $(OUT)/cli/%,$@),cli,src)
# OTHERS: folders with libraries that are taken before the system's; see "wheel".
# Hidden: what include/ does not declare is no business of a host program, see r4.h and libr4.a below.
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -Iinclude -I$(ROOM) $(OTHERS:%=-I%/include) $(MODE) -march=$(MARCH) $(REALS) -fopenmp \
           -fPIC -fvisibility=hidden -g -ffile-prefix-map=$(CURDIR)=. $(WARN) $(CPPFLAGS) $(CFLAGS)
LINK := $(CC) $(MODE) -fopenmp -Wl,--as-needed $(foreach other,$(OTHERS),-L$(other)/lib -Wl,-rpath-link,$(other)/lib) \
        $(LDFLAGS)

# One job per CPU unless asked otherwise; "make clean all" stays in order.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)  $@')

# ---- Files ----

# What is linked: the library after all that needs it.
ordered = $(filter-out %.a,$^) $(filter %.a,$^)
objects = $(patsubst %.c,$(OUT)/%.o,$(1))

NETS := $(sort $(wildcard nets/*.net))
PAGE := src/report/page/page.css src/report/page/page.js
SERVE_PAGE := $(sort $(wildcard cli/serve/page/*))
EMBEDDED := $(OUT)/nets.o $(OUT)/page.o
LIB_OBJ := $(call objects,$(wildcard src/*/*.c src/*/*/*.c)) $(EMBEDDED)
CLI_OBJ := $(call objects,$(wildcard cli/*.c cli/*/*.c)) $(OUT)/serve_files.o
# What r4 serve answers, without connections.
SERVE_TESTED := $(call objects,$(filter-out %/http.c %/cmd_serve.c,$(wildcard cli/serve/*.c))) $(OUT)/serve_files.o
CHECK_OBJ := $(call objects,$(wildcard check/*.c))
CHECK_TESTED := $(filter-out %/main.o,$(CHECK_OBJ))
HELP_OBJ := $(call objects,$(filter-out test/test_%,$(wildcard test/*.c)))
TESTS := $(patsubst %.c,$(OUT)/%,$(wildcard test/test_*.c))
FUZZERS := $(patsubst test/fuzz/fuzz_%.c,%,$(wildcard test/fuzz/fuzz_*.c))
REPLAYS := $(FUZZERS:%=$(OUT)/test/replay_%)
COMMAND := $(if $(CLI_OBJ),$(OUT)/r4) $(OUT)/r4-check
# Clang needs its own OpenMP runtime, libomp; see scripts/install-deps.
DEPS := $(OUT)/.deps-ok$(if $(findstring clang,$(CC)),-fuzz)

# ---- Building ----

.PHONY: all soname portable wheel man prose check check-long python-check demo demo-isic bench bench-epoch install uninstall clean format fuzz fuzz-all races races-all help \
        FORCE
.DELETE_ON_ERROR:
# Kept; with no names it would be every file, and an object that is missing would not be made if its source is old.
.SECONDARY: $(FUZZERS:%=$(OUT)/test/fuzz/fuzz_%.o)

all: $(OUT)/libr4.a $(OUT)/libr4.so $(COMMAND)

soname:
	@echo $(SONAME)

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

$(OUT)/.deps-ok: scripts/install-deps
	@mkdir -p $(@D)
	@CC='$(CC)' SERVE='$(SERVE)' scripts/install-deps
	@touch $@

$(OUT)/.deps-ok-%: scripts/install-deps
	@mkdir -p $(@D)
	@CC='$(CC)' SERVE='$(SERVE)' scripts/install-deps --extra $*
	@touch $@

# Changes when the compiler or its flags do, and everything is compiled again.
$(OUT)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(SERVE)' | cmp -s - $@ || echo '$(COMPILE) $(SERVE)' > $@

$(OUT)/%.o: %.c $(OUT)/.flags | $(DEPS)
	@mkdir -p $(@D)
	$(call say,CC  )
	$(Q)$(COMPILE) $(EXTRA) -MMD -MP -c $< -o $@

# The checker of certificates, which shares nothing with the rest. It rounds upward, and the compiler must know; it is for
# any CPU of the kind. See check/bound.c.
$(CHECK_OBJ): private COMPILE = $(CC) -std=c11 -D_GNU_SOURCE $(filter-out -O%,$(MODE)) -O2 -ftree-vectorize -ffp-contract=off -frounding-math \
           -pthread -fPIC -g -ffile-prefix-map=$(CURDIR)=. $(WARN) $(CPPFLAGS) $(CFLAGS)

$(OUT)/r4-check: $(CHECK_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(MODE) -pthread -Wl,--as-needed $(LDFLAGS) $^ -lz -lm -o $@

# Files that the library has in it.
$(OUT)/nets.c: scripts/embed $(NETS) $(OUT)/.flags
	@scripts/embed architectures $(NETS) > $@

$(OUT)/serve_files.c: scripts/embed $(SERVE_PAGE) $(OUT)/.flags
	@HEADER=serve/serve_files.h scripts/embed serve_files $(SERVE_PAGE) > $@

$(OUT)/serve_files.o: EXTRA := -Icli
$(OUT)/cli/serve/http.o: EXTRA := $(if $(filter no,$(SERVE)),-DR4_NO_SERVE)

$(OUT)/page.c: scripts/embed $(PAGE) $(OUT)/.flags
	@scripts/embed page_files $(PAGE) > $@

# And the command: a program in Python that it runs, as a literal.
$(OUT)/resnet50.inc: cli/data/resnet50.py $(OUT)/.flags
	@sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< > $@
$(OUT)/cli/data/data_fetch.o: $(OUT)/resnet50.inc
$(OUT)/cli/data/data_fetch.o: EXTRA := -I$(OUT)

$(EMBEDDED) $(OUT)/serve_files.o: %.o: %.c | $(DEPS)
	$(call say,CC  )
	$(Q)$(COMPILE) $(EXTRA) -MMD -MP -c $< -o $@

# Element-wise loops are short and run in the first-level cache: the loop itself is what costs.
$(OUT)/src/op/%.o $(OUT)/src/exec/tile_join.o: EXTRA := -funroll-loops
# Product kernels: fused multiply-adds, as oneDNN has them.
$(addprefix $(OUT)/src/exec/kernel/,narrow.o direct.o direct_dw.o sparse.o thin.o winograd_product.o winograd_tiles.o): EXTRA := -ffp-contract=fast

# What looks at the CPU runs on any of them; what it compares with is what the other files were compiled for.
ANY_CPU := $(if $(filter x86_64% i%86%,$(shell $(CC) -dumpmachine)),-march=x86-64 -mtune=generic)
$(OUT)/src/base/cpu.o $(OUT)/cli/first.o $(OUT)/test/test_cpu.o: EXTRA := $(ANY_CPU)
$(OUT)/src/base/cpu_needed.o: EXTRA := -DR4_MARCH='"$(MARCH)"'

# For tests, which look inside.
$(OUT)/inside.a: $(LIB_OBJ) | $(DEPS)
	$(call say,AR  )
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# For programs: one object, in which hidden names are local, so that "resize" may be a name of the program's.
$(OUT)/libr4.a: $(LIB_OBJ) | $(DEPS)
	$(call say,AR  )
	$(Q)$(LD) -r $^ -o $(@:.a=.o) && $(OBJCOPY) --localize-hidden $(@:.a=.o)
	$(Q)rm -f $@ && $(AR) rcs $@ $(@:.a=.o) && rm $(@:.a=.o)

# INSIDE=so, with CFLAGS=-fvisibility=default: tests and the command look into one library beside them, and a change of
# one of its files links nothing else. For scripts/mutate.
INSIDE ?= a
$(OUT)/inside.so: $(LIB_OBJ) | $(DEPS)
	$(call say,LINK)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $^ $(LIBS) -o $@

$(OUT)/libr4.so: $(LIB_OBJ) | $(DEPS)
	$(call say,LINK)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) $^ $(LIBS) -o $@
	$(Q)ln -sf $(@F) $(@D)/$(SONAME)

# MPI=1: one file of the command knows MPI (Open MPI's name in pkg-config; MPI=mpich for another).
ifdef MPI
MPI_NAME := $(if $(filter 1,$(MPI)),ompi-c,$(MPI))
$(OUT)/cli/launched.o: EXTRA := -DR4_MPI -Wno-conversion $(shell pkg-config --cflags $(MPI_NAME))
$(OUT)/r4: MPI_LIBS = $(shell pkg-config --libs $(MPI_NAME))
endif
ifeq ($(INSIDE),so)
$(OUT)/r4: $(CLI_OBJ) | $(OUT)/inside.so
	$(Q)$(LINK) $^ $(OUT)/inside.so -Wl,-rpath,'$$ORIGIN' $(LIBS) $(HTTP) -o $@
else
$(OUT)/r4: $(CLI_OBJ) $(OUT)/libr4.a
	$(call say,LINK)
	$(Q)$(LINK) $^ $(LIBS) $(HTTP) $(MPI_LIBS) -o $@
endif

# The command with the library beside it instead of inside, for packages that have both.
RPATH ?= $$ORIGIN/../lib
comma := ,
$(OUT)/r4-shared: $(CLI_OBJ) $(OUT)/libr4.so
	$(call say,LINK)
	$(Q)$(LINK) $^ -lm $(HTTP) $(RPATH:%=-Wl$(comma)-rpath$(comma)'%') -o $@

# What Python opens: a need for the library and nothing else, so that the dynamic linker takes the one for this CPU.
$(OUT)/_r4.so: $(OUT)/libr4.so
	$(call say,LINK)
	$(Q)$(LINK) -shared -Wl,--no-as-needed -Wl,-rpath,'$$ORIGIN/lib' $^ -o $@

$(addprefix $(OUT)/test/,test_check test_check_covers test_check_files test_check_linear replay_certificate) $(OUT)/fuzz_certificate: $(CHECK_TESTED)
$(addprefix $(OUT)/test/,test_check_files test_cli_certify test_cli_linear test_cli_verify): | $(OUT)/r4-check

$(addprefix $(OUT)/test/,test_serve test_serve_masks test_serve_words) $(OUT)/test/replay_serve $(OUT)/fuzz_serve: $(SERVE_TESTED)
$(addprefix $(OUT)/test/,test_serve test_serve_masks test_serve_words): $(OUT)/test/serve/serve_case.o
$(addprefix $(OUT)/test/,test_serve.o test_serve_masks.o test_serve_words.o serve/serve_case.o fuzz/fuzz_serve.o): EXTRA := -Icli -Itest

ifeq ($(INSIDE),so)
$(TESTS): %: %.o $(HELP_OBJ) | $(OUT)/inside.so
	$(Q)$(LINK) $^ $(OUT)/inside.so -Wl,-rpath,'$$ORIGIN/..' -lcmocka $(LIBS) -o $@
else
$(TESTS): %: %.o $(HELP_OBJ) $(OUT)/inside.a
	$(call say,LINK)
	$(Q)$(LINK) $(ordered) -lcmocka $(LIBS) -o $@
endif

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

# ---- Testing ----

# Tests print TAP and run from here; they find the command in $R4.
check: all $(TESTS) $(REPLAYS)
	@R4=$(OUT)/r4 CMOCKA_MESSAGE_OUTPUT=TAP GOMP_SPINCOUNT=1000 \
	OUT=$(OUT) CC='$(CC)' LIBS='$(LIBS)' LINKFLAGS='$(MODE) -fopenmp -Wl,--as-needed $(LDFLAGS)' \
	prove -j$(shell nproc) --failures --comments -e '' \
	scripts/check-layers scripts/check-style scripts/check-words scripts/check-exports scripts/check-install scripts/check-readme scripts/check-man scripts/check-threads \
	scripts/check-page scripts/check-serve scripts/check-results scripts/check-mutations \
	$(TESTS) $(REPLAYS)

check-long:
	$(MAKE) SAN=1 check
	$(MAKE) all
	R4=build/r4 prove -e '' --failures --comments scripts/check-threads :: all
	$(MAKE) $(OUT)/test/test_cover && R4_PASTES=100000 $(OUT)/test/test_cover
	$(MAKE) $(OUT)/test/test_certify && R4_ATTACKS=1000000 $(OUT)/test/test_certify
	$(MAKE) races
	$(MAKE) fuzz
	scripts/check-mpi
	scripts/check-arm64
	R4=build/r4 scripts/check-prose
	R4=build/r4 prove -e '' --failures --comments scripts/check-slurm
	scripts/mutate-map >$(OUT)/mutate-map
	scripts/mutate

prose: $(OUT)/r4
	@R4=$(OUT)/r4 scripts/check-prose

# The Python package, in an environment of its own; not part of "check", as pip needs a network. TORCH=1, LONG=1 and
# SAN=1 test more: see the script.
python-check: all $(OUT)/test/test_onnx $(OUT)/.deps-ok-python
	@R4=$(abspath $(OUT)/r4) TORCH=$(TORCH) LONG=$(LONG) SAN=$(SAN) scripts/check-python $(OUT)/venv

# Without libFuzzer: runs the inputs of test/fuzz/corpus/NAME once each.
$(REPLAYS): $(OUT)/test/replay_%: test/fuzz/replay.c $(OUT)/test/fuzz/fuzz_%.o $(OUT)/inside.a
	$(call say,LINK)
	$(Q)$(COMPILE) -DR4_CORPUS='"test/fuzz/corpus/$*"' $(ordered) -Wl,--as-needed $(LDFLAGS) $(LIBS) -o $@

fuzz:
ifeq ($(FUZZERS),)
	@echo 'no fuzz targets: test/fuzz/fuzz_*.c does not exist'
else
	$(MAKE) FUZZ=1 CC=clang fuzz-all
endif

# Starts from test/fuzz/corpus/NAME and keeps what it finds in build-fuzz/; an input that crashes is
# build-fuzz/NAME-crash-*: copy it to the corpus, and "make check" fails until it is mended.
fuzz-all: $(FUZZERS:%=$(OUT)/fuzz_%)
	@for name in $(FUZZERS); do \
	  echo "== fuzz_$$name, $(FUZZ_SECONDS) s"; \
	  mkdir -p $(OUT)/corpus/$$name test/fuzz/corpus/$$name; \
	  $(OUT)/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=$(OUT)/$$name- $(OUT)/corpus/$$name test/fuzz/corpus/$$name || exit 1; \
	done

$(OUT)/fuzz_%: $(OUT)/test/fuzz/fuzz_%.o $(OUT)/inside.a
	$(call say,LINK)
	$(Q)$(LINK) -fsanitize=fuzzer $(ordered) $(LIBS) -o $@

# Data races. Archer tells ThreadSanitizer how clang's OpenMP orders things; libraries that are not compiled for it, such
# as oneDNN, are not looked into.
RACES := batch data digits direct folder optimizer plan recipe sparse step thin threads

races:
	$(MAKE) TSAN=1 CC=clang races-all

races-all: $(RACES:%=$(OUT)/test/test_%)
	@archer=$$(readlink -f "$$(command -v clang)" | sed 's|bin/[^/]*$$|lib/libarcher.so|'); \
	test -e "$$archer" || { echo "races: no $$archer" >&2; exit 1; }; \
	OMP_TOOL_LIBRARIES=$$archer CMOCKA_MESSAGE_OUTPUT=TAP \
	TSAN_OPTIONS='ignore_noninstrumented_modules=1 allocator_may_return_null=1 history_size=4' \
	prove -j$(shell nproc) --failures --comments -e '' $^

# ---- Using ----

# The manual page, from the tables that feed the help.
man: all
	@R4=$(OUT)/r4 scripts/make-man > $(OUT)/r4.1 && mv $(OUT)/r4.1 doc/r4.1

demo: all
	@scripts/demo

demo-isic: all
	@scripts/demo-isic

bench: all $(OUT)/.deps-ok-bench
	@bench/run

bench-epoch: all $(OUT)/.deps-ok-bench
	@bench/epoch

LIBRARIES = $(DESTDIR)$(LIBDIR)
SHARE = $(DESTDIR)$(PREFIX)/share
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(LIBRARIES)/pkgconfig
	install -m 644 include/r4.h include/r4_tools.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(OUT)/libr4.a $(LIBRARIES)
	install -m 755 $(OUT)/libr4.so $(LIBRARIES)/libr4.so.$(VERSION)
	ln -sf libr4.so.$(VERSION) $(LIBRARIES)/$(SONAME)
	ln -sf $(SONAME) $(LIBRARIES)/libr4.so
	$(if $(COMMAND),install -m 755 $(COMMAND) $(DESTDIR)$(PREFIX)/bin)
	install -d $(SHARE)/r4 && cp -r experiments nets $(SHARE)/r4
	install -D -m 644 doc/r4.1 $(SHARE)/man/man1/r4.1
	install -D -m 644 doc/r4-check.1 $(SHARE)/man/man1/r4-check.1
	install -D -m 644 doc/completions/r4 $(SHARE)/bash-completion/completions/r4
	install -D -m 644 doc/completions/_r4 $(SHARE)/zsh/site-functions/_r4
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBS)|' r4.pc.in > $(LIBRARIES)/pkgconfig/r4.pc
	$(if $(DESTDIR),,@ldconfig -NXv 2>/dev/null | grep -q -e '^$(LIBDIR):' -e '^$(LIBDIR:/usr/%=/%):' && ldconfig || echo "The linker does not look in $(LIBDIR) by itself: see doc/install.md, \"A folder of your own\".")

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/r4 $(DESTDIR)$(PREFIX)/bin/r4-check $(addprefix $(DESTDIR)$(PREFIX)/include/,r4.h r4_tools.h) $(LIBRARIES)/pkgconfig/r4.pc
	rm -f $(SHARE)/man/man1/r4.1 $(SHARE)/man/man1/r4-check.1 $(SHARE)/bash-completion/completions/r4 $(SHARE)/zsh/site-functions/_r4
	rm -rf $(SHARE)/r4
	rm -f $(LIBRARIES)/libr4.a $(LIBRARIES)/libr4.so $(LIBRARIES)/$(SONAME) $(LIBRARIES)/libr4.so.$(VERSION)

# ---- Packages ----

# One package for many CPUs: the library for the oldest of them, the command, and libraries for newer ones, which the
# dynamic linker takes from lib/glibc-hwcaps/ where the CPU is such a one (ld.so(8)). Each has a folder, build-NAME.
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
OLDEST ?= x86-64-v2
NEWER ?= x86-64-v3 x86-64-v4
else
OLDEST ?= armv8-a
endif
HARDENING := -fstack-protector-strong -Wformat -Werror=format-security
FORTIFY := -Wdate-time -D_FORTIFY_SOURCE=2

# CFLAGS and CPPFLAGS of whoever packages count instead.
portable: $(patsubst %,portable-%,$(OLDEST) $(NEWER))
portable-%:
	$(MAKE) OUT=build-$* MARCH=$* CFLAGS="$${CFLAGS-$(HARDENING)}" CPPFLAGS="$${CPPFLAGS-$(FORTIFY)}" \
	  LDFLAGS="$${LDFLAGS--Wl,-z,relro -Wl,-z,now}" \
	  build-$*/libr4.so $(if $(filter $*,$(OLDEST)),build-$*/r4-shared build-$*/r4-check build-$*/_r4.so)

# For "pip install", with everything inside but r4 serve, whose library brings half of GnuTLS; see doc/install.md. There is no source distribution. WHEEL_LIBS=system takes all
# libraries as the system has them, which makes it larger.
wheel: $(OUT)/.deps-ok-wheel
	@set -e; others=; test '$(WHEEL_LIBS)' = system || others=$$(scripts/wheel-libs build-wheel/libs); \
	$(MAKE) portable OTHERS="$$others" SERVE=no; \
	scripts/stage-python build-wheel/files build-$(OLDEST) $(NEWER:%=build-%); \
	OTHERS="$$others" scripts/wheel build-wheel/files dist

format:
	clang-format -i $(wildcard src/*/*.[ch] src/*/*/*.[ch] cli/*.[ch] cli/*/*.[ch] check/*.[ch] test/*.[ch] test/fuzz/*.[ch])

clean:
	rm -rf build build-mpi build-san build-tsan build-fuzz build-x86-64-* build-armv8-a build-aarch64 build-wheel python/build python/r4.egg-info
