/* idx files, plain and gzipped, and folders of four of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "data/data.h"
#include "data/format/gzip.h"
#include "data/format/idx.h"

/* ---- Files of two and one images of 2 x 3 pixels ---- */

#define IMAGES2 "\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl"
#define LABELS2 "\0\0\x08\1\0\0\0\2\7\1"
#define IMAGES1 "\0\0\x08\3\0\0\0\1\0\0\0\2\0\0\0\3mnopqr"
#define LABELS1 "\0\0\x08\1\0\0\0\1\x09"

/* IMAGES2 as gzip -n writes it. */
static const uint8_t images2_gz[] = {0x1f, 0x8b, 0x08, 0,    0,    0,    0,    0,    0,    0x03, 0x63,
                                     0x60, 0xe0, 0x60, 0x66, 0x60, 0x60, 0x60, 0x82, 0x62, 0xe6, 0xc4,
                                     0xa4, 0xe4, 0x94, 0xd4, 0xb4, 0xf4, 0x8c, 0xcc, 0xac, 0xec, 0x1c,
                                     0,    0x39, 0xcc, 0x2b, 0xe0, 0x1c, 0,    0,    0};

struct files {
  char folder[64], path[4][128];
};

static const char *const names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                     "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"};

static void put(const char *path, const void *bytes, size_t size)
{
  r4_error e;
  if (file_write(path, bytes, size, &e)) fail_msg("%s", e.text);
}

static void make_files(struct files *f, const char *name)
{
  char folder[64];
  snprintf(folder, sizeof folder, "/tmp/r4-test-%s-XXXXXX", name);
  assert_non_null(mkdtemp(folder));
  memcpy(f->folder, folder, sizeof folder);
  for (int k = 0; k < 4; k++) snprintf(f->path[k], sizeof f->path[k], "%s/%s", folder, names[k]);
  put(f->path[0], IMAGES2, sizeof IMAGES2 - 1);
  put(f->path[1], LABELS2, sizeof LABELS2 - 1);
  put(f->path[2], IMAGES1, sizeof IMAGES1 - 1);
  put(f->path[3], LABELS1, sizeof LABELS1 - 1);
}

static void remove_files(struct files *f)
{
  for (int k = 0; k < 4; k++) unlink(f->path[k]);
  assert_int_equal(rmdir(f->folder), 0);
}

/* ---- One file ---- */

static void parses_every_type(void **state)
{
  (void)state;
  static const struct {
    uint8_t code, width;
    enum array_type type;
  } types[] = {{8, 1, ARRAY_U8},   {9, 1, ARRAY_I8},   {11, 2, ARRAY_I16},
               {12, 4, ARRAY_I32}, {13, 4, ARRAY_F32}, {14, 8, ARRAY_F64}};
  for (size_t k = 0; k < 6; k++) {
    uint8_t file[8 + 3 * 8] = {0, 0, types[k].code, 1, 0, 0, 0, 3};
    struct idx x;
    r4_error e;
    assert_int_equal(idx_parse(file, 8 + 3u * types[k].width, "f", &x, &e), R4_OK);
    assert_true(x.type == types[k].type && x.rank == 1 && x.dim[0] == 3 && x.data == file + 8 &&
                x.offset == 8);
  }
}

static void dimensions_have_the_highest_byte_first(void **state)
{
  (void)state;
  enum { N = 0x010203 };
  uint8_t *file = calloc(8 + N, 1);
  struct idx x;
  r4_error e;
  memcpy(file, "\0\0\x08\1\0\1\2\3", 8);
  assert_int_equal(idx_parse(file, 8 + N, "f", &x, &e), R4_OK);
  assert_int_equal(x.dim[0], N);
  free(file);
}

/* Every prefix, and one byte too many, is refused with file and byte. */
static void refuses_other_lengths(void **state)
{
  (void)state;
  struct idx x;
  r4_error e = {0};
  for (size_t n = 0; n <= sizeof IMAGES2; n++) {
    uint8_t *cut = calloc(n ? n : 1, 1);
    memcpy(cut, IMAGES2, n < sizeof IMAGES2 ? n : sizeof IMAGES2);
    r4_status s = idx_parse(cut, n, "f", &x, &e);
    assert_int_equal(s, n == sizeof IMAGES2 - 1 ? R4_OK : R4_E_PARSE);
    if (s && strncmp(e.text, "f: byte ", 8)) fail_msg("%zu bytes: %s", n, e.text);
    free(cut);
  }
  assert_string_equal(e.text, "f: byte 28: 13 bytes of elements, expected 12");
}

