/* Compiled for any CPU of its kind, whatever MARCH is (see the Makefile): it runs where the rest may not. It looks when
 * the library is loaded, so that the calls themselves are plain reads from any thread. */
#include "base/cpu.h"

#include <stdio.h>
#include <string.h>

static uint32_t present;
static char built_for[CPU_TEXT], features[CPU_TEXT], missing[CPU_TEXT];

#if defined(__x86_64__) || defined(__i386__)
#define CPU_LOOK(id, name) \
  if (__builtin_cpu_supports(name)) present |= (uint32_t)1 << CPU_##id;

static void look(void)
{
  __builtin_cpu_init();
  CPU_FEATURES(CPU_LOOK)
}
#else
static void look(void)
{
  present = cpu_needed; /* other kinds of CPUs have no list here */
}
#endif

/* Appends the names of a set to a text, with spaces between them. */
static void add_names(uint32_t set, char text[CPU_TEXT])
{
#define CPU_NAME(id, name) name,
  static const char *const names[] = {CPU_FEATURES(CPU_NAME)};
  for (int k = 0; k < CPU_COUNT_OF_FEATURES; k++) {
    size_t length = strlen(text);
    bool first = !length || text[length - 1] == ' ';
    if (set >> k & 1) snprintf(text + length, CPU_TEXT - length, "%s%s", first ? "" : " ", names[k]);
  }
}

void cpu_describe(uint32_t needed, uint32_t has, char text[CPU_TEXT])
{
  text[0] = 0;
  if (!(needed & ~has)) return;
  snprintf(text, CPU_TEXT, "this CPU lacks ");
  add_names(needed & ~has, text);
  size_t length = strlen(text);
  snprintf(text + length, CPU_TEXT - length,
           ", for which r4 was built (%s): build it on this machine with make, or with make MARCH=x86-64",
           cpu_march);
}

/* The first of all: those of a program with the library inside may ask already. */
__attribute__((constructor(101))) static void start(void)
{
  look();
  snprintf(built_for, sizeof built_for, "%s%s", cpu_march, cpu_needed ? ": " : "");
  add_names(cpu_needed, built_for);
  add_names(present, features);
  cpu_describe(cpu_needed, present, missing);
}

const char *r4_cpu_built_for(void)
{
  return built_for;
}

const char *r4_cpu_features(void)
{
  return features;
}

const char *r4_cpu_missing(void)
{
  return *missing ? missing : NULL;
}

/* Not by r4_fail, which is compiled for MARCH. */
bool cpu_fits(const char *function, r4_error *e)
{
  if (!*missing) return true;
  if (!e) return false;
  e->status = R4_E_CPU;
  snprintf(e->text, sizeof e->text, "%s: %s", function, missing);
  return false;
}
