/* The cache of decoded images: a mapped file, made once and by one process, which may be larger than the memory. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map_notes.h"
#include "base/mem.h"
#include "data/data.h"
#include "folder_make.h"

enum { EXAMPLES = 150, SIDE = 8 };

/* Photos with masks that are all different; one mask has no white, which is odd. */
static char *photos(r4_data_options *o, char cache[4096])
{
  char *folder = folder_new(), name[64];
  struct text table = {0};
  text_add(&table, "file,label\n");
  for (int i = 0; i < EXAMPLES; i++) {
    snprintf(name, sizeof name, "p%03d.png", i);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)i, (uint8_t)(2 * i));
    text_add(&table, "%s,%s\n", name, i % 2 ? "cat" : "dog");
    snprintf(name, sizeof name, "masks/p%03d.png", i);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)(i + 1), i ? (uint8_t)(255 - i) : 1);
  }
  char *text = text_take(&table);
  put_text(folder, "metadata.csv", text);
  r4_string_free(text);
  snprintf(cache, 4096, "%s/cache", folder);
  *o = (r4_data_options){.mask_means = R4_MASKS_IRRELEVANT, .soft_masks = true, .cache = cache};
  return folder;
}

/* Files of the cache with this ending; the last of them. */
static size_t files(const char *cache, const char *ending, char last[4096])
{
  DIR *dir = opendir(cache);
  size_t n = 0;
  for (struct dirent *f; dir && (f = readdir(dir));) {
    size_t length = strlen(f->d_name), of = strlen(ending);
    if (length < of || strcmp(f->d_name + length - of, ending) != 0) continue;
    snprintf(last, 4096, "%s/%s", cache, f->d_name);
    n++;
  }
  if (dir) closedir(dir);
  return n;
}

static void same_data(const r4_data *a, const r4_data *b)
{
  char one[R4_HASH_SIZE], other[R4_HASH_SIZE];
  r4_data_hash(a, one);
  r4_data_hash(b, other);
  assert_string_equal(one, other);
  assert_int_equal(r4_data_notes(a), r4_data_notes(b));
  for (size_t k = 0; k < r4_data_notes(a); k++) assert_string_equal(r4_data_note(a, k), r4_data_note(b, k));
}

/* Values, masks and what is odd are those of the files, and lie in the mapped file, made now or before. */
static void is_mapped(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  r4_data_options o;
  char *folder = photos(&o, cache);
  r4_data_options plain = o;
  plain.cache = NULL;
  r4_data *want = folder_opened(folder, &plain);
  assert_int_equal(data_masks(want)->n, EXAMPLES + 1);
  for (int k = 0; k < 2; k++) {
    r4_data *d = folder_opened(folder, &o);
    same_data(d, want);
    struct map *m = data_x(d)->map;
    assert_non_null(m);
    assert_ptr_equal(data_masks(d)->map, m);
    assert_true((uint8_t *)data_x(d)->data >= m->bytes && data_masks(d)->bytes < m->bytes + m->size);
    uint32_t number = 0;
    uint8_t mask[SIDE * SIDE] = {3};
    assert_int_equal(masks_add(data_masks(d), mask, &number, NULL), R4_E_INTERNAL);
    r4_data_free(d);
  }
  assert_int_equal(files(cache, ".images", file), 1);
  assert_int_equal(files(cache, ".lock", file), 0);
  assert_int_equal(files(cache, ".part", file), 0);
  r4_data_free(want);
  folder_remove(folder);
}

static void oddities_are_kept(void **state)
{
  (void)state;
  char cache[4096];
  r4_data_options o;
  char *folder = photos(&o, cache);
  o.soft_masks = false;
  r4_data_options plain = o;
  plain.cache = NULL;
  r4_data *want = folder_opened(folder, &plain);
  assert_int_equal(r4_data_notes(want), 1);
  for (int k = 0; k < 2; k++) {
    r4_data *d = folder_opened(folder, &o);
    same_data(d, want);
    r4_data_free(d);
  }
  r4_data_free(want);
  folder_remove(folder);
}

/* The hash of the data is noted, and read; not for other records, and not once the file was written to. */
static void hash_is_noted(void **state)
{
  (void)state;
  char cache[4096], file[4096], notes[4096], hash[R4_HASH_SIZE], other[R4_HASH_SIZE], got[R4_HASH_SIZE];
  r4_data_options o;
  char *folder = photos(&o, cache);
  r4_data *d = folder_opened(folder, &o);
  r4_data_hash(d, hash);
  r4_data *part = r4_data_subset(d, 3, (const size_t[]){5, 1, 7}, NULL);
  assert_non_null(part);
  r4_data_hash(part, other);
  assert_string_not_equal(hash, other);
  assert_int_equal(files(cache, ".notes", notes), 1);
  uint8_t *text = NULL;
  size_t size = 0;
  assert_int_equal(file_read(notes, 1 << 16, &text, &size, NULL), R4_OK);
  char *at = strstr((char *)text, hash);
  assert_non_null(at);
  assert_non_null(strstr((char *)text, other));
  *at = *at == 'f' ? 'e' : 'f';
  assert_int_equal(file_write(notes, text, size, NULL), R4_OK);
  r4_data_hash(d, got);
  assert_memory_equal(got, at, R4_HASH_SIZE - 1); /* so nothing was read */
  r4_data_free(part);
  r4_data_free(d);
  assert_int_equal(files(cache, ".images", file), 1);
  assert_int_equal(utimensat(AT_FDCWD, file, NULL, 0), 0); /* as if it had been written to */
  d = folder_opened(folder, &o);
  r4_data_hash(d, got);
  assert_string_equal(got, hash);
  r4_data_free(d);
  r4_mem_free(text);
  folder_remove(folder);
}