static void refuses_bad_heads(void **state)
{
  (void)state;
  static const struct {
    const char bytes[40], *says;
  } bad[] = {
    {"\1\0\x08\1\0\0\0\1", "f: byte 0: not an idx file"},
    {"\0\0\x0a\1\0\0\0\1", "f: byte 2: an unknown type"},
    {"\0\0\x08\0\0\0\0\1", "f: byte 3: expected 1 to 8 dimensions"},
    {"\0\0\x08\x09\0\0\0\1", "f: byte 3: expected 1 to 8 dimensions"},
    {"\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "f: byte 12: the dimensions overflow"},
    {"\0\0\x08\1\xff\xff\xff\xff", "f: byte 40: 32 bytes of elements, expected 4294967295"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct idx x;
    r4_error e = {0};
    assert_int_equal(idx_parse((const uint8_t *)bad[k].bytes, 40, "f", &x, &e), R4_E_PARSE);
    if (!strstr(e.text, bad[k].says)) fail_msg("says \"%s\", expected \"%s\"", e.text, bad[k].says);
  }
}

static void gzip_is_checked(void **state)
{
  (void)state;
  uint8_t *content = NULL, bytes[sizeof images2_gz + 1];
  size_t size = 0;
  r4_error e;
  assert_true(gzip_is(images2_gz, sizeof images2_gz));
  if (gzip_read(images2_gz, sizeof images2_gz, "f.gz", &content, &size, &e)) fail_msg("%s", e.text);
  assert_int_equal(size, sizeof IMAGES2 - 1);
  assert_memory_equal(content, IMAGES2, size);
  r4_mem_free(content);
  for (size_t n = 0; n <= sizeof bytes; n++) { /* every length but the right one */
    if (n == sizeof images2_gz) continue;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, images2_gz, n < sizeof images2_gz ? n : sizeof images2_gz);
    uint8_t *cut = malloc(n ? n : 1);
    memcpy(cut, bytes, n);
    assert_int_equal(gzip_read(cut, n, "f.gz", &content, &size, &e), R4_E_PARSE);
    if (strncmp(e.text, "f.gz: byte ", 11)) fail_msg("%zu bytes: %s", n, e.text);
    free(cut);
  }
  for (size_t k = 10; k < sizeof images2_gz; k++) { /* any byte of the data, the checksum, the length */
    memcpy(bytes, images2_gz, sizeof images2_gz);
    bytes[k] ^= 0x10;
    assert_int_equal(gzip_read(bytes, sizeof images2_gz, "f.gz", &content, &size, &e), R4_E_PARSE);
  }
  assert_string_equal(e.text, "f.gz: byte 38: claims 268435484 bytes in 42, more than deflate can hold");
  uint8_t more[sizeof images2_gz + 4] = {0}; /* again the length, where a longer file would have it */
  memcpy(more, images2_gz, sizeof images2_gz);
  more[sizeof images2_gz] = sizeof IMAGES2 - 1;
  assert_int_equal(gzip_read(more, sizeof more, "f.gz", &content, &size, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "4 bytes after the end"));
  r4_mem_fail_at(1);
  assert_int_equal(gzip_read(images2_gz, sizeof images2_gz, "f.gz", &content, &size, &e), R4_E_MEMORY);
  r4_mem_fail_at(0);
}

/* ---- Folders ---- */

static void opens_folders(void **state)
{
  (void)state;
  struct files f;
  make_files(&f, "idx");
  r4_error e;
  r4_data *d = r4_data_open(f.folder, NULL, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_count(d), 3);
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(2, 3, 1)));
  assert_int_equal(r4_data_example(d, 0).label, 7);
  assert_int_equal(r4_data_example(d, 2).label, 9);
  assert_int_equal(r4_data_example(d, 1).split, R4_TRAIN);
  assert_int_equal(r4_data_example(d, 2).split, R4_TEST);
  assert_memory_equal(data_x(d)->data, "abcdefghijklmnopqr", 18);
  assert_string_equal(r4_data_class_name(d, 9), "9");
  char plain[R4_HASH_SIZE], zipped[R4_HASH_SIZE];
  r4_data_hash(d, plain);
  r4_data_free(d);
  unlink(f.path[0]);
  strncat(f.path[0], ".gz", sizeof f.path[0] - strlen(f.path[0]) - 1);
  put(f.path[0], images2_gz, sizeof images2_gz);
  d = r4_data_open(f.folder, NULL, &e);
  if (!d) fail_msg("%s", e.text);
  r4_data_hash(d, zipped);
  assert_string_equal(plain, zipped);
  r4_data_free(d);
  remove_files(&f);
}

