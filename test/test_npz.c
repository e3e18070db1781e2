/* npz archives: what is written reads back, and an archive that lies, is cut or is damaged is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tensor/npz.h"

static char path[64]; /* of an archive */

static int make_folder(void **state)
{
  int failed = scratch_make(state);
  snprintf(path, sizeof path, "%s", scratch_path("a.npz"));
  return failed;
}

/* An archive with "a", stored, 3 bytes, and "b", deflated, 1000 floats; in memory. */
static uint8_t *archive(size_t *size)
{
  struct npz_entry entry[2] = {{.key = "a", .level = 0}, {.key = "b", .level = 6}};
  r4_error e;
  uint8_t *bytes = NULL;
  assert_int_equal(array_new(&entry[0].array, ARRAY_U8, 0, 1, (int64_t[]){3}, &e), R4_OK);
  assert_int_equal(array_new(&entry[1].array, ARRAY_F32, 0, 2, (int64_t[]){10, 100}, &e), R4_OK);
  memcpy(entry[0].array.data, "xyz", 3);
  for (int k = 0; k < 1000; k++) ((float *)entry[1].array.data)[k] = (float)(k / 7);
  if (npz_write(path, 2, entry, &e)) fail_msg("%s", e.text);
  assert_int_equal(file_read(path, 1 << 20, &bytes, size, &e), R4_OK);
  for (int k = 0; k < 2; k++) array_free(&entry[k].array);
  return bytes;
}

/* Reads one array of an archive in memory. */
static r4_status read_one(const uint8_t *bytes, size_t size, const char *key, struct array *a, r4_error *e)
{
  struct npz *z = npz_open_bytes(bytes, size, "f.npz", e);
  *a = (struct array){0};
  if (!z) return e->status;
  r4_status s = npz_read(z, key, a, e);
  npz_close(z);
  return s;
}

/* The entry of member k in the list at the end of the archive. */
static uint8_t *listed(uint8_t *bytes, size_t size, int k)
{
  for (size_t i = 0; i + 4 < size; i++)
    if (!memcmp(bytes + i, "PK\1\2", 4) && !k--) return bytes + i;
  fail_msg("no such member");
  return NULL;
}

static void reads_what_it_wrote(void **state)
{
  (void)state;
  r4_error e;
  size_t size, again;
  uint8_t *bytes = archive(&size), *same = archive(&again);
  assert_int_equal(size, again);
  assert_memory_equal(bytes, same, size);
  assert_memory_equal(listed(bytes, size, 1) + 12, "\0\0\x21\0", 4); /* no time but 1980-01-01 */
  assert_true(size < 2500);
  struct npz *z = npz_open(path, &e);
  if (!z) fail_msg("%s", e.text);
  assert_int_equal(npz_count(z), 2);
  assert_string_equal(npz_name(z, 1), "b.npy");
  assert_true(npz_has(z, "a") && npz_has(z, "b.npy") && !npz_has(z, "c"));
  struct array a;
  assert_int_equal(npz_read(z, "b", &a, &e), R4_OK);
  assert_true(a.type == ARRAY_F32 && a.rank == 2 && a.dim[1] == 100 && array_number(&a, 999) == 142);
  array_free(&a);
  assert_int_equal(npz_read(z, "a", &a, &e), R4_OK);
  assert_memory_equal(a.data, "xyz", 3);
  array_free(&a);
  assert_int_equal(npz_read(z, "c", &a, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "has no array \"c\""));
  npz_close(z);
  r4_mem_free(bytes);
  r4_mem_free(same);
}

static void says_what_cannot_be_opened(void **state)
{
  (void)state;
  r4_error e;
  assert_null(npz_open("/nonexistent/a.npz", &e));
  assert_int_equal(e.status, R4_E_IO);
  assert_non_null(strstr(e.text, "/nonexistent/a.npz: "));
  assert_null(npz_open("/tmp", &e));
  assert_null(npz_open_bytes((const uint8_t *)"nonsense", 8, "f.npz", &e));
  assert_string_equal(e.text, "f.npz: Not a zip archive");
  uint8_t zero = 0;
  struct npz_entry scalar = {"s", {.type = ARRAY_U8, .width = 1, .data = &zero}, 0};
  assert_int_equal(npz_write("/nonexistent/a.npz", 1, &scalar, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "/nonexistent/a.npz: cannot be written"));
}

