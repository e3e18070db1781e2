/* Opening data for a search, and the search itself. */
#include "base/file.h"
#include "base/mem.h"
#include "data/catalog/catalog.h"
#include "data/format/format.h"
#include "find/find.h"

enum { SIDE = 64 };

/* What has images of a size of its own, or none. */
static const struct format *const as_they_are[] = {&digits_format, &idx_format, &npz_format, &imdb_format,
                                                   &text_format};

static const struct format *format_by_name(const char *name)
{
  char *folder = r4_data_folder(NULL), *path = folder ? catalog_path(folder, name) : NULL;
  const struct format *f = path && file_exists(path) ? format_of(path) : NULL;
  r4_string_free(folder);
  r4_mem_free(path);
  return f;
}

static bool is_resized(const char *source)
{
  const struct format *f = data_source_is_path(source) ? format_of(source) : format_by_name(source);
  for (size_t k = 0; k < sizeof as_they_are / sizeof *as_they_are; k++)
    if (f == as_they_are[k]) return false;
  return f;
}

r4_data *r4_find_data(const char *source, const r4_data_options *options, r4_error *e)
{
  NEEDS(source, "a source", NULL);
  r4_data_options o = options ? *options : (r4_data_options){0};
  if (!o.height && !o.width && is_resized(source)) o.height = o.width = SIDE;
  return r4_data_open(source, &o, e);
}

static bool is_image(const r4_data *d)
{
  return data_x(d)->shape.rank == 3 && !data_x(d)->is->ids;
}

r4_found *r4_find_scan(const r4_data *d, const r4_find_options *options, r4_error *e)
{
  NEEDS(d, "data", NULL);
  r4_find_options o = find_options(options);
  r4_found *f = found_new(&o, e);
  r4_status s = f ? R4_OK : R4_E_MEMORY;
  if (!s && !is_image(d) && !data_x(d)->is->ids)
    s = r4_fail(e, R4_E_ARGUMENT, "examples are vectors of features: only images and texts are searched");
  if (!s) s = (is_image(d) ? find_in_images : find_in_texts)(f, d, &o, e);
  if (!s) s = found_spread(f, e);
  if (!s) return f;
  r4_found_free(f);
  return NULL;
}
