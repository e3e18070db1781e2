/* What stands where a file is to be written: a file is replaced, all else is refused and stays as it is. Pipes stand
 * for devices here: a rename would put a file in the place of either. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "folder_make.h"
#include "scratch.h"

static void put_pipe(const char *path)
{
  assert_int_equal(mkfifo(path, 0600), 0);
}

static void put_folder(const char *path)
{
  assert_int_equal(mkdir(path, 0700), 0);
}

/* To a file that is there, and to one that is not. */
static void put_link(const char *path)
{
  assert_int_equal(symlink("target", path), 0);
}

static void put_loose_link(const char *path)
{
  assert_int_equal(symlink("nothing", path), 0);
}

static const struct {
  void (*put)(const char *path);
  const char *says;
} cases[] = {{put_pipe, "/d.npz: is a pipe, expected a file"},
             {put_folder, "/d.npz: is a folder, expected a file"},
             {put_link, "/d.npz: is a link, expected a file: r4 does not write through links"},
             {put_loose_link, "/d.npz: is a link, expected a file"}};

static r4_data *one_example(void)
{
  static const int32_t label[1];
  static const float x[1];
  return r4_data_new(&(r4_data_arrays){.n = 1, .shape = R4_SHAPE(1), .floats = x, .labels = label}, NULL);
}

static void what_is_no_file_stays(void **state)
{
  (void)state;
  char *folder = folder_new(), path[4096], target[4096];
  snprintf(path, sizeof path, "%s/d.npz", folder);
  snprintf(target, sizeof target, "%s/target", folder);
  r4_data *d = one_example();
  struct stat before, after;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_error e = {0};
    put_text(folder, "target", "old");
    cases[k].put(path);
    assert_int_equal(lstat(path, &before), 0);
    assert_error(&e, r4_data_save(d, path, &e), cases[k].says);
    assert_int_equal(e.status, R4_E_IO);
    assert_error(&e, file_write(path, "new", 3, &e), cases[k].says);
    assert_int_equal(lstat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    assert_true(!stat(target, &after) && after.st_size == 3);
    remove(path);
  }
  r4_data_free(d);
  folder_remove(folder);
}

static void files_are_replaced(void **state)
{
  (void)state;
  char *folder = folder_new(), path[4096];
  snprintf(path, sizeof path, "%s/d.npz", folder);
  put_text(folder, "d.npz", "old");
  r4_error e = {0};
  r4_data *d = one_example();
  assert_int_equal(r4_data_save(d, path, &e), R4_OK);
  r4_data *read = r4_data_open(path, NULL, &e);
  assert_int_equal(r4_data_count(read), 1);
  r4_data_free(read);
  r4_data_free(d);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_file_stays), cmocka_unit_test(files_are_replaced)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