static void refuses_truncations(void **state)
{
  (void)state;
  size_t size;
  uint8_t *bytes = archive(&size);
  for (size_t n = 0; n < size; n++) {
    struct array a;
    r4_error e = {0};
    uint8_t *cut = malloc(n ? n : 1);
    memcpy(cut, bytes, n);
    assert_int_equal(read_one(cut, n, "a", &a, &e), R4_E_PARSE);
    assert_memory_equal(e.text, "f.npz: ", 7);
    free(cut);
  }
  r4_mem_free(bytes);
}

/* A flipped bit is found: by the checksum, with the name of the member, or before. */
static void finds_damage(void **state)
{
  (void)state;
  size_t size, by_sum = 0;
  uint8_t *bytes = archive(&size);
  struct array good, a;
  r4_error e;
  assert_int_equal(read_one(bytes, size, "b", &good, &e), R4_OK);
  for (size_t k = 0; k < size; k++) {
    bytes[k] ^= 0x20;
    if (read_one(bytes, size, "b", &a, &e))
      by_sum += strstr(e.text, "f.npz: b.npy: CRC error") != NULL;
    else
      assert_memory_equal(a.data, good.data, 4000); /* it was in a, or in what does not matter */
    array_free(&a);
    bytes[k] ^= 0x20;
  }
  assert_true(by_sum > 10);
  array_free(&good);
  r4_mem_free(bytes);
}

static void refuses_lies(void **state)
{
  (void)state;
  static const struct {
    int member, offset;
    uint8_t value;
    const char *says;
  } lie[] = {
    {1, 27, 0x7f, "f.npz: b.npy: claims 21"},             /* an uncompressed size of 2 GB */
    {1, 23, 0x7f, "of the archive, which has"},           /* a compressed size of 2 GB */
    {0, 24, 1, "f.npz: a.npy: claims 129 bytes in 131"},  /* stored, of two sizes */
    {1, 8, 1, "f.npz: b.npy: encrypted"},                 /* the flag of encryption */
    {1, 10, 12, "f.npz: b.npy: compressed by method 12"}, /* bzip2 */
  };
  size_t size;
  for (size_t k = 0; k < sizeof lie / sizeof *lie; k++) {
    uint8_t *bytes = archive(&size);
    uint8_t *at = listed(bytes, size, lie[k].member) + lie[k].offset;
    *at = lie[k].offset == 24 ? (uint8_t)(*at - 2) : lie[k].value;
    struct array a;
    r4_error e = {0};
    assert_int_equal(read_one(bytes, size, lie[k].member ? "b" : "a", &a, &e), R4_E_PARSE);
    if (!strstr(e.text, lie[k].says)) fail_msg("says \"%s\", expected \"%s\"", e.text, lie[k].says);
    r4_mem_free(bytes);
  }
}

static void survives_failed_allocations(void **state)
{
  (void)state;
  size_t size;
  uint8_t *bytes = archive(&size);
  bool done = false;
  for (long n = 1; !done; n++) {
    struct array a;
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status s = read_one(bytes, size, "b", &a, &e);
    done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    assert_int_equal(s, done ? R4_OK : R4_E_MEMORY);
    array_free(&a);
  }
  done = false;
  for (long n = 1; !done; n++) {
    struct array text;
    r4_error e = {0};
    assert_int_equal(array_new(&text, ARRAY_TEXT, 2, 1, (int64_t[]){2}, &e), R4_OK);
    struct npz_entry entry = {"t", text, 1};
    r4_mem_fail_at(n);
    r4_status s = npz_write(path, 1, &entry, &e);
    done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    if (s && (done || s != R4_E_MEMORY)) fail_msg("%ld: %s", n, e.text);
    array_free(&text);
  }
  r4_mem_free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_what_it_wrote), cmocka_unit_test(says_what_cannot_be_opened),
    cmocka_unit_test(refuses_truncations), cmocka_unit_test(finds_damage),
    cmocka_unit_test(refuses_lies),        cmocka_unit_test(survives_failed_allocations),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("npz", tests, make_folder, scratch_remove);
}
