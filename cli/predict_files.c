/* Which photos are meant. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd_predict.h"
#include "runs.h"

static int no_memory(void)
{
  return cli_fail("predict", R4_E_MEMORY, "");
}

static int add(struct files *f, const char *folder, const char *name)
{
  if (f->n == f->capacity) {
    size_t capacity = f->capacity ? 2 * f->capacity : 64;
    char **grown = realloc(f->path, capacity * sizeof *grown);
    if (!grown) return no_memory();
    f->path = grown;
    f->capacity = capacity;
  }
  bool slash = *folder && folder[strlen(folder) - 1] != '/';
  if (asprintf(&f->path[f->n], "%s%s%s", folder, slash ? "/" : "", name) < 0) return no_memory();
  f->n++;
  return EXIT_DONE;
}

static int is_image(const struct dirent *entry)
{
  static const char *const endings[] = {".png", ".jpg", ".jpeg"};
  const char *dot = strrchr(entry->d_name, '.');
  if (entry->d_name[0] == '.' || entry->d_type == DT_DIR || !dot) return 0;
  for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
    if (!strcasecmp(dot, endings[k])) return 1;
  return 0;
}

static int is_folder_in(const struct dirent *entry)
{
  return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

/* Neither image nor folder; what Windows puts there is nobody's photo. */
static int is_other(const struct dirent *entry)
{
  return entry->d_name[0] != '.' && entry->d_type != DT_DIR && !is_image(entry) &&
         strcasecmp(entry->d_name, "Thumbs.db") && strcasecmp(entry->d_name, "desktop.ini");
}

/* "x.bmp, y.tif, .." of what is in a folder; how many. */
static size_t list_some(const char *folder, int (*wanted)(const struct dirent *), char *to, size_t size)
{
  enum { SHOWN = 3 };
  struct dirent **entry = NULL;
  int n = scandir(folder, &entry, wanted, versionsort);
  size_t used = 0;
  *to = 0;
  for (int k = 0; k < n; k++) {
    if (k < SHOWN && used < size)
      used += (size_t)snprintf(to + used, size - used, "%s%s", k ? ", " : "", shown(entry[k]->d_name).text);
    free(entry[k]);
  }
  if (n > SHOWN && used < size) snprintf(to + used, size - used, ", ..");
  free(entry);
  return n > 0 ? (size_t)n : 0;
}

/* Nobody should believe that a file was predicted which was not even read. */
static void tell_left_out(const char *folder, bool none)
{
  char list[400];
  size_t folders = list_some(folder, is_folder_in, list, sizeof list);
  if (none)
    fprintf(stderr, "r4 predict: %s: no PNG or JPEG file directly in this folder", shown(folder).text);
  if (none && folders) fprintf(stderr, ", but it has folders: name them (%s)", list);
  if (none) fprintf(stderr, "\n");
  size_t others = list_some(folder, is_other, list, sizeof list);
  if (others)
    fprintf(stderr, "r4 predict: %s: %zu file%s PNG or JPEG and left out: %s\n", shown(folder).text, others,
            others == 1 ? " is not" : "s are not", list);
}

static int add_folder(struct files *f, const char *folder)
{
  struct dirent **entry = NULL;
  int n = scandir(folder, &entry, is_image, versionsort), code = EXIT_DONE;
  if (n < 0) fprintf(stderr, "r4 predict: %s: %s\n", shown(folder).text, strerror(errno));
  if (n >= 0) tell_left_out(folder, !n);
  for (int k = 0; k < n; k++) {
    if (!code) code = add(f, folder, entry[k]->d_name);
    free(entry[k]);
  }
  free(entry);
  return n > 0 ? code : EXIT_WORLD;
}

int files_name(struct files *f, const char *name)
{
  return add(f, "", name);
}

int files_add(struct files *f, const char *word)
{
  return is_folder(word) ? add_folder(f, word) : add(f, "", word);
}

/* From the last ending to the first, which is named where there is none. */
int files_masks(struct files *f, const char *folder, char **file, size_t n)
{
  static const char *const endings[] = {".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"};
  char path[PATH_SIZE];
  int code = EXIT_DONE;
  for (size_t i = 0; i < n && !code; i++) {
    const char *slash = strrchr(file[i], '/'), *base = slash ? slash + 1 : file[i], *dot = strrchr(base, '.');
    int length = dot ? (int)(dot - base) : (int)strlen(base);
    size_t k = sizeof endings / sizeof *endings;
    do
      snprintf(path, sizeof path, "%s/%.*s%s", folder, length, base, endings[--k]);
    while (k && !is_file(path));
    code = files_name(f, path);
  }
  return code;
}

bool name_ends_in(const char *name, const char *ending)
{
  size_t n = strlen(name), m = strlen(ending);
  return n > m && !strcmp(name + n - m, ending);
}

int files_refuse_arrays(const struct rest *images)
{
  for (size_t k = 0; k < images->n; k++) {
    const char *word = images->word[k];
    if (!name_ends_in(word, ".npz") && !name_ends_in(word, ".npy")) continue;
    fprintf(stderr,
            "r4 predict: %s: has arrays, and photos are expected; for arrays use Python (model.predict), or, where "
            "they "
            "have labels: r4 eval RUN --data %s --other-data --predictions FILE.csv\n",
            shown(word).text, shown(word).text);
    return EXIT_USAGE;
  }
  return EXIT_DONE;
}

void files_clear(struct files *f)
{
  for (size_t k = 0; k < f->n; k++) free(f->path[k]);
  free(f->path);
  *f = (struct files){0};
}
