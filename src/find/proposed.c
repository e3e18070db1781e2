#include "find/proposed.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/data.h"
#include "picture/image.h"
#include "picture/resize.h"

enum { MOST_BYTES = 1 << 30 };

void r4_proposed_free(r4_proposed *p)
{
  if (!p) return;
  for (size_t k = 0; k < p->n; k++) r4_mem_free(p->at[k].mask);
  r4_mem_free(p->at);
  r4_mem_free(p);
}

size_t r4_proposed_count(const r4_proposed *p)
{
  return p ? p->n : 0;
}

r4_proposal r4_proposed_at(const r4_proposed *p, size_t k)
{
  return k < r4_proposed_count(p) ? p->at[k].is : (r4_proposal){0};
}

double r4_proposed_right(const r4_proposed *p)
{
  return p && p->n ? p->right : 0;
}

char *r4_proposed_doubt(const r4_proposed *p, const r4_clue *c)
{
  struct text t = {0};
  size_t empty = 0, n = r4_proposed_count(p);
  if (!n || !c || 2 * p->right >= 1) return NULL;
  for (size_t k = 0; k < n; k++) empty += p->at[k].is.area > 0 ? 0 : 1;
  text_add(&t, "these masks are not to be trusted: only %.0f %% of them are likely on photos that show it",
           100 * p->right);
  if (empty) text_add(&t, ", and %zu of %zu are empty", empty, n);
  text_add(&t,
           ". What is at the places of %s is on photos of other classes, too, or something is missing there",
           c->id);
  return text_take(&t);
}

/* ---- Files ---- */

/* "masks/NAME.png": NAME is that of the photo, as folders of images look for it, or its number. */
static char *name_of(const r4_data *d, size_t i, r4_error *e)
{
  static const char images[] = "images/";
  struct text t = {0};
  const char *file = r4_data_example(d, i).file;
  if (!file || file_leads_out(file)) {
    text_add(&t, "masks/%zu.png", i);
  } else {
    if (!strncmp(file, images, sizeof images - 1)) file += sizeof images - 1;
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    text_add(&t, "masks/%.*s.png", (int)(dot ? (size_t)(dot - file) : strlen(file)), file);
  }
  return text_done(&t, "the name of a mask", e);
}

/* Height and width of the photo itself; those of the data if it has no file. */
static r4_status size_of(const r4_proposed *p, const r4_data *d, size_t i, const char *source,
                         struct image *as, r4_error *e)
{
  const char *file = r4_data_example(d, i).file;
  uint8_t *bytes = NULL;
  size_t size = 0;
  *as = (struct image){p->height, p->width, 1, NULL};
  if (!source || !file || file_leads_out(file) || !file_is_folder(source)) return R4_OK;
  char *path = file_join(source, file, e);
  r4_status s = path ? file_read(path, MOST_BYTES, &bytes, &size, e) : R4_E_MEMORY;
  if (!s) s = image_look(bytes, size, path, as, e);
  r4_mem_free(bytes);
  r4_mem_free(path);
  return s;
}

static r4_status make_folder_of(const char *path, r4_error *e)
{
  char *folder = mem_copy(path, e), *slash = folder ? strrchr(folder, '/') : NULL;
  if (!folder) return R4_E_MEMORY;
  if (slash) *slash = 0;
  r4_status s = slash ? file_make_folder(folder, e) : R4_OK;
  r4_mem_free(folder);
  return s;
}

static r4_status write_mask(const r4_proposed *p, const struct proposed *one, const r4_data *d,
                            const char *source, const char *path, r4_error *e)
{
  const struct image small = {p->height, p->width, 1, one->mask};
  struct image as, large = {0};
  r4_status s = size_of(p, d, one->is.example, source, &as, e);
  if (!s) s = image_new(&large, as.height, as.width, 1, e);
  if (!s) s = resize(&small, as.height, as.width, large.pixel, e);
  for (size_t k = 0; !s && k < as.height * as.width; k++) large.pixel[k] = large.pixel[k] >= 128 ? 255 : 0;
  if (!s) s = make_folder_of(path, e);
  if (!s) s = image_write(&large, path, e);
  image_clear(&large);
  return s;
}

static r4_status save_one(const r4_proposed *p, const struct proposed *one, const r4_data *d,
                          const char *source, const char *folder, struct json_writer *w, r4_error *e)
{
  char *name = name_of(d, one->is.example, e), *path = name ? file_join(folder, name, e) : NULL;
  r4_status s = path ? write_mask(p, one, d, source, path, e) : R4_E_MEMORY;
  if (!s) {
    jw_break(w);
    jw_open(w, NULL, '{');
    jw_text(w, "file", r4_data_example(d, one->is.example).file);
    jw_whole(w, "number", (int64_t)one->is.example);
    jw_text(w, "mask", name);
    jw_real(w, "score", one->is.score);
    jw_real(w, "area", one->is.area);
    jw_real(w, "sure", one->is.sure);
    jw_close(w, '}');
  }
  r4_string_free(name);
  r4_mem_free(path);
  return s;
}

r4_status r4_proposed_save(const r4_proposed *p, const r4_data *d, const char *clue, const char *source,
                           const char *folder, r4_error *e)
{
  NEEDS(p, "proposals", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  struct json_writer w = {0};
  r4_status s = file_make_folder(folder, e);
  char *path = s ? NULL : file_join(folder, "proposals.json", e);
  if (!s && !path) s = R4_E_MEMORY;
  jw_open(&w, NULL, '{');
  jw_whole(&w, "version", 1);
  jw_text(&w, "finding", clue);
  jw_real(&w, "right", p->right);
  jw_open(&w, "proposals", '[');
  for (size_t k = 0; !s && k < p->n; k++) s = save_one(p, p->at + k, d, source, folder, &w, e);
  jw_close(&w, ']');
  jw_close(&w, '}');
  if (s)
    r4_string_free(text_take(&w.text));
  else
    s = file_write_text(path, &w.text, e);
  r4_mem_free(path);
  return s;
}
