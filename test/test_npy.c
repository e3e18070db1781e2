/* Arrays and the npy format: what NumPy writes is read, what we write reads back, and nothing else is accepted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "tensor/escape.h"
#include "tensor/npy.h"

/* A file of version 1, or 2 and 3, with this header and body; *size gets its length. */
static uint8_t *file_of(int version, const char *header, const void *body, size_t body_size, size_t *size)
{
  size_t start = version == 1 ? 10 : 12, length = strlen(header);
  uint8_t *f = calloc(start + length + body_size + 1, 1);
  memcpy(f, "\x93NUMPY", 6);
  f[6] = (uint8_t)version;
  f[8] = (uint8_t)length;
  f[9] = (uint8_t)(length >> 8);
  memcpy(f + start, header, length);
  memcpy(f + start + length, body, body_size);
  *size = start + length + body_size;
  return f;
}

/* The view of these bytes is the array that was read from them, unless it is one of text, or of Fortran's order. */
static void check_view(uint8_t *f, size_t size, const struct array *want)
{
  struct array a;
  bool text = want->type == ARRAY_TEXT, fortran = strstr((char *)f + 10, "': True") != NULL;
  assert_int_equal(npy_view(f, size, "f.npy", &a), !text && (!fortran || want->rank < 2));
  if (!a.data) return;
  assert_int_equal(a.type, want->type);
  assert_int_equal((uintptr_t)a.data % a.width, 0);
  assert_int_equal(array_count(&a), array_count(want));
  if (array_count(&a)) assert_memory_equal(a.data, want->data, (size_t)array_count(&a) * a.width);
}

static r4_status read_header(int version, const char *header, const void *body, size_t body_size,
                             struct array *a, r4_error *e)
{
  size_t size;
  uint8_t *f = file_of(version, header, body, body_size, &size);
  r4_status s = npy_read(f, size, "f.npy", a, e);
  if (!s) check_view(f, size, a);
  free(f);
  return s;
}

#define HEAD(descr, fortran, shape) \
  "{'descr': '" descr "', 'fortran_order': " fortran ", 'shape': " shape ", }\n"

static void reads_types_and_orders(void **state)
{
  (void)state;
  static const struct {
    const char *header, *body;
    size_t size;
    enum array_type type;
    double first, last;
  } cases[] = {
#define CASE(header, body, ...) {header, body, sizeof(body) - 1, __VA_ARGS__}
    CASE(HEAD("|b1", "False", "(3,)"), "\1\0\1", ARRAY_BOOL, 1, 1),
    CASE(HEAD("|u1", "False", "(2,)"), "\xff\3", ARRAY_U8, 255, 3),
    CASE(HEAD("|i1", "False", "(2L,)"), "\xff\3", ARRAY_I8, -1, 3),
    CASE(HEAD("<u2", "False", "(2,)"), "\1\2\3\4", ARRAY_U16, 0x201, 0x403),
    CASE(HEAD(">u2", "False", "(2,)"), "\1\2\3\4", ARRAY_U16, 0x102, 0x304),
    CASE(HEAD("<i2", "False", "(1,)"), "\xfe\xff", ARRAY_I16, -2, -2),
    CASE(HEAD(">u4", "False", "(1,)"), "\1\2\3\4", ARRAY_U32, 0x1020304, 0x1020304),
    CASE(HEAD("<i4", "False", "()"), "\xfe\xff\xff\xff", ARRAY_I32, -2, -2),
    CASE(HEAD("<u8", "False", "(1,)"), "\0\0\0\0\0\0\0\x80", ARRAY_U64, 9223372036854775808.,
         9223372036854775808.),
    CASE(HEAD(">i8", "False", "(1,)"), "\xff\xff\xff\xff\xff\xff\xff\xfd", ARRAY_I64, -3, -3),
    CASE(HEAD("<f2", "False", "(2,)"), "\0\x3e\1\x80", ARRAY_F16, 1.5, -5.9604644775390625e-8),
    CASE(HEAD(">f4", "False", "(1,)"), "\xbf\x40\0\0", ARRAY_F32, -.75, -.75),
    CASE(HEAD("<f8", "False", "(1,)"), "\0\0\0\0\0\0\x04\xc0", ARRAY_F64, -2.5, -2.5),
    CASE("{\"shape\":(1,),\"descr\":\"|u1\",\"fortran_order\":False}", "\7", ARRAY_U8, 7, 7),
#undef CASE
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int version = 1; version <= 3; version++) {
      struct array a;
      r4_error e;
      if (read_header(version, cases[k].header, cases[k].body, cases[k].size, &a, &e))
        fail_msg("%s: %s", cases[k].header, e.text);
      int64_t last = array_count(&a) - 1;
      float f[2];
      array_floats(&a, last, 1, f);
      assert_int_equal(a.type, cases[k].type);
      assert_true(array_number(&a, 0) == cases[k].first && array_number(&a, last) == cases[k].last);
      assert_true(f[0] == (float)cases[k].last);
      array_free(&a);
    }
}

