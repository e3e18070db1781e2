#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/r4-test-XXXXXX";

int scratch_make(void **state)
{
  (void)state;
  return mkdtemp(folder) ? setenv("XDG_DATA_HOME", scratch_path("none"), 1) : -1;
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

void scratch_patch(const char *name, const void *from, const void *to, size_t size)
{
  static char bytes[1 << 16];
  FILE *f = fopen(scratch_path(name), "rb+");
  assert_non_null(f);
  size_t n = fread(bytes, 1, sizeof bytes, f), at = 0;
  while (at + size <= n && memcmp(bytes + at, from, size)) at++;
  if (at + size > n) fail_msg("%s: does not have the bytes to be replaced", name);
  fseek(f, (long)at, SEEK_SET);
  assert_int_equal(fwrite(to, 1, size, f), size);
  assert_int_equal(fclose(f), 0);
}

void scratch_unseal(const char *name)
{
  scratch_patch(name, "r4_data_sha256", "no_data_sha256", strlen("r4_data_sha256"));
}

void assert_error(const r4_error *e, r4_status status, const char *expected)
{
  if (!status) fail_msg("accepted, expected: %s", expected);
  assert_int_equal(e->status, status);
  if (!strstr(e->text, expected)) fail_msg("the error is\n  %s\nexpected\n  %s", e->text, expected);
}
