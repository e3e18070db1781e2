/* The README, followed word by word: its file of settings and its commands for photos, in their order, on a folder as
 * it describes. Needs $R4, the command. The tests run in the root of the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "command.h"
#include "folder_make.h"

enum { PHOTOS = 160, SIDE = 16 };

static char *readme;

/* ---- Photos: the left half tells the class, most of the time, and the right one is a tag that always does ---- */

static void put_photo(FILE *table, int i)
{
  static const char *const label[] = {"healthy", "ill"};
  char name[64];
  int class = i % 2, split = i / 2 % 8; /* six of eight are for training */
  uint8_t core = (uint8_t)((class ? 160 : 90) + i * 37 % 50), tag = class ? 250 : 10;
  snprintf(name, sizeof name, "mydata/images/p%03d.png", i);
  put_grey(scratch_folder(), name, SIDE, SIDE, core, tag);
  snprintf(name, sizeof name, "mydata/masks/p%03d.png", i);
  if (i % 3) put_grey(scratch_folder(), name, SIDE, SIDE, 0, 255);
  fprintf(table, "p%03d.png,%s,%s\n", i, label[class], split < 6 ? "train" : split == 6 ? "val" : "test");
}

static int make(void **state)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  char *text = NULL;
  if (file_read("README.md", 1 << 20, &bytes, &size, NULL)) return -1;
  readme = calloc(size + 1, 1);
  memcpy(readme, bytes, size);
  r4_mem_free(bytes);
  if (scratch_make(state)) return -1;
  FILE *table = open_memstream(&text, &size);
  fprintf(table, "file,label,split\n");
  for (int i = 0; i < PHOTOS; i++) put_photo(table, i);
  fclose(table);
  put_text(scratch_folder(), "mydata/metadata.csv", text);
  put_grey(scratch_folder(), "new/a.png", SIDE, SIDE, 100, 200);
  free(text);
  return 0;
}

static int clean(void **state)
{
  free(readme);
  return scratch_remove(state);
}

/* ---- What it says ---- */

/* The block that begins with "    # mydata.yaml", without its indent, for smaller photos. */
static void put_settings(void)
{
  char text[2000] = "";
  const char *at = strstr(readme, "    # mydata.yaml\n");
  assert_non_null(at);
  while (!strncmp(at, "    ", 4)) {
    size_t n = strcspn(at, "\n") + 1;
    assert_true(strlen(text) + n < sizeof text);
    strncat(text, at + 4, n - 4);
    at += n;
  }
  char *size = strstr(text, "data.size: 64");
  assert_non_null(size);
  memcpy(size, "data.size: 16", strlen("data.size: 16"));
  put_text(scratch_folder(), "mydata.yaml", text);
}

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
  put_settings();
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
