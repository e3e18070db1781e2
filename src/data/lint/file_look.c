#include "data/lint/file_look.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "picture/image.h"

enum { HEAD = 1 << 16 }; /* bytes of a file that are read; its header is in them */

uint8_t *file_head_new(r4_error *e)
{
  return mem_new(HEAD, 1, "the head of a file", e);
}

/* JPEG stores how coarsely it rounds, in tables of 64 numbers, ff db LENGTH, then for each table a byte, whose upper
 * half says that numbers have two bytes, and the numbers. The sum of the first table goes down with the quality. */
static double jpeg_quality(const uint8_t *data, size_t size)
{
  for (size_t at = 2; at + 4 <= size && data[at] == 0xff;) {
    size_t length = (size_t)data[at + 2] << 8 | data[at + 3];
    if (data[at + 1] == 0xdb && at + 5 + 64 <= size && data[at + 4] >> 4 == 0) {
      double sum = 0;
      for (size_t k = 0; k < 64; k++) sum += data[at + 5 + k];
      return sum;
    }
    at += 2 + length;
  }
  return NAN;
}

const char *name_beginning(const char *file, size_t *n)
{
  const char *slash = strrchr(file, '/'), *from = slash ? slash + 1 : file;
  *n = strcspn(from, ".0123456789");
  return from;
}

/* What a file name begins with, up to its first digit, as a number: a hash below 2^32, which a double holds. */
static double name_number(const char *file)
{
  uint32_t hash = 2166136261u; /* FNV-1a */
  size_t n;
  const char *c = name_beginning(file, &n);
  for (size_t k = 0; k < n; k++) hash = (hash ^ (uint8_t)c[k]) * 16777619u;
  return hash;
}

static r4_status look_at_head(struct about_file *about, const uint8_t *head, size_t n)
{
  struct image as;
  about->format = n ? head[0] : NAN; /* PNG and JPEG begin with different bytes */
  if (n && head[0] == 0xff) about->quality = jpeg_quality(head, n);
  r4_status s = image_look(head, n, "", &as, NULL);
  if (s) return s == R4_E_MEMORY ? s : R4_OK;
  about->height = log((double)as.height);
  about->width = log((double)as.width);
  return R4_OK;
}

/* What cannot be read stays NAN: the file may have been removed since. */
static r4_status look_at_file(struct about_file *about, const char *path, uint8_t *head)
{
  FILE *f = file_open(path, NULL);
  if (!f) return R4_OK;
  r4_status s = look_at_head(about, head, fread(head, 1, HEAD, f));
  long bytes = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  if (bytes > 0) about->bytes = log((double)bytes);
  fclose(f);
  return s;
}

r4_status file_look_in(const char *folder, const char *name, uint8_t *head, struct about_file *about)
{
  *about = (struct about_file){NAN, NAN, NAN, NAN, NAN, NAN};
  if (!name) return R4_OK;
  about->name = name_number(name);
  char *path = file_join(folder, name, NULL);
  r4_status s = path ? look_at_file(about, path, head) : R4_E_MEMORY;
  r4_mem_free(path);
  return s;
}

bool name_has(const char *name, const char *part)
{
  for (; *name; name++) {
    size_t k = 0;
    while (part[k] && tolower((unsigned char)name[k]) == tolower((unsigned char)part[k])) k++;
    if (!part[k]) return true;
  }
  return false;
}
