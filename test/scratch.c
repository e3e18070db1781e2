#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/r4-test-XXXXXX";

int scratch_make(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

int scratch_remove(void **state)
{
  (void)state;
  char command[80];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

const char *scratch_folder(void)
{
  return folder;
}

const char *scratch_path(const char *name)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

void assert_error(const r4_error *e, r4_status status, const char *expected)
{
  if (!status) fail_msg("accepted, expected: %s", expected);
  assert_int_equal(e->status, status);
  if (!strstr(e->text, expected)) fail_msg("the error is\n  %s\nexpected\n  %s", e->text, expected);
}
