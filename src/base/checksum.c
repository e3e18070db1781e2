#include "base/checksum.h"
#include "r4_tools.h"

#include <string.h>

static const char SUM[] = ",\"sha256\":\"", END[] = "\"}\n";

void checksum_close(struct json_writer *w)
{
  char hex[R4_HASH_SIZE] = "";
  if (!w->text.failed) r4_hash(w->text.s, w->text.length, hex);
  text_add(&w->text, "%s%s\"}", SUM, hex);
}

bool checksum_matches(const char *text, size_t size)
{
  size_t digits = R4_HASH_SIZE - 1, tail = strlen(SUM) + digits + strlen(END);
  char hex[R4_HASH_SIZE];
  if (size < tail) return false;
  const char *at = text + size - tail;
  r4_hash(text, size - tail, hex);
  return !memcmp(at, SUM, strlen(SUM)) && !memcmp(at + strlen(SUM), hex, digits) &&
         !memcmp(at + strlen(SUM) + digits, END, strlen(END));
}
