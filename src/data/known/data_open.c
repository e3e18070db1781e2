/* From a source to a data set: the name of a known one, or a path of some format. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/catalog/catalog.h"
#include "data/format/folder_scan.h"
#include "data/format/whole_open.h"
#include "data/mask/mask.h"
#include "picture/image.h"

#define FORMAT(name) &name##_format,
static const struct format *const formats[] = {
#include "data/format/formats.def"
};
#undef FORMAT

enum { FORMATS = sizeof formats / sizeof *formats };

size_t r4_format_count(void)
{
  return FORMATS;
}

r4_format_info r4_format_describe(size_t k)
{
  return k < FORMATS ? (r4_format_info){formats[k]->name, formats[k]->about} : (r4_format_info){0};
}

const struct format *format_of(const char *path)
{
  for (size_t k = 0; k < FORMATS; k++)
    if (formats[k]->matches(path)) return formats[k];
  return NULL;
}

/* Whether there are photos in a folder itself; then of classes is what it is in. */
static bool has_photos(const char *folder)
{
  struct names *names = NULL;
  bool any = false;
  if (!file_is_folder(folder) || folder_scan(folder, "", false, &names, NULL)) return false;
  for (size_t k = 0; !any && k < names->n; k++) any = is_image_name(names->name[k]);
  names_drop(names);
  return any;
}

/* Without its last part, "birds" of "birds/sparrow/". */
static void no_classes(const char *source, r4_error *e)
{
  size_t n = strlen(source);
  while (n > 1 && source[n - 1] == '/') n--;
  size_t end = n;
  while (n && source[n - 1] != '/') n--;
  bool plain = end - n == 1 && source[n] == '.';
  while (n > 1 && source[n - 1] == '/') n--;
  if (n && !plain)
    r4_fail(e, R4_E_PARSE, "%s: has photos, but no class folders: expected a folder with one folder of photos for each "
            "class, or metadata.csv; did you mean %.*s?", source, (int)n, source);
  else
    r4_fail(e, R4_E_PARSE, "%s: has photos, but no class folders: expected a folder with one folder of photos for each "
            "class, or metadata.csv; did you mean the folder that it is in?", source);
}

/* where: the folder of data sets, or why there is none. */
static void no_format(const char *source, const char *where, bool folder, r4_error *e)
{
  struct text known = {0};
  for (size_t k = 0; k < FORMATS; k++)
    text_add(&known, "%s%s (%s)", k ? "; " : "", formats[k]->name, formats[k]->about);
  char *text = text_take(&known);
  if (has_photos(source))
    no_classes(source, e);
  else if (file_exists(source))
    r4_fail(e, R4_E_PARSE, "%s: not a known format: %s", source, text ? text : "");
  else if (!folder)
    r4_fail(e, R4_E_IO, "%s: not a path, and %s", source, where);
  else if (catalog_find(source))
    r4_fail(e, R4_E_IO, "%s: not in %s; get it with: r4 data get %s", source, where, source);
  else
    r4_fail(e, R4_E_IO, "%s: neither a path nor a data set in %s; see r4 data list", source, where);
  r4_string_free(text);
}

/* Only folders of images are resized. */
static r4_data *of_size(r4_data *d, const char *source, const r4_data_options *o, r4_error *e)
{
  if (!d || (!o->height && !o->width)) return d;
  if (data_x(d)->shape.rank != 3) {
    r4_fail(e, R4_E_ARGUMENT, "%s: has features, not images: they have no size to be %lld x %lld", source,
            (long long)o->height, (long long)o->width);
    r4_data_free(d);
    return NULL;
  }
  const int64_t *dim = data_x(d)->shape.dim;
  if ((!o->height || o->height == dim[0]) && (!o->width || o->width == dim[1])) return d;
  r4_fail(e, R4_E_ARGUMENT, "%s: images of size %lld x %lld, expected size %lld x %lld", source,
          (long long)dim[0], (long long)dim[1], (long long)o->height, (long long)o->width);
  r4_data_free(d);
  return NULL;
}

/* What has no slash may be the name of a data set; "." and ".." are not. */
static bool may_be_name(const char *source)
{
  return !strchr(source, '/') && strcmp(source, ".") && strcmp(source, "..");
}

/* What "r4 data get" got comes first. fetched: where that would be, or NULL. */
static bool was_got(const char *source, const char *fetched)
{
  return fetched && may_be_name(source) && file_exists(fetched);
}

bool data_source_is_path(const char *source)
{
  char *folder = r4_data_folder(NULL), *fetched = folder ? catalog_path(folder, source) : NULL;
  bool path = !was_got(source, fetched) && !digits_format.matches(source) && file_exists(source);
  r4_mem_free(folder);
  r4_mem_free(fetched);
  return path;
}

static bool given(const char *text)
{
  return text && *text;
}

/* What only some formats take, and is asked for. */
static unsigned asked_for(const r4_data_options *o)
{
  unsigned asked = given(o->masks) || given(o->mask_categories) ? TAKES_ANNOTATIONS : 0;
  if (given(o->tokenizer) || given(o->mask_words) || o->length) asked |= TAKES_WORDS;
  if (o->own_split) asked |= TAKES_OWN_SPLIT;
  return asked;
}

static r4_status check_taken(const struct format *f, const char *source, const r4_data_options *o,
                             r4_error *e)
{
  static const char *const what[] = {"masks and mask_categories are for folders of images",
                                     "tokenizer, length and mask_words are for texts",
                                     "split: own is for HAM10000 with dermamnist_split.csv"};
  unsigned refused = asked_for(o) & ~f->takes;
  for (size_t k = 0; refused; k++, refused >>= 1)
    if (refused & 1)
      return r4_fail(e, R4_E_ARGUMENT, "%s: is of the format %s: %s", source, f->name, what[k]);
  return R4_OK;
}

/* The source in the folder of data sets, or as a path; without such a folder, folder is NULL and where says why. */
static r4_data *open_in(const char *source, const char *folder, const char *where,
                        const r4_data_options *options, r4_error *e)
{
  char *fetched = folder ? catalog_path(folder, source) : NULL;
  if (folder && !fetched) {
    r4_fail(e, R4_E_MEMORY, "%s: out of memory", source);
    return NULL;
  }
  const char *path = was_got(source, fetched) ? fetched : source;
  const struct format *format = format_of(path);
  r4_data *d = NULL;
  if (!format)
    no_format(source, folder ? folder : where, folder != NULL, e);
  else if (!check_taken(format, source, options, e))
    d = of_size(whole_open(format, path, options, e), path, options, e);
  r4_mem_free(fetched);
  return d;
}

r4_data *r4_data_open(const char *source, const r4_data_options *options, r4_error *e)
{
  r4_data_options defaults = {0};
  r4_error none = {0};
  if (!options) options = &defaults;
  if (!source || !*source) {
    r4_fail(e, R4_E_ARGUMENT, "no source is given: expected a path, or the name of a data set");
    return NULL;
  }
  if (mask_meaning_check(options->mask_means, __func__, e)) return NULL;
  char *folder = options->folder ? file_join(options->folder, "", e) : r4_data_folder(&none);
  if (!folder && none.status != R4_E_IO) {
    r4_fail(e, R4_E_MEMORY, "%s: out of memory", source);
    return NULL;
  }
  r4_data *d = open_in(source, folder, none.text, options, e);
  if (d && !d->means) d->means = options->mask_means;
  r4_mem_free(folder);
  return d;
}