/* Other labels and further columns are other data, though the file is the same. */
static void other_data_has_another_hash(void **state)
{
  (void)state;
  char cache[4096], hash[5][R4_HASH_SIZE];
  r4_data_options o;
  char *folder = photos(&o, cache);
  int32_t label[EXAMPLES] = {0};
  r4_data *d = folder_opened(folder, &o),
          *other = r4_data_relabel(d, label, 2, (const char *const[]){"cat", "dog"}, NULL);
  assert_non_null(other);
  r4_data_hash(d, hash[0]);
  r4_data_hash(other, hash[1]);
  r4_data_free(other);
  d->record[0].label ^= 1; /* and of its old group */
  r4_data_hash(d, hash[4]);
  r4_data_free(d);
  for (int k = 2; k < 4; k++) {
    struct column *c = column_new(&floats_column, R4_SHAPE(1), EXAMPLES, NULL);
    for (size_t i = 0; c && i < EXAMPLES; i++) column_write(c, i, &(float){(float)k}, c, i);
    d = folder_opened(folder, &o);
    assert_int_equal(data_add_column(d, "core", c, NULL), R4_OK);
    r4_data_hash(d, hash[k]);
    r4_data_free(d);
  }
  for (int a = 0; a < 5; a++)
    for (int b = 0; b < a; b++) assert_string_not_equal(hash[a], hash[b]);
  folder_remove(folder);
}

/* Nothing is added to a cache that is only read. */
static void only_read(void **state)
{
  (void)state;
  char cache[4096], file[4096], hash[R4_HASH_SIZE];
  r4_data_options o;
  char *folder = photos(&o, cache);
  r4_data_free(folder_opened(folder, &o));
  assert_int_equal(files(cache, ".notes", file), 1);
  assert_int_equal(unlink(file), 0);
  o.cache_only_read = true;
  r4_data *d = folder_opened(folder, &o);
  assert_non_null(data_x(d)->map);
  r4_data_hash(d, hash);
  assert_int_equal(files(cache, ".notes", file), 0);
  r4_data_free(d);
  folder_remove(folder);
}

/* Processes that come at once: one makes the file, which the others find. */
static void several_make_it(void **state)
{
  (void)state;
  enum { PROCESSES = 4 };
  char cache[4096], file[4096];
  struct stat first, last;
  r4_data_options o;
  char *folder = photos(&o, cache);
  pid_t child[PROCESSES];
  for (int k = 0; k < PROCESSES; k++) {
    if ((child[k] = fork())) continue;
    r4_threads(1, false); /* a pool of threads does not survive a fork */
    r4_data *d = r4_data_open(folder, &o, NULL);
    if (!d || !data_x(d)->map || stat(data_x(d)->map->path, &last)) _exit(1);
    _exit((int)(last.st_ino % 251));
  }
  int number = -1, status;
  for (int k = 0; k < PROCESSES; k++) {
    assert_int_equal(waitpid(child[k], &status, 0), child[k]);
    assert_true(WIFEXITED(status));
    assert_int_equal(files(cache, ".images", file), 1);
    assert_int_equal(stat(file, &first), 0);
    number = (int)(first.st_ino % 251);
    assert_int_equal(WEXITSTATUS(status), number); /* nobody has put another file in its place */
  }
  assert_int_equal(files(cache, ".lock", file), 0);
  folder_remove(folder);
}

/* Without room on the disk: the images are in the memory, a note names the file, and nothing is half-made. */
static void no_room(void **state)
{
  (void)state;
  char cache[4096], file[4096];
  struct rlimit before, small;
  r4_data_options o;
  char *folder = photos(&o, cache);
  r4_data_options plain = o;
  plain.cache = NULL;
  r4_data *want = folder_opened(folder, &plain);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlim_t limits[] = {4096 + SIDE * SIDE * 10, 4096 + SIDE * SIDE * EXAMPLES + 100};
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) { /* in the rows, and behind them */
    small = before;
    small.rlim_cur = limits[k];
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    r4_data *d = folder_opened(folder, &o);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r4_data_notes(d), 1);
    const char *note = r4_data_note(d, 0);
    if (strncmp(note, DATA_UNKEPT, strlen(DATA_UNKEPT)) || !strstr(note, "/cache")) fail_msg("%s", note);
    assert_null(data_x(d)->map);
    data_forget_notes(d);
    same_data(d, want);
    r4_data_free(d);
    assert_int_equal(
      files(cache, ".images", file) + files(cache, ".part", file) + files(cache, ".lock", file), 0);
  }
  r4_data_free(want);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(is_mapped),     cmocka_unit_test(oddities_are_kept),
    cmocka_unit_test(hash_is_noted), cmocka_unit_test(other_data_has_another_hash),
    cmocka_unit_test(only_read),     cmocka_unit_test(several_make_it),
    cmocka_unit_test(no_room),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
