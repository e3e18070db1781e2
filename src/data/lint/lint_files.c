/* Properties of image files that give the label away: classes that come from different sources show it there. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/format/format.h"
#include "data/lint/file_look.h"
#include "data/lint/lint.h"

/* ---- All of them ---- */

static const char *file_of(const struct cues *q, size_t k)
{
  return r4_data_example(q->d, q->example[k]).file;
}

/* Of each example; r4_mem_free. NULL when out of memory. */
static struct about_file *look_at_files(const struct cues *q, const char *folder)
{
  struct about_file *all = r4_mem_new(q->n, sizeof *all);
  uint8_t *head = all ? file_head_new(NULL) : NULL;
  r4_status s = head ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < q->n; k++) s = file_look_in(folder, file_of(q, k), head, all + k);
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

/* Most files have the name of their class in their own: somebody called them so. */
static bool are_called_by_class(const struct cues *q)
{
  size_t n = 0;
  for (size_t k = 0; k < q->n; k++) {
    const char *file = file_of(q, k), *slash = file ? strrchr(file, '/') : NULL;
    n += file && name_has(slash ? slash + 1 : file,
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