static void half_precision(void **state)
{
  (void)state;
  struct array a;
  r4_error e;
  static const double want[] = {0, 1, -2, 65504, 6.103515625e-05, INFINITY, -INFINITY};
  static const uint16_t bits[] = {0, 0x3c00, 0xc000, 0x7bff, 0x0400, 0x7c00, 0xfc00, 0x7e00};
  assert_int_equal(read_header(1, HEAD("<f2", "False", "(8,)"), bits, sizeof bits, &a, &e), R4_OK);
  for (int i = 0; i < 7; i++) assert_true(array_number(&a, i) == want[i]);
  assert_true(isnan(array_number(&a, 7)));
  array_free(&a);
}

/* a[i][j][k] = 100 i + 10 j + k of shape 2, 3, 4: in Fortran order i runs fastest. */
static void fortran_order(void **state)
{
  (void)state;
  uint8_t body[2 * 24];
  size_t at = 0;
  for (int k = 0; k < 4; k++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 2; i++) {
        body[at++] = 0; /* big-endian as well */
        body[at++] = (uint8_t)(100 * i + 10 * j + k);
      }
  struct array a;
  r4_error e;
  assert_int_equal(read_header(1, HEAD(">u2", "True", "(2, 3, 4)"), body, sizeof body, &a, &e), R4_OK);
  at = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) assert_true(array_number(&a, (int64_t)at++) == 100 * i + 10 * j + k);
  char text[64];
  array_describe(&a, text, sizeof text);
  assert_string_equal(text, "uint16 [2, 3, 4]");
  array_free(&a);
  assert_int_equal(read_header(1, HEAD("<f4", "True", "(2, 0, 4)"), "", 0, &a, &e), R4_OK);
  assert_int_equal(array_count(&a), 0);
  array_free(&a);
}

static void text_becomes_utf8(void **state)
{
  (void)state;
  struct array a;
  r4_error e;
  static const uint32_t wide[] = {'a', 0, 0, 0xe9, 0x20ac, 0x1f600};
  assert_int_equal(read_header(1, HEAD("<U3", "False", "(2,)"), wide, sizeof wide, &a, &e), R4_OK);
  assert_string_equal(array_text(&a, 0), "a");
  assert_string_equal(array_text(&a, 1), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  assert_true(array_number(&a, 0) == 0);
  array_free(&a);
  assert_int_equal(read_header(1, HEAD(">U1", "False", "()"), "\0\0\0z", 4, &a, &e), R4_OK);
  assert_string_equal(array_text(&a, 0), "z");
  array_free(&a);
  assert_int_equal(read_header(1, HEAD("|S3", "False", "(2,)"), "ab\0cde", 6, &a, &e), R4_OK);
  assert_string_equal(array_text(&a, 0), "ab");
  assert_string_equal(array_text(&a, 1), "cde");
  array_free(&a);
  static const uint32_t bad[][2] = {{0, 'a'}, {0x110000, 0}, {0xd800, 0}};
  for (int k = 0; k < 3; k++)
    assert_int_equal(read_header(1, HEAD("<U2", "False", "(1,)"), bad[k], 8, &a, &e), R4_E_PARSE);
}

static void escapes_come_back(void **state)
{
  (void)state;
  char to[4];
  uint32_t code;
  for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 977) {
    size_t n = escape_put(c, to);
    char text[5] = {0};
    memcpy(text, to, n);
    bool surrogate = c >= 0xd800 && c < 0xe000;
    assert_true(surrogate ? n == 0 || (c >= 0xdc80 && c < 0xdd00 && n == 1)
                          : escape_get(text, &code) == n && code == c);
  }
  static const char *const broken[] = {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                       "\xff", "\xe2\x82"};
  for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
    assert_int_equal(escape_get(broken[k], &code), 1);
    assert_int_equal(code, 0xdc00 + (uint8_t)broken[k][0]);
    assert_int_equal(escape_put(code, to), 1);
    assert_true(to[0] == broken[k][0]);
  }
}

