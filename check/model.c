/* SHA-256 (FIPS 180-4), and safetensors: eight bytes of length, a header in JSON, and numbers.
 *
 *     {"__metadata__": {"net": "..", "input": "[28,28,1]", ..},
 *      "0.weight": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..}
 *
 * in this order, without holes; anything else is refused. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t constant[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n)
{
  return x >> n | x << (32 - n);
}

static void block(uint32_t h[8], const uint8_t *p)
{
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++, p += 4) w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(v, h, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25), s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
    uint32_t a = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constant[i] + w[i];
    uint32_t b = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += a;
    v[0] = a + b;
  }
  for (int i = 0; i < 8; i++) h[i] += v[i];
}

void sha256_hex(const uint8_t *data, size_t n, char hex[65])
{
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t tail[128] = {0};
  size_t whole = n / 64 * 64, rest = n - whole, end = rest < 56 ? 64 : 128;
  for (size_t i = 0; i < whole; i += 64) block(h, data + i);
  if (rest) memcpy(tail, data + whole, rest);
  tail[rest] = 0x80;
  for (size_t i = 0; i < 8; i++) tail[end - 1 - i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
  for (size_t i = 0; i < end; i += 64) block(h, tail + i);
  for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

/* ---- JSON ---- */

static char peek(const char **j)
{
  *j += strspn(*j, " \t\n\r");
  return **j;
}

static void expect(const char **j, char c)
{
  if (peek(j) != c) refuse("the model's header has \"%.20s\" where %c is expected", *j, c);
  ++*j;
}

/* Whether a list goes on: before its first element, or behind another. */
static bool more(const char **j, bool first, char end)
{
  if (peek(j) == end && ++*j) return false;
  if (!first) expect(j, ',');
  return true;
}

/* A text; in it, characters beyond ASCII that are written as \u mean nothing here, and become one of no meaning. */
static char *string(const char **j)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  expect(j, '"');
  const char *end = *j;
  while (*end && *end != '"') end += 1 + (*end == '\\' && end[1]);
  char *s = take((size_t)(end - *j) + 1, 1), *known;
  for (size_t n = 0; **j != '"'; ++*j) {
    if ((unsigned char)**j < ' ') refuse("the model's header has a text without an end");
    s[n++] = **j;
    if (**j != '\\') continue;
    if (*++*j == 'u' && strspn(*j + 1, "0123456789abcdefABCDEF") >= 4) *j += 4, s[n - 1] = '\x7f';
    else if (**j && (known = strchr(from, **j))) s[n - 1] = to[known - from];
    else refuse("the model's header has a bad escape");
  }
  ++*j;
  return s;
}

static void key(const char **j, const char *name)
{
  if (strcmp(string(j), name)) refuse("the model's header lacks %s in its place", name);
  expect(j, ':');
}

static int list(const char **j, size_t *to, int most)
{
  int64_t v;
  int n = 0;
  for (expect(j, '['); more(j, !n, ']'); to[n++] = (size_t)v)
    if (n == most || (peek(j), !whole_read(j, (int64_t)1 << 50, &v)))
      refuse("the model's header has a bad list of numbers");
  return n;
}

static void metadata(const char **j, struct model *m)
{
  const char *input = NULL;
  expect(j, '{');
  for (bool first = true; more(j, first, '}'); first = false) {
    char *name = string(j), *text = (expect(j, ':'), string(j));
    if (strcmp(name, "net") && strcmp(name, "input")) continue;
    if (*name == 'n' ? (void *)m->net : (void *)input) refuse("the model says its %s twice", name);
    if (*name == 'n') m->net = text;
    else input = text;
  }
  if (!m->net || !input) refuse("the model does not say its net and its input");
  m->rank = list(&input, m->input, 3);
  if (*input || m->rank == 2 || !m->rank) refuse("the model's input is not [features] or [height,width,channels]");
}

/* ---- Tensors ---- */

static size_t tensor(const char **j, struct tensor *t, size_t begin)
{
  size_t offset[2], n = 4;
  expect(j, '{');
  key(j, "dtype");
  if (strcmp(string(j), "F32")) refuse("tensor %s is not F32", t->name);
  expect(j, ',');
  key(j, "shape");
  t->rank = list(j, t->dim, 4);
  expect(j, ',');
  key(j, "data_offsets");
  int two = list(j, offset, 2);
  expect(j, '}');
  for (int k = 0; k < t->rank; k++)
    if (__builtin_mul_overflow(n, t->dim[k], &n)) refuse("tensor %s is too large", t->name);
  if (two != 2 || offset[0] != begin || offset[1] < begin || offset[1] - begin != n)
    refuse("tensor %s does not begin where the one before ends, or is not of its length", t->name);
  return offset[1];
}

void model_read(struct bytes file, struct model *m)
{
  const uint8_t *data = file.at;
  size_t n = file.n;
  uint64_t length = 0;
  for (int i = 8; i-- && n >= 8;) length = length << 8 | data[i];
  if (n < 8 || length > n - 8) refuse("the model is not safetensors, or cut off");
  char *header = take(length + 1, 1);
  memcpy(header, data + 8, length);
  const char *j = header;
  size_t room = n - 8 - length, end = 0;
  float *all = take(room / 4 + 1, 4);
  memcpy(all, data + 8 + length, room / 4 * 4);
  m->tensor = take(length / 8 + 1, sizeof *m->tensor);
  expect(&j, '{');
  key(&j, "__metadata__");
  for (metadata(&j, m); more(&j, false, '}'); m->tensors++) {
    struct tensor *t = &m->tensor[m->tensors];
    t->name = string(&j);
    expect(&j, ':');
    for (size_t k = 0; k < m->tensors; k++)
      if (!strcmp(m->tensor[k].name, t->name)) refuse("the model has the tensor %s twice", t->name);
    t->at = all + end / 4;
    if ((end = tensor(&j, t, end)) > room) refuse("tensor %s is cut off", t->name);
  }
  if (peek(&j) || (size_t)(j - header) != length || end != room) refuse("the model has something behind its end");
}
