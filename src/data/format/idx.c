#include "data/format/idx.h"

static r4_status bad(r4_error *e, const char *file, size_t at, const char *what)
{
  return r4_fail(e, R4_E_PARSE, "%s: byte %zu: %s", file, at, what);
}

static bool type_of(uint8_t code, enum array_type *type)
{
  static const struct {
    uint8_t code;
    enum array_type type;
  } known[] = {{0x08, ARRAY_U8},  {0x09, ARRAY_I8},  {0x0B, ARRAY_I16},
               {0x0C, ARRAY_I32}, {0x0D, ARRAY_F32}, {0x0E, ARRAY_F64}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (known[k].code != code) continue;
    *type = known[k].type;
    return true;
  }
  return false;
}

r4_status idx_parse(const uint8_t *bytes, size_t size, const char *file, struct idx *x, r4_error *e)
{
  *x = (struct idx){0};
  if (size < 4) return bad(e, file, size, "the file ends in its first four bytes");
  if (bytes[0] || bytes[1]) return bad(e, file, 0, "not an idx file, which begins with two zero bytes");
  if (!type_of(bytes[2], &x->type))
    return bad(e, file, 2, "an unknown type, expected 8, 9, 11, 12, 13 or 14");
  x->rank = bytes[3];
  if (x->rank < 1 || x->rank > ARRAY_RANK) return bad(e, file, 3, "expected 1 to 8 dimensions");
  x->offset = 4 + 4 * (size_t)x->rank;
  if (size < x->offset) return bad(e, file, size, "the file ends in its dimensions");
  size_t wanted = array_width(x->type);
  for (int k = 0; k < x->rank; k++) {
    const uint8_t *at = bytes + 4 + 4 * k;
    x->dim[k] = (int64_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
    if (__builtin_mul_overflow(wanted, (size_t)x->dim[k], &wanted))
      return bad(e, file, 4 + 4 * (size_t)k, "the dimensions overflow");
  }
  size_t there = size - x->offset;
  x->data = bytes + x->offset;
  if (there == wanted) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s: byte %zu: %zu bytes of elements, expected %zu", file,
                 x->offset + (there < wanted ? there : wanted), there, wanted);
}
