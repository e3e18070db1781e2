/* The folder that is served. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/serve.h"

static r4_status fail(r4_error *e, r4_status s, const char *what, const char *why)
{
  snprintf(e->text, sizeof e->text, "%.250s: %.250s", what, why);
  return e->status = s;
}

/* ---- Photos by their names ---- */

static int by_name(const void *a, const void *b, void *of)
{
  const r4_photos *p = of;
  return strcmp(r4_photos_at(p, *(const size_t *)a).name, r4_photos_at(p, *(const size_t *)b).name);
}

static size_t find(const struct site *s, const char *name)
{
  for (size_t low = 0, high = s->n; low < high;) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(r4_photos_at(s->photos, s->by_name[middle]).name, name);
    if (!order) return s->by_name[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return s->n;
}

size_t site_photo(const struct site *s, const char *file)
{
  static const char images[] = "images/";
  size_t k = find(s, file);
  bool below = k == s->n && !strncmp(file, images, sizeof images - 1);
  return below ? find(s, file + sizeof images - 1) : k;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_classes(const struct site *s)
{
  const char **label = calloc(s->n, sizeof *label);
  size_t classes = 0;
  for (size_t k = 0; label && k < s->n; k++) label[k] = r4_photos_at(s->photos, k).label;
  if (label) qsort(label, s->n, sizeof *label, by_text);
  for (size_t k = 0; label && k < s->n; k++) classes += !k || strcmp(label[k], label[k - 1]);
  free(label);
  return classes;
}

static r4_status list_photos(struct site *s, r4_error *e)
{
  s->photos = r4_photos_open(s->folder, e);
  if (!s->photos) return e->status;
  s->n = r4_photos_count(s->photos);
  s->by_name = calloc(s->n, sizeof *s->by_name);
  s->masked = calloc(s->n, sizeof *s->masked);
  if (!s->by_name || !s->masked) return fail(e, R4_E_MEMORY, s->folder, "out of memory");
  for (size_t k = 0; k < s->n; k++) {
    s->by_name[k] = k;
    s->masked[k] = r4_photos_at(s->photos, k).mask != NULL;
  }
  qsort_r(s->by_name, s->n, sizeof *s->by_name, by_name, s->photos);
  s->classes = count_classes(s);
  if (s->classes < 2)
    return fail(e, R4_E_ARGUMENT, s->folder, "all photos are of one class: there is nothing to learn");
  return R4_OK;
}

/* ---- What white means ---- */

static const char *const other_meaning =
  "the settings in r4.yaml read its mask in another way (data.mask_means, data.mask_values): paint it there";

/* In the settings of the folder, or by marks.json, which is there before the first mask that was painted here;
 * otherwise the user says. */
static r4_status settle_meaning(struct site *s, bool means_irrelevant, r4_error *e)
{
  struct stamp there;
  size_t masks = 0;
  for (size_t k = 0; k < s->n; k++) masks += s->masked[k];
  if (place_stat(s, "r4.yaml", &there)) {
    if (!masks || means_irrelevant || !place_stat(s, "marks.json", &there)) return R4_OK;
    return fail(e, R4_E_ARGUMENT, s->folder,
                "has masks already, and nothing says what white means in them: --mask-means irrelevant if it "
                "marks what must not matter");
  }
  char path[PATH_MAX + 16];
  r4_setting_value means = {0}, values = {0};
  r4_settings *settings = r4_settings_new();
  snprintf(path, sizeof path, "%s/r4.yaml", s->folder);
  r4_status status = settings ? r4_settings_read(settings, path, e) : R4_E_MEMORY;
  if (!status) status = r4_settings_get(settings, "data.mask_means", &means, e);
  if (!status) status = r4_settings_get(settings, "data.mask_values", &values, e);
  if (!status && (!means.text || strcmp(means.text, "irrelevant") || values.n))
    s->refuses_masks = other_meaning;
  r4_settings_free(settings);
  return status;
}

/* ---- All of it ---- */

/* "dir/texts.csv" is dir with a table of texts. */
static r4_status open_folder(struct site *s, const char *source, r4_error *e)
{
  struct stat about;
  char path[PATH_MAX];
  const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
  bool file = !stat(source, &about) && !S_ISDIR(about.st_mode);
  if (strlen(source) >= sizeof path || strlen(name) >= sizeof s->corpus.table)
    return fail(e, R4_E_IO, source, strerror(ENAMETOOLONG));
  snprintf(path, sizeof path, "%s", source);
  if (file) {
    path[name - source] = 0;
    snprintf(s->corpus.table, sizeof s->corpus.table, "%s", name);
  }
  const char *folder = file && !*path ? "." : path;
  s->root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return s->root < 0 || !realpath(folder, s->folder) ? fail(e, R4_E_IO, source, strerror(errno)) : R4_OK;
}

static r4_status open_photos(struct site *s, bool means_irrelevant, r4_error *e)
{
  char name[NAME_MAX + 1], why[600];
  struct stamp there;
  r4_status status = list_photos(s, e);
  s->table = !place_stat(s, "metadata.csv", &there);
  if (!status) return settle_meaning(s, means_irrelevant, e);
  if (s->table || s->photos) return status;
  if (corpus_is_folder(s)) {
    snprintf(s->corpus.table, sizeof s->corpus.table, ".");
    return corpus_open(s, means_irrelevant, e);
  }
  if (!corpus_table(s, name)) return status;
  snprintf(why, sizeof why, "has no photos; if %.200s is a table of texts, name it: r4 serve FOLDER/%.200s",
           name, name);
  return fail(e, R4_E_IO, s->folder, why);
}

r4_status site_open(struct site *s, const char *source, bool means_irrelevant, r4_error *e)
{
  s->tasks.said = -1;
  r4_status status = open_folder(s, source, e);
  if (!status)
    status = *s->corpus.table ? corpus_open(s, means_irrelevant, e) : open_photos(s, means_irrelevant, e);
  if (!status) status = marks_refresh(s, e);
  if (!status && (!guard_secret(s->token) || !guard_secret(s->cookie)))
    status = fail(e, R4_E_IO, "random numbers", strerror(errno));
  return status;
}

void site_close(struct site *s)
{
  found_clear(&s->found);
  marks_clear(&s->marks);
  words_clear(&s->words);
  r4_data_free(s->corpus.data);
  r4_photos_free(s->photos);
  free(s->by_name);
  free(s->masked);
  if (s->root >= 0) close(s->root);
  s->root = -1;
}

const char *site_runs(const struct site *s)
{
  return s->table ? "runs" : ".r4/runs";
}
