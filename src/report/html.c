#include "report/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/hash.h"
#include "base/mem.h"

/* ---- Text ---- */

static const char *reference(char c)
{
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  default:
    return NULL;
  }
}

static void add_escaped(struct text *t, const char *s)
{
  while (*s) {
    size_t plain = strcspn(s, "&<>\"'");
    text_add(t, "%.*s", (int)plain, s);
    s += plain;
    if (*s) text_add(t, "%s", reference(*s++));
  }
}

/* Controls and what is not UTF-8 become visible first. */
static void add_text(struct text *t, const char *s)
{
  if (!s) return;
  size_t n = r4_text_printable(s, NULL, 0);
  char *safe = r4_mem_new(n + 1, 1);
  t->failed |= !safe;
  if (!safe) return;
  r4_text_printable(s, safe, n + 1);
  add_escaped(t, safe);
  r4_mem_free(safe);
}

/* ---- Formats ---- */

/* One conversion, from % to its letter, and its argument. */
static void add_argument(struct text *t, const char *spec, va_list *args)
{
  char last = spec[strlen(spec) - 1];
  if (last == '%') text_add(t, "%%");
  if (last == 's') add_text(t, va_arg(*args, const char *));
  if (last == 'u') text_add(t, "%zu", va_arg(*args, size_t));
  if (last == 'c') text_add(t, "%c", va_arg(*args, int));
  if (last == 'd' && spec[1] == 'l') text_add(t, "%lld", va_arg(*args, long long));
  if (last == 'd' && spec[1] != 'l') text_add(t, "%d", va_arg(*args, int));
  if (last == 'f' || last == 'g') {
    char number[400], digits = spec[1] == '.' ? (char)(spec[2] - '0') : 6;
    c_locale_print(number, sizeof number, last == 'f' ? "%.*f" : "%.*g", digits, va_arg(*args, double));
    text_add(t, "%s", number);
  }
}

void html_add(struct html *h, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  while (*format) {
    size_t plain = strcspn(format, "%");
    text_add(&h->text, "%.*s", (int)plain, format);
    format += plain;
    if (!*format) break;
    char spec[8] = {0};
    size_t n = 1 + strcspn(format + 1, "%sducfg") + 1;
    memcpy(spec, format, n < sizeof spec ? n : sizeof spec - 1);
    add_argument(&h->text, spec, &args);
    format += n;
  }
  va_end(args);
}

void html_copy(struct html *h, const char *text)
{
  text_add(&h->text, "%s", text);
}

/* In JSON every < can be written as a number, and then nothing in it is markup. */
void html_json(struct html *h, const char *id, const char *json)
{
  html_add(h, "<script type=\"application/json\" id=\"%s\">", id);
  while (*json) {
    size_t plain = strcspn(json, "<>&");
    text_add(&h->text, "%.*s", (int)plain, json);
    json += plain;
    if (*json) text_add(&h->text, "\\u%04x", (unsigned)*json++);
  }
  html_add(h, "</script>\n");
}

/* ---- Bytes ---- */

/* Base 64 (RFC 4648): three bytes are four letters, the last ones filled up with =. */
static void add_base64(struct text *t, const uint8_t *bytes, size_t n)
{
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  enum { AT_ONCE = 48 };
  for (size_t from = 0; from < n; from += AT_ONCE) {
    char line[AT_ONCE / 3 * 4 + 1], *to = line;
    for (size_t k = from; k < n && k < from + AT_ONCE; k += 3) {
      uint32_t three = (uint32_t)bytes[k] << 16;
      if (k + 1 < n) three |= (uint32_t)bytes[k + 1] << 8;
      if (k + 2 < n) three |= bytes[k + 2];
      *to++ = letter[three >> 18];
      *to++ = letter[three >> 12 & 63];
      *to++ = k + 1 < n ? letter[three >> 6 & 63] : '=';
      *to++ = k + 2 < n ? letter[three & 63] : '=';
    }
    *to = 0;
    text_add(t, "%s", line);
  }
}

void html_png(struct html *h, const uint8_t *bytes, size_t n)
{
  text_add(&h->text, "data:image/png;base64,");
  add_base64(&h->text, bytes, n);
}

void html_digest(struct html *h, const char *text)
{
  struct hash hash;
  uint8_t digest[HASH_BYTES];
  hash_start(&hash);
  hash_add(&hash, text, strlen(text));
  hash_end(&hash, digest);
  text_add(&h->text, "sha256-");
  add_base64(&h->text, digest, sizeof digest);
}

/* ---- Numbers ---- */

/* What there is instead of a number, or NULL. */
static const char *no_number(double v)
{
  return isnan(v) ? "none" : isinf(v) ? "inf" : NULL;
}

struct figure figure_share(double share)
{
  struct figure f;
  if (no_number(share))
    snprintf(f.s, sizeof f.s, "%s", no_number(share));
  else
    c_locale_print(f.s, sizeof f.s, "%.1f", 100 * share);
  return f;
}

struct figure figure_real(double v, int digits)
{
  struct figure f;
  if (no_number(v))
    snprintf(f.s, sizeof f.s, "%s", no_number(v));
  else
    c_locale_print(f.s, sizeof f.s, "%.*g", digits, v);
  return f;
}

/* a ± b, where there is a b. */
static struct figure with_sd(struct figure mean, struct figure sd, r4_mean_sd v, size_t seeds)
{
  size_t n = strlen(mean.s);
  if (seeds > 1 && isfinite(v.mean) && isfinite(v.sd))
    snprintf(mean.s + n, sizeof mean.s - n, " \u00b1 %.16s", sd.s);
  return mean;
}

struct figure figure_share_sd(r4_mean_sd v, size_t seeds)
{
  return with_sd(figure_share(v.mean), figure_share(v.sd), v, seeds);
}

struct figure figure_real_sd(r4_mean_sd v, size_t seeds, int digits)
{
  return with_sd(figure_real(v.mean, digits), figure_real(v.sd, 2), v, seeds);
}
