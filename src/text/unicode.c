#include "text/unicode.h"

#include <utf8proc.h>

/* Where tables differ, what tokenizers has: characters that came after Unicode 8 are plain there, and so on. */
enum difference { NONE, MARK, PUNCTUATION, REMOVED, PLAIN, WHOLE, STARTER, LOWER };

struct range {
  uint32_t first, last;
  enum difference is;
  int32_t step; /* to the lower case */
};

static const struct range later[] = {
#define MARK(first, last) {first, last, MARK, 0},
#define PUNCTUATION(first, last) {first, last, PUNCTUATION, 0},
#define REMOVED(first, last) {first, last, REMOVED, 0},
#define PLAIN(first, last) {first, last, PLAIN, 0},
#define WHOLE(first, last) {first, last, WHOLE, 0},
#define STARTER(first, last) {first, last, STARTER, 0},
#define LOWER(first, last, step) {first, last, LOWER, step},
#include "text/unicode_differences.def"
#undef MARK
#undef PUNCTUATION
#undef REMOVED
#undef PLAIN
#undef WHOLE
#undef STARTER
#undef LOWER
};

/* The entry of this kind, or of any of those up to a kind, that holds c. */
static const struct range *find(uint32_t c, enum difference from, enum difference to)
{
  for (size_t k = 0; k < sizeof later / sizeof *later; k++)
    if (c >= later[k].first && c <= later[k].last && later[k].is >= from && later[k].is <= to)
      return &later[k];
  return NULL;
}

static enum unicode_class class_of_category(utf8proc_category_t category)
{
  switch (category) {
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CO:
    return UNICODE_REMOVED;
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return UNICODE_SPACE;
  case UTF8PROC_CATEGORY_MN:
    return UNICODE_MARK;
  case UTF8PROC_CATEGORY_PC:
  case UTF8PROC_CATEGORY_PD:
  case UTF8PROC_CATEGORY_PS:
  case UTF8PROC_CATEGORY_PE:
  case UTF8PROC_CATEGORY_PI:
  case UTF8PROC_CATEGORY_PF:
  case UTF8PROC_CATEGORY_PO:
    return UNICODE_PUNCTUATION;
  default:
    return UNICODE_PLAIN;
  }
}

/* Tab, line feed and carriage return are controls by category; of the signs of ASCII, some are symbols. */
static enum unicode_class class_of_ascii(uint32_t c)
{
  if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return UNICODE_SPACE;
  if (c < ' ' || c == 127) return UNICODE_REMOVED;
  uint32_t letter = c | 0x20;
  return (c >= '0' && c <= '9') || (letter >= 'a' && letter <= 'z') ? UNICODE_PLAIN : UNICODE_PUNCTUATION;
}

enum unicode_class unicode_class(uint32_t c)
{
  static const enum unicode_class of[] = {[MARK] = UNICODE_MARK,
                                          [PUNCTUATION] = UNICODE_PUNCTUATION,
                                          [REMOVED] = UNICODE_REMOVED,
                                          [PLAIN] = UNICODE_PLAIN};
  if (c < 128) return class_of_ascii(c);
  if (c == 0xfffd) return UNICODE_REMOVED;
  enum unicode_class usual = class_of_category(utf8proc_category((utf8proc_int32_t)c));
  const struct range *other = find(c, MARK, PLAIN);
  return other ? of[other->is] : usual;
}

int unicode_is_cjk(uint32_t c)
{
  static const uint32_t block[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                      {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  for (size_t k = 0; k < sizeof block / sizeof *block; k++)
    if (c >= block[k][0] && c <= block[k][1]) return 1;
  return 0;
}

size_t unicode_decompose(uint32_t c, uint32_t to[UNICODE_PARTS])
{
  utf8proc_int32_t part[UNICODE_PARTS];
  int class_at_bound = 0;
  utf8proc_ssize_t n = 1;
  if (find(c, WHOLE, WHOLE))
    part[0] = (utf8proc_int32_t)c;
  else
    n = utf8proc_decompose_char((utf8proc_int32_t)c, part, UNICODE_PARTS,
                                UTF8PROC_DECOMPOSE | UTF8PROC_STABLE, &class_at_bound);
  if (n < 1 || n > UNICODE_PARTS) part[0] = (utf8proc_int32_t)c, n = 1;
  for (utf8proc_ssize_t k = 0; k < n; k++) to[k] = (uint32_t)part[k];
  return (size_t)n;
}

int unicode_order(uint32_t c)
{
  int order = utf8proc_get_property((utf8proc_int32_t)c)->combining_class;
  return order && find(c, STARTER, STARTER) ? 0 : order;
}

size_t unicode_lower(uint32_t c, uint32_t to[2])
{
  const struct range *other = find(c, LOWER, LOWER);
  to[0] = other ? (uint32_t)((int64_t)c + other->step) : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
  to[1] = 0x0307; /* of a capital I with a dot, an i and the dot */
  if (c == 0x0130) to[0] = 'i';
  return c == 0x0130 ? 2 : 1;
}
