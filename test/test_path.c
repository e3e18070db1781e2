/* From here to there, and from the folder of a run to its data. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder_make.h"
#include "scratch.h"

static char base[4096]; /* the folder of the test, without links */

static int make(void **state)
{
  if (scratch_make(state) || !realpath(scratch_folder(), base)) return -1;
  put_text(scratch_folder(), "data/x.npz", "");
  put_text(scratch_folder(), "runs/a/seed-0/log", "");
  put_text(scratch_folder(), "runs/ab/log", "");
  return chdir(base) || symlink("../data", "runs/link") || symlink("runs", "short");
}

/* The result is this below the folder of the test, or exactly this. */
static void is(char *got, const char *folder, const char *expected)
{
  char full[4200];
  snprintf(full, sizeof full, "%s%s", folder, expected);
  assert_non_null(got);
  assert_string_equal(got, full);
  r4_mem_free(got);
}

static void absolute_paths(void **state)
{
  (void)state;
  is(file_absolute("data"), base, "/data");
  is(file_absolute("data/"), base, "/data");
  is(file_absolute("./runs/../data//x.npz"), base, "/data/x.npz");
  is(file_absolute("runs/link"), base, "/runs/link"); /* a link may be moved with what is around it */
  is(file_absolute("short/link/x.npz"), base, "/data/x.npz");
  is(file_absolute("."), base, "/.");
  is(file_absolute("runs/a/.."), base, "/runs/.");
  is(file_absolute("/"), "", "/.");
  is(file_absolute("/tmp"), "", "/tmp");
  assert_null(file_absolute("nowhere"));
  assert_null(file_absolute("data/x.npz/y"));
}

static void relative_paths(void **state)
{
  (void)state;
  is(file_relative("runs/a/seed-0", "data"), "", "../../../data");
  is(file_relative("runs/a", "runs/ab"), "", "../ab");
  is(file_relative("runs/ab", "runs/a"), "", "../a");
  is(file_relative("runs", "runs/a/seed-0"), "", "a/seed-0");
  is(file_relative("runs/a", "runs"), "", "../.");
  is(file_relative(".", "data/x.npz"), "", "data/x.npz");
  is(file_relative("data", "."), "", "../.");
  is(file_relative("short/a", "data"), "", "../../data"); /* by the folders that are there, not by links */
  is(file_relative("runs/a", "runs/a"), "", ".");
  assert_null(file_relative("nowhere", "data"));
  assert_null(file_relative("runs", "nowhere"));
}

/* Whatever is written down, the path leads there. */
static void relative_paths_lead_there(void **state)
{
  (void)state;
  static const char *const place[] = {".",       "data",      "runs", "runs/a", "runs/a/seed-0",
                                      "runs/ab", "runs/link", "/",    "/tmp"};
  enum { PLACES = sizeof place / sizeof *place };
  for (int from = 0; from < PLACES; from++)
    for (int to = 0; to < PLACES; to++) {
      char *way = file_relative(place[from], place[to]), *all = way ? file_join(place[from], way, NULL) : NULL;
      char got[4096], want[4096];
      assert_non_null(all);
      assert_non_null(realpath(all, got));
      assert_non_null(realpath(place[to], want));
      assert_string_equal(got, want);
      r4_mem_free(way);
      r4_mem_free(all);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(absolute_paths),
    cmocka_unit_test(relative_paths),
    cmocka_unit_test(relative_paths_lead_there),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("path", tests, make, scratch_remove);
}
