/* Arrays of a npz file: a zip archive of npy files, stored or deflated. zlib unpacks and sums up; the sizes and sums
 * are those of the archive's directory, and everything must fit. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

struct entry {
  const uint8_t *at; /* packed */
  size_t packed, size;
  uint32_t sum;
  unsigned method;
};

static size_t little(const uint8_t *p, int bytes)
{
  size_t v = 0;
  for (int i = bytes; i--;) v = v << 8 | p[i];
  return v;
}

/* The directory ends with 22 bytes that say where it is; a comment may follow, of the length that they say. */
static const uint8_t *find_end(const uint8_t *data, size_t n)
{
  for (size_t comment = 0; comment < 65536 && comment + 22 <= n; comment++) {
    const uint8_t *p = data + n - 22 - comment;
    if (!memcmp(p, "PK\5\6", 4) && little(p + 20, 2) == comment) return p;
  }
  refuse("the data file is not a zip archive");
}

/* The entry NAME.npy of the directory, which occurs at most once. */
static bool find_entry(const uint8_t *data, size_t n, const char *name, struct entry *e)
{
  const uint8_t *end = find_end(data, n);
  size_t count = little(end + 10, 2), at = little(end + 16, 4), last = (size_t)(end - data), length = strlen(name);
  bool found = false;
  for (size_t k = 0; k < count; k++) {
    const uint8_t *p = data + at;
    if (at > last || last - at < 46 || memcmp(p, "PK\1\2", 4)) refuse("the directory of the data file is damaged");
    size_t named = little(p + 28, 2), more = named + little(p + 30, 2) + little(p + 32, 2), local = little(p + 42, 4);
    if (last - at - 46 < more) refuse("the directory of the data file is damaged");
    at += 46 + more;
    if (named != length + 4 || memcmp(p + 46, name, length) || memcmp(p + 46 + length, ".npy", 4)) continue;
    if (found) refuse("the data file has %s twice", name);
    found = true;
    *e = (struct entry){.packed = little(p + 20, 4), .size = little(p + 24, 4), .sum = (uint32_t)little(p + 16, 4)};
    e->method = (unsigned)little(p + 10, 2);
    if (little(p + 8, 2) & 1 || (e->method != 0 && e->method != 8))
      refuse("%s is encrypted or packed unusually", name);
    if (e->packed == UINT32_MAX || e->size == UINT32_MAX || local == UINT32_MAX) refuse("%s has 4 GB or more", name);
    const uint8_t *q = data + local;
    if (local > last || last - local < 30 + named || memcmp(q, "PK\3\4", 4) || memcmp(q + 30, p + 46, named))
      refuse("%s is not in its place", name);
    local += 30 + little(q + 26, 2) + little(q + 28, 2);
    if (local > last || last - local < e->packed) refuse("%s is cut off", name);
    e->at = data + local;
  }
  return found;
}

static const uint8_t *unpack(const struct entry *e, const char *name)
{
  uint8_t *to = take(e->size + 1, 1);
  if (e->method == 0) {
    if (e->packed != e->size) refuse("%s: sizes differ", name);
    if (e->size) memcpy(to, e->at, e->size);
  } else {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)e->at, .avail_in = (uInt)e->packed};
    z.next_out = to, z.avail_out = (uInt)e->size;
    bool fine = inflateInit2(&z, -15) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == e->size;
    inflateEnd(&z);
    if (!fine) refuse("%s cannot be unpacked", name);
  }
  if (crc32(0, to, (uInt)e->size) != e->sum) refuse("%s does not have its checksum", name);
  return to;
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } as NumPy writes it, and spaces */
static void read_header(const char *text, struct array *a, const char *name)
{
  char type[4];
  int n = 0, used = 0;
  if (sscanf(text, "{'descr': '%3[a-z0-9<|]', 'fortran_order': False, 'shape': (%n", type, &n) != 1 || !n)
    refuse("%s: not a header of an array in C order", name);
  a->type = !strcmp(type, "<f4") ? 'f' : !strcmp(type, "|u1") ? 'u' : !strcmp(type, "<i8") ? 'i' : 0;
  if (!a->type) refuse("%s is of type %s, expected <f4, |u1 or <i8", name, type);
  for (const char *s = text + n;; s += used) {
    int64_t v;
    if (*s == ')' && !s[1 + strspn(s + 1, ", }\n")]) break;
    if (!whole_read(&s, (int64_t)1 << 40, &v) || a->rank == 4)
      refuse("%s: its shape is not up to four numbers", name);
    a->dim[a->rank++] = (size_t)v;
    used = *s == ',' ? 1 + (s[1] == ' ') : 0;
    if (!used && *s != ')') refuse("%s: its shape is not understood", name);
  }
}

struct array array_read(struct bytes file, const char *name)
{
  struct entry e = {0};
  struct array a = {0};
  if (!find_entry(file.at, file.n, name, &e)) return a;
  const uint8_t *p = unpack(&e, name);
  size_t begin = e.size >= 12 && p[6] == 1 ? 10 : 12, length = e.size >= 12 ? little(p + 8, begin == 10 ? 2 : 4) : 0;
  if (e.size < 12 || memcmp(p, "\x93NUMPY", 6) || p[6] < 1 || p[6] > 3 || e.size - begin < length || length > 4096)
    refuse("%s is not an array of NumPy", name);
  char text[4097] = "";
  memcpy(text, p + begin, length);
  read_header(text, &a, name);
  a.at = p + begin + length;
  a.n = 1;
  for (int k = 0; k < a.rank; k++)
    if (__builtin_mul_overflow(a.n, a.dim[k], &a.n)) refuse("%s is too large", name);
  size_t width = a.type == 'f' ? 4 : a.type == 'u' ? 1 : 8;
  if (a.n > e.size / width || a.n * width != e.size - begin - length)
    refuse("%s does not have the bytes of its shape", name);
  return a;
}

double array_real(const struct array *a, size_t k)
{
  float f;
  if (a->type == 'u') return a->at[k];
  memcpy(&f, a->at + 4 * k, sizeof f);
  return f;
}

int64_t array_whole(const struct array *a, size_t k)
{
  int64_t v;
  memcpy(&v, a->at + 8 * k, sizeof v);
  return v;
}