static void refuses_bad_headers(void **state)
{
  (void)state;
  static const struct {
    const char *header, *says;
  } bad[] = {
    {HEAD("|O", "False", "(1,)"), "f.npy: byte 20: the array holds Python objects (pickle)"},
    {HEAD("<c8", "False", "(1,)"), "f.npy: byte 20: the type is none of"},
    {HEAD("<f16", "False", "(1,)"), "byte 20: the type"},
    {HEAD("<f3", "False", "(1,)"), "byte 20: the type"},
    {HEAD("|f4", "False", "(1,)"), "byte 20: the type"},
    {HEAD("=f4", "False", "(1,)"), "byte 20: the type"},
    {HEAD("", "False", "(1,)"), "byte 20: the type"},
    {HEAD("<", "False", "(1,)"), "byte 20: the type"},
    {HEAD("<U0", "False", "(1000000000000,)"), "byte 20: the type"},
    {HEAD("<U9999999999", "False", "(1,)"), "byte 20: the type"},
    {HEAD("<M8[ns]", "False", "(1,)"), "byte 20: the type"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "byte 20: a structured type"},
    {HEAD("|u1", "false", "(1,)"), "byte 44: expected True or False"},
    {HEAD("|u1", "False", "(1)"), "byte 62: expected a comma"},
    {HEAD("|u1", "False", "(-1,)"), "byte 61: expected a dimension"},
    {HEAD("|u1", "False", "(1 1)"), "expected a comma"},
    {HEAD("|u1", "False", "[1]"), "byte 60: expected ("},
    {HEAD("|u1", "False", "(1,1,1,1,1,1,1,1,1)"), "more than 8 dimensions"},
    {HEAD("|u1", "False", "(99999999999999999999,)"), "byte 61: a dimension that is too large"},
    {HEAD("|u1", "False", "(4294967296, 4294967296)"), "the shape in the header overflows"},
    {HEAD("|u1", "False", "(0, 4294967296, 4294967296)"), "the shape in the header overflows"},
    {HEAD("<f8", "False", "(1000000000000,)"), "1 bytes of elements, expected 8000000000000"},
    {HEAD("|u1", "False", "()") "x", "expected the end of the header"},
    {"{'descr': '|u1', 'shape': (1,)}", "byte 41: the header ends without"},
    {"{'descr': '|u1', 'descr': '|u1'}", "byte 27: twice the key descr"},
    {"{'color': 1}", "byte 11: an unknown key, color"},
    {"{'descr': '|u1' 'shape': (1,)}", "byte 26: expected a comma or }"},
    {"{'descr': '|u1", "expected '"},
    {"{'descr': '|\\u1'}", "an unknown string"},
    {"[1]", "byte 10: expected {"},
    {"", "byte 10: expected {"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct array a;
    r4_error e = {0};
    assert_int_equal(read_header(1, bad[k].header, "\1", 1, &a, &e), R4_E_PARSE);
    if (!strstr(e.text, bad[k].says))
      fail_msg("%s says \"%s\", expected \"%s\"", bad[k].header, e.text, bad[k].says);
    assert_null(a.data);
  }
}

/* Every file that is shorter or longer than it should be is refused, with the name of the file and a byte. */
static void refuses_truncations(void **state)
{
  (void)state;
  size_t size;
  uint8_t *f = file_of(2, HEAD("<i4", "False", "(2, 2)"), "0123456789abcdef", 16, &size);
  for (size_t n = 0; n < size + 2; n++) {
    struct array a;
    r4_error e = {0};
    uint8_t *cut = calloc(n ? n : 1, 1); /* as long as it is, for the sanitizer */
    memcpy(cut, f, n < size ? n : size);
    r4_status s = npy_read(cut, n, "f.npy", &a, &e);
    assert_int_equal(s, n == size ? R4_OK : R4_E_PARSE);
    if (s && !strstr(e.text, "f.npy: byte ")) fail_msg("%zu bytes: %s", n, e.text);
    array_free(&a);
    free(cut);
  }
  struct array a;
  r4_error e;
  f[7] = 1;
  assert_int_equal(npy_read(f, size, "f.npy", &a, &e), R4_E_PARSE);
  assert_string_equal(e.text, "f.npy: byte 6: an unknown version, expected 1.0, 2.0 or 3.0");
  f[7] = 0;
  f[11] = 0x7f; /* a header of 2 GiB */
  assert_int_equal(npy_read(f, size, "f.npy", &a, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "byte 8: a header of more than 1 MiB"));
  free(f);
  assert_int_equal(read_header(1, HEAD("|b1", "False", "(2,)"), "\1\2", 2, &a, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "bools that are neither 0 nor 1"));
}

static uint8_t *joined(const struct npy *n)
{
  uint8_t *f = malloc(n->head_size + n->body_size + 1);
  memcpy(f, n->head, n->head_size);
  memcpy(f + n->head_size, n->body, n->body_size);
  return f;
}

static void written_arrays_read_back(void **state)
{
  (void)state;
  for (int type = ARRAY_BOOL; type <= ARRAY_TEXT; type++)
    for (int rank = 0; rank <= ARRAY_RANK; rank++) {
      static const int64_t dim[] = {3, 2, 1, 2, 0, 1, 2, 1};
      struct array a, b;
      struct npy n;
      r4_error e;
      assert_int_equal(array_new(&a, (enum array_type)type, 8, rank, dim, &e), R4_OK);
      for (int64_t i = 0; i < array_count(&a); i++)
        if (type == ARRAY_TEXT)
          snprintf((char *)a.data + i * 8, 8, "%s%d", i == 1 ? "\xc3\xa9\xff" : "n", (int)i);
        else
          memset((char *)a.data + (size_t)i * a.width, type == ARRAY_BOOL ? 1 : (int)i + 1, a.width);
      assert_int_equal(npy_encode(&a, &n, &e), R4_OK);
      assert_int_equal(n.head_size % 64, 0);
      uint8_t *f = joined(&n);
      if (npy_read(f, n.head_size + n.body_size, "f.npy", &b, &e)) fail_msg("%s", e.text);
      assert_int_equal(b.type, type);
      assert_int_equal(b.rank, rank);
      assert_memory_equal(a.dim, b.dim, sizeof a.dim);
      for (int64_t i = 0; type == ARRAY_TEXT && i < array_count(&a); i++)
        assert_string_equal(array_text(&a, i), array_text(&b, i));
      if (type != ARRAY_TEXT) assert_memory_equal(a.data, b.data, (size_t)array_count(&a) * a.width);
      free(f);
      npy_free(&n);
      array_free(&a);
      array_free(&b);
    }
}

/* Byte for byte what numpy.save writes. */
static void writes_as_numpy(void **state)
{
  (void)state;
  struct array a;
  struct npy n;
  r4_error e;
  assert_int_equal(array_new(&a, ARRAY_F32, 0, 2, (int64_t[]){60000, 784}, &e), R4_OK);
  assert_int_equal(npy_encode(&a, &n, &e), R4_OK);
  assert_int_equal(n.head_size, 128);
  assert_memory_equal(
    n.head, "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }", 75);
  assert_int_equal(n.head[127], '\n');
  array_free(&a);
  assert_int_equal(array_new(&a, ARRAY_TEXT, 1, 1, (int64_t[]){2}, &e), R4_OK); /* empty ones */
  assert_int_equal(npy_encode(&a, &n, &e), R4_OK);
  assert_non_null(strstr((char *)n.head + 10, "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }"));
  assert_int_equal(n.body_size, 8);
  npy_free(&n);
  array_free(&a);
}

static void survives_failed_allocations(void **state)
{
  (void)state;
  struct array a, text;
  struct npy n;
  r4_error e;
  assert_int_equal(array_new(&text, ARRAY_TEXT, 4, 1, (int64_t[]){2}, &e), R4_OK);
  size_t size;
  uint8_t *f = file_of(1, HEAD(">i2", "True", "(1, 2)"), "\0\1\0\2", 4, &size);
  for (long k = 1; k <= 2; k++) {
    r4_mem_fail_at(k);
    assert_int_equal(npy_read(f, size, "f.npy", &a, &e), R4_E_MEMORY);
    assert_null(a.data);
  }
  r4_mem_fail_at(1);
  assert_int_equal(npy_encode(&text, &n, &e), R4_E_MEMORY);
  r4_mem_fail_at(0);
  assert_int_equal(array_new(&a, ARRAY_F64, 0, 2, (int64_t[]){INT64_MAX / 4, 2}, &e), R4_E_MEMORY);
  assert_non_null(strstr(e.text, "float64 ["));
  array_free(&text);
  free(f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_types_and_orders), cmocka_unit_test(half_precision),
    cmocka_unit_test(fortran_order),          cmocka_unit_test(text_becomes_utf8),
    cmocka_unit_test(escapes_come_back),      cmocka_unit_test(refuses_bad_headers),
    cmocka_unit_test(refuses_truncations),    cmocka_unit_test(written_arrays_read_back),
    cmocka_unit_test(writes_as_numpy),        cmocka_unit_test(survives_failed_allocations),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
