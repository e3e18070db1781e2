/* A CPU that lacks what the library was compiled for: a sentence, before any instruction that it does not have.
 * This file is compiled for any CPU, as the program around the library would be (see the Makefile). */
#include "base/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "command.h"

#define BIT(id) ((uint32_t)1 << CPU_##id)

static void test_sentence(void **state)
{
  (void)state;
  char text[CPU_TEXT];
  cpu_describe(BIT(SSE4_2) | BIT(AVX2) | BIT(FMA), BIT(SSE4_2) | BIT(AVX), text);
  assert_non_null(strstr(text, "this CPU lacks avx2 fma, for which r4 was built ("));
  assert_non_null(strstr(text, "MARCH="));
  cpu_describe(BIT(AVX2), BIT(AVX2) | BIT(FMA), text);
  assert_string_equal(text, "");
  cpu_describe(UINT32_MAX, 0, text); /* all of it fits */
  assert_non_null(strstr(text, "MARCH=x86-64"));
}

/* These tests run, so nothing is missing. */
static void test_this_cpu(void **state)
{
  (void)state;
  assert_null(r4_cpu_missing());
  const char *list = strchr(r4_cpu_built_for(), ':');
  for (const char *word = list ? list + 2 : ""; *word; word += strcspn(word, " "), word += *word == ' ') {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, " "), word);
    assert_non_null(strstr(r4_cpu_features(), name));
  }
}

/* In another process of this program, on an older CPU: a call that begins with NEEDS. */
static int ask(void)
{
  r4_error e = {0};
  r4_settings_read(NULL, "a.yaml", &e);
  puts(e.text);
  return e.status != R4_E_CPU;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static void on_core2duo(const char *program, int code, const char *says)
{
  char line[4096];
  if (sanitized || !(cpu_needed & BIT(SSE4_1))) check_skip("built with sanitizers, or for a Core 2 as well");
  if (system("command -v qemu-x86_64 >/dev/null")) check_skip("no qemu-x86_64 (package qemu-user)");
  snprintf(line, sizeof line, "R4_ASK=1 qemu-x86_64 -cpu core2duo %s --version", program);
  EXPECT(line, code, says, "this CPU lacks sse4.1");
}

static void test_command_refuses(void **state)
{
  (void)state;
  on_core2duo("\"$R4\"", 3, "r4: ");
}

static void test_library_refuses(void **state)
{
  (void)state;
  char own[3000] = "";
  assert_true(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
  on_core2duo(own, 0, "r4_settings_read: ");
}

int main(void)
{
  if (getenv("R4_ASK")) return ask();
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sentence),
    cmocka_unit_test(test_this_cpu),
    cmocka_unit_test(test_command_refuses),
    cmocka_unit_test(test_library_refuses),
  };
  return cmocka_run_group_tests_name("cpu", tests, scratch_make, scratch_remove);
}
