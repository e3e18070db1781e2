/* What a folder of photos has, for programs that show them: the listing that the reader makes, without the reading. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/format/folder.h"
#include "r4_tools.h"

struct r4_photos {
  char *folder;
  struct listing l;
  char **place; /* of each photo */
};

/* "masks/" and the name in the table, with the ending of PNG: what mask_index_find finds first. */
static char *place_of(const struct listed *one, r4_error *e)
{
  if (one->mask) return mem_copy(one->mask, e);
  const char *name = one->file + one->named, *slash = strrchr(name, '/'),
             *dot = strrchr(slash ? slash : name, '.');
  struct text t = {0};
  text_add(&t, "masks/%.*s.png", (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
  return text_done(&t, name, e);
}

static r4_status list(r4_photos *p, r4_error *e)
{
  struct mask_index masks = {0};
  const r4_data_options options = {0};
  r4_status s = folder_list_all(&p->l, &masks, &options, e);
  mask_index_clear(&masks);
  if (!s && !p->l.n)
    s = r4_fail(e, R4_E_IO, "%s: has no photos: expected metadata.csv, or a folder of photos for each class",
                p->folder);
  if (!s && !(p->place = mem_new(p->l.n, sizeof *p->place, "the places of masks", e))) s = R4_E_MEMORY;
  for (size_t k = 0; !s && k < p->l.n; k++)
    if (!(p->place[k] = place_of(p->l.at + k, e))) s = R4_E_MEMORY;
  return s;
}

r4_photos *r4_photos_open(const char *folder, r4_error *e)
{
  NEEDS(folder, "a folder", NULL);
  r4_photos *p = mem_new(1, sizeof *p, "the photos", e);
  if (!p) return NULL;
  p->folder = mem_copy(folder, e);
  p->l.folder = p->folder;
  if (p->folder && !list(p, e)) return p;
  r4_photos_free(p);
  return NULL;
}

void r4_photos_free(r4_photos *p)
{
  if (!p) return;
  for (size_t k = 0; p->place && k < p->l.n; k++) r4_mem_free(p->place[k]);
  r4_mem_free(p->place);
  listing_clear(&p->l);
  r4_mem_free(p->folder);
  r4_mem_free(p);
}

size_t r4_photos_count(const r4_photos *p)
{
  return p ? p->l.n : 0;
}

r4_photo r4_photos_at(const r4_photos *p, size_t k)
{
  if (k >= r4_photos_count(p)) return (r4_photo){0};
  const struct listed *one = p->l.at + k;
  return (r4_photo){.path = one->file,
                    .name = one->file + one->named,
                    .label = one->label,
                    .split = one->split,
                    .mask = one->mask,
                    .place = p->place[k],
                    .outlined = one->marks != 0};
}
