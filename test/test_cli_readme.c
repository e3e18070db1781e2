/* The README, followed word by word: its file of settings and its commands for photos, in their order, on a folder as
 * it describes. Needs $R4, the command. The tests run in the root of the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "command.h"
#include "mydata_case.h"

static char *readme;

static int make(void **state)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (file_read("README.md", 1 << 20, &bytes, &size, NULL)) return -1;
  readme = calloc(size + 1, 1);
  memcpy(readme, bytes, size);
  r4_mem_free(bytes);
  if (scratch_make(state)) return -1;
  mydata_photos();
  mydata_settings(readme);
  return 0;
}

static int clean(void **state)
{
  free(readme);
  return scratch_remove(state);
}

/* ---- What it says ---- */

/* A server does not end by itself; test_cli_serve has the rest. */
static void it_serves(const char *line)
{
  char command[600];
  snprintf(command, sizeof command, "timeout -s INT 3 %s 2>&1 | grep -c 'http://127.0.0.1:\\|without libmicrohttpd'",
           line);
  EXPECT(command, 0, "1\n");
}

/* Each line that begins with "    r4 ", as a user would type it. */
static void every_command_works(void **state)
{
  (void)state;
  int lines = 0;
  for (const char *at = readme; (at = strstr(at, "\n    r4 ")); lines++) {
    char line[400];
    at += strlen("\n    r4 ");
    snprintf(line, sizeof line, "$R4 %.*s", (int)strcspn(at, "\n#"), at);
    if (strstr(line, " data lint "))
      EXPECT(line, 1, "masked content gives the label away"); /* there is something wrong with these */
    else if (strstr(line, " serve "))
      it_serves(line);
    else
      EXPECT(line, 0);
  }
  if (lines < 8) fail_msg("%d commands in README.md, expected 8 at least", lines);
  EXPECT("ls sheet.png new.png runs/erm/report.html runs/mydata", 0, "seed-3");
}

/* What it must keep to be read to its end. */
static void it_is_short(void **state)
{
  (void)state;
  size_t lines = 0;
  for (const char *at = readme; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != 0)) {
    size_t width = strcspn(at, "\n");
    if (width > 120) fail_msg("line %zu of README.md has %zu columns, at most 120", lines + 1, width);
    lines++;
  }
  if (lines > 130) fail_msg("README.md has %zu lines, at most 130", lines);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_command_works), cmocka_unit_test(it_is_short)};
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli readme", tests, make, clean);
}
