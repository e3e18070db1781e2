/* Properties of image files that give the label away: classes that come from different sources show it there. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/lint/lint.h"
#include "picture/image.h"

enum { HEAD = 1 << 16 }; /* bytes of a file that are read; its header is in them */

/* What is known of a file. */
struct about_file {
  double bytes, height, width, format, quality, name;
};

/* ---- One file ---- */

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

/* What a file name begins with, up to its first digit, as a number: a hash below 2^32, which a double holds. */
static double name_number(const char *file)
{
  const char *slash = strrchr(file, '/');
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (const char *c = slash ? slash + 1 : file; *c && *c != '.' && !isdigit((unsigned char)*c); c++)
    hash = (hash ^ (uint8_t)*c) * 16777619u;
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

/* ---- All of them ---- */

static const char *file_of(const struct cues *q, size_t k)
{
  return r4_data_example(q->d, q->example[k]).file;
}

static r4_status look_in(const char *folder, const char *name, uint8_t *head, struct about_file *about)
{
  *about = (struct about_file){NAN, NAN, NAN, NAN, NAN, NAN};
  if (!name) return R4_OK;
  about->name = name_number(name);
  char *path = file_join(folder, name, NULL);
  r4_status s = path ? look_at_file(about, path, head) : R4_E_MEMORY;
  r4_mem_free(path);
  return s;
}

/* Of each example; r4_mem_free. NULL when out of memory. */
static struct about_file *look_at_files(const struct cues *q, const char *folder)
{
  struct about_file *all = r4_mem_new(q->n, sizeof *all);
  uint8_t *head = all ? r4_mem_new(HEAD, 1) : NULL;
  r4_status s = head ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < q->n; k++) s = look_in(folder, file_of(q, k), head, all + k);
  r4_mem_free(head);
  if (s) r4_mem_free(all);
  return s ? NULL : all;
}

/* ---- Checks ---- */

typedef size_t property_of(const struct about_file *f, double *to);

static size_t bytes(const struct about_file *f, double *to)
{
  to[0] = f->bytes;
  return 1;
}

static size_t sides(const struct about_file *f, double *to)
{
  to[0] = f->height;
  to[1] = f->width;
  return 2;
}

static size_t format(const struct about_file *f, double *to)
{
  to[0] = f->format;
  return 1;
}

static size_t quality(const struct about_file *f, double *to)
{
  to[0] = f->quality;
  return 1;
}

static size_t beginning(const struct about_file *f, double *to)
{
  to[0] = f->name;
  return 1;
}

/* How files are, and how they are called, which no net can see. Of equals the first is told: bytes follow from the
 * others. */
static const struct property {
  const char *name;
  property_of *of;
  enum cue_kind kind;
} properties[] = {{"format (PNG or JPEG)", format, CUE_NAMES},
                  {"height and width", sides, CUE_QUANTITIES},
                  {"JPEG quality", quality, CUE_QUANTITIES},
                  {"size in bytes", bytes, CUE_QUANTITIES}},
  naming = {"name up to the first digit", beginning, CUE_NAMES};

enum { PROPERTIES = sizeof properties / sizeof *properties };

static size_t try_property(struct cues *q, const struct about_file *all, const struct property *p)
{
  size_t features = 0;
  for (size_t k = 0; k < q->n; k++) features = p->of(all + k, q->value + k * CUE_FEATURES);
  return cue_try(q, features, p->kind);
}

static void telling_properties(struct lint *l, struct cues *q, const struct about_file *all, size_t plain)
{
  const struct property *best = NULL;
  size_t most = 0;
  for (size_t k = 0; k < PROPERTIES; k++) {
    size_t right = try_property(q, all, properties + k);
    if (right > most && cue_tells(q, right, PROPERTIES) && cue_beats_plain(q, PROPERTIES))
      best = properties + k, most = right;
  }
  if (best)
    lint_tell(
      l, WARNING, "file-label",
      "the %s of its file gives the label of an image away: %s, its overall look %.0f %%: do classes come from "
      "different sources?",
      best->name, lint_score(q, most).text, 100 * (double)plain / (double)cue_tested(q));
}

/* Whether a name has another one in it, in any case. */
static bool has_in_it(const char *name, const char *part)
{
  for (; *name; name++) {
    size_t k = 0;
    while (part[k] && tolower((unsigned char)name[k]) == tolower((unsigned char)part[k])) k++;
    if (!part[k]) return true;
  }
  return false;
}

/* Most files have the name of their class in their own: somebody called them so. */
static bool are_called_by_class(const struct cues *q)
{
  size_t n = 0;
  for (size_t k = 0; k < q->n; k++) {
    const char *file = file_of(q, k), *slash = file ? strrchr(file, '/') : NULL;
    n += file && has_in_it(slash ? slash + 1 : file,
                           r4_data_class_name(q->d, (size_t)q->d->record[q->example[k]].label));
  }
  return 2 * n > q->n;
}

static void telling_names(struct lint *l, struct cues *q, const struct about_file *all)
{
  size_t right = are_called_by_class(q) ? 0 : try_property(q, all, &naming);
  if (right && cue_tells(q, right, 1) && cue_beats_plain(q, 1))
    lint_tell(l, NOTE, "name-label",
              "the %s gives the label of an image away: %s: do classes come from different sources?", naming.name,
              lint_score(q, right).text);
}

r4_status lint_files(struct lint *l, struct cues *q, size_t plain)
{
  if (!l->source || !q->d->files || format_of(l->source) != &folder_format) return R4_OK;
  struct about_file *all = look_at_files(q, l->source);
  if (!all) return R4_E_MEMORY;
  telling_properties(l, q, all, plain);
  telling_names(l, q, all);
  r4_mem_free(all);
  return R4_OK;
}
