#include "find/file_cues.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/format.h"

bool file_cues_work(const r4_data *d, const char *source)
{
  return source && d->files && data_source_is_path(source) && file_is_folder(source);
}

static const char *plain_name(const r4_data *d, uint32_t i)
{
  const char *file = r4_data_example(d, i).file, *slash = file ? strrchr(file, '/') : NULL;
  return slash ? slash + 1 : file ? file : "";
}

/* Most files have the name of their class in their own: somebody called them so, and it says nothing. */
static bool are_called_by_class(const r4_data *d, const uint32_t *example, size_t n)
{
  size_t called = 0;
  for (size_t k = 0; k < n; k++)
    called += name_has(plain_name(d, example[k]), d->classes->name[d->record[example[k]].label]);
  return 2 * called > n;
}

r4_status files_look(const r4_data *d, const char *source, const uint32_t *example, size_t n,
                     struct about_file **to, r4_error *e)
{
  bool named = are_called_by_class(d, example, n);
  uint8_t *head = file_head_new(e);
  *to = head ? mem_new(n, sizeof **to, "files", e) : NULL;
  r4_status s = *to ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < n; k++) {
    s = file_look_in(source, r4_data_example(d, example[k]).file, head, *to + k);
    if (s) r4_fail(e, s, "out of memory for files");
    if (named) (*to)[k].name = NAN;
  }
  r4_mem_free(head);
  return s;
}

/* ---- Cues ---- */

static double bytes(const struct about_file *f)
{
  return f->bytes;
}

static double per_pixel(const struct about_file *f)
{
  return f->bytes - f->height - f->width;
}

static double height(const struct about_file *f)
{
  return f->height;
}

static double width(const struct about_file *f)
{
  return f->width;
}

static double shape(const struct about_file *f)
{
  return f->width - f->height;
}

static double quality(const struct about_file *f)
{
  return -f->quality;
}

static double format(const struct about_file *f)
{
  return f->format;
}

/* A float holds whole numbers up to 2^24. */
static double name(const struct about_file *f)
{
  return fmod(f->name, 16777216);
}

static const struct {
  const char *name, *much, *little, *same;
  double (*of)(const struct about_file *f);
} cues[] = {
  {"bytes", "larger (in bytes)", "smaller (in bytes)",
   "of the same size in bytes", bytes},
  {"compression", "less compressed (bytes per pixel)",
   "more compressed (bytes per pixel)", "of the same size per pixel", per_pixel},
  {"height", "higher (in pixels)", "lower (in pixels)", "of the same height",
   height},
  {"width", "wider (in pixels)", "narrower (in pixels)", "of the same width",
   width},
  {"shape", "wider for their height", "narrower for their height",
   "of the same shape (width by height)", shape},
  {"quality", "of a higher JPEG quality", "of a lower JPEG quality",
   "of the same JPEG quality", quality},
  {"format", "of other formats", "of other formats", "of the same format", format},
  {"name", "", "", "", name},
};

size_t file_cues(void)
{
  return 2 * sizeof cues / sizeof *cues;
}

bool file_cue_is_name(size_t cue)
{
  return cues[cue / 2].of == name;
}

float file_cue_of(const struct about_file *f, size_t cue)
{
  double v = cues[cue / 2].of(f);
  return (float)(cue % 2 ? -v : v);
}

void file_cue_words(size_t cue, bool same, char to[40], const char **how)
{
  *how = same ? cues[cue / 2].same : cue % 2 ? cues[cue / 2].little : cues[cue / 2].much;
  const char *end = file_cue_is_name(cue) ? "" : same ? "-same" : cue % 2 ? "-low" : "-high";
  snprintf(to, 40, "file-%s%s", cues[cue / 2].name, end);
}