/* What is in the files decides, and not what the folder is called. */
static void does_not_guess_fashion(void **state)
{
  (void)state;
  struct files f;
  make_files(&f, "Fashion");
  strncat(f.folder, "//", 3);
  r4_data *d = r4_data_open(f.folder, NULL, NULL);
  assert_non_null(d);
  assert_string_equal(r4_data_class_name(d, 0), "0");
  assert_string_equal(r4_data_class_name(d, 9), "9");
  r4_data_free(d);
  remove_files(&f);
}

static void refuses_files_that_do_not_fit(void **state)
{
  (void)state;
  static const struct {
    int file;
    const char *bytes;
    size_t size;
    const char *says;
  } bad[] = {
#define BAD(file, bytes, says) {file, bytes, sizeof(bytes) - 1, says}
    BAD(1, LABELS1, "2 images, but"),
    BAD(3, "\0\0\x08\1\0\0\0\1\x0a", "byte 8: label 10, expected 0 to 9"),
    BAD(2, "\0\0\x08\3\0\0\0\1\0\0\0\3\0\0\0\2mnopqr", "2 x 3 pixels"),
    BAD(2, "\0\0\x09\3\0\0\0\1\0\0\0\2\0\0\0\3mnopqr", "byte 2: type 9 with 3 dimensions, expected type 8"),
    BAD(0, LABELS2, "type 8 with 1 dimensions, expected type 8 (uint8) with 3"),
    BAD(3, LABELS2 "x", "byte 10: 3 bytes of elements, expected 2"),
#undef BAD
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct files f;
    r4_error e = {0};
    make_files(&f, "bad");
    put(f.path[bad[k].file], bad[k].bytes, bad[k].size);
    assert_null(r4_data_open(f.folder, NULL, &e));
    if (!strstr(e.text, bad[k].says) || !strstr(e.text, names[bad[k].file]))
      fail_msg("\"%s\", expected \"%s\" and %s", e.text, bad[k].says, names[bad[k].file]);
    unlink(f.path[3]);
    put(f.path[bad[k].file], LABELS2, sizeof LABELS2 - 1);
    assert_null(r4_data_open(f.folder, NULL, &e)); /* one is missing, or in the place of another */
    remove_files(&f);
  }
}

static void survives_failed_allocations(void **state)
{
  (void)state;
  struct files f;
  make_files(&f, "memory");
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_data *d = r4_data_open(f.folder, NULL, &e);
    bool done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    assert_true((d != NULL) == done);
    if (!done && e.status != R4_E_MEMORY) fail_msg("%ld: %s", n, e.text);
    r4_data_free(d);
    if (done) break;
  }
  remove_files(&f);
}

/* ---- The real ones ---- */

static void real_mnist(void **state)
{
  (void)state;
  static const int want[2][10] = {{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                                  {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}};
  CHECK_NEEDS_DATA("mnist");
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  r4_error e;
  r4_data *d = r4_data_open(check_data("mnist"), NULL, &e);
  if (!d) fail_msg("%s", e.text);
  clock_gettime(CLOCK_MONOTONIC, &end);
  print_message("# read in %.3f s\n",
                (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
  int count[2][10] = {{0}};
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    assert_int_equal(x.split, i < 60000 ? R4_TRAIN : R4_TEST);
    count[x.split == R4_TEST][x.label]++;
  }
  assert_int_equal(r4_data_count(d), 70000);
  assert_memory_equal(count, want, sizeof want);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parses_every_type),
    cmocka_unit_test(dimensions_have_the_highest_byte_first),
    cmocka_unit_test(refuses_other_lengths),
    cmocka_unit_test(refuses_bad_heads),
    cmocka_unit_test(gzip_is_checked),
    cmocka_unit_test(opens_folders),
    cmocka_unit_test(does_not_guess_fashion),
    cmocka_unit_test(refuses_files_that_do_not_fit),
    cmocka_unit_test(survives_failed_allocations),
    cmocka_unit_test(real_mnist),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("idx", tests, NULL, NULL);
}
