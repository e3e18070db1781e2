#include "data/format/folder_scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "picture/image.h"

/* ---- Folders ---- */

static int by_bytes(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static r4_status add_entry(struct names *names, const char *folder, const char *name, bool folders,
                           r4_error *e)
{
  char *path = file_join(folder, name, e);
  if (!path) return R4_E_MEMORY;
  bool wanted = file_is_folder(path) == folders;
  r4_mem_free(path);
  return wanted ? names_add(names, name, NULL, e) : R4_OK;
}

/* All names in a folder. */
static r4_status scan(const char *folder, bool folders, struct names **names, r4_error *e)
{
  DIR *dir = opendir(folder);
  if (!dir) return r4_fail(e, R4_E_IO, "%s: opening: %s", folder, strerror(errno));
  struct names *found = names_new(e);
  r4_status s = found ? R4_OK : R4_E_MEMORY;
  for (struct dirent *entry; !s && (entry = readdir(dir));)
    if (entry->d_name[0] != '.') s = add_entry(found, folder, entry->d_name, folders, e);
  closedir(dir);
  if (s) {
    names_drop(found);
    return s;
  }
  if (found->n) qsort(found->name, found->n, sizeof *found->name, by_bytes);
  *names = found;
  return R4_OK;
}

r4_status folder_scan(const char *folder, const char *inside, bool folders, struct names **names, r4_error *e)
{
  *names = NULL;
  if (!*inside) return scan(folder, folders, names, e);
  r4_status s = file_check_inside(folder, inside, e);
  if (s) return s;
  char *here = file_join(folder, inside, e);
  s = here ? scan(here, folders, names, e) : R4_E_MEMORY;
  r4_mem_free(here);
  return s;
}

/* ---- Masks ---- */

/* Length without the ending. */
static size_t stem(const char *path)
{
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  return dot ? (size_t)(dot - path) : strlen(path);
}

/* The same without the words that say that it is a mask. */
static size_t mask_stem(const char *path)
{
  static const char *const words[] = {"_mask", "_segmentation"};
  size_t n = stem(path);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    size_t m = strlen(words[k]);
    if (n > m && !strncmp(path + n - m, words[k], m)) return n - m;
  }
  return n;
}

static r4_status add_mask(struct mask_index *m, const char *sub, const char *inside, r4_error *e)
{
  if (mem_more(&m->at, &m->capacity, m->n + 1, sizeof *m->at, "the list of masks", e)) return R4_E_MEMORY;
  struct text key = {0};
  text_add(&key, "%.*s", (int)mask_stem(inside), inside);
  struct mask_file *f = m->at + m->n++;
  *f = (struct mask_file){text_done(&key, "the list of masks", e), file_join(sub, inside, e), false};
  return f->key && f->path ? R4_OK : R4_E_MEMORY;
}

/* Links may not make a folder of masks endless. */
static r4_status check_no_link(const char *folder, const char *inside, r4_error *e)
{
  struct stat about;
  char *path = file_join(folder, inside, e);
  if (!path) return R4_E_MEMORY;
  r4_status s = R4_OK;
  if (!lstat(path, &about) && S_ISLNK(about.st_mode))
    s = r4_fail(e, R4_E_IO, "%s: is a link to a folder, expected a folder", path);
  r4_mem_free(path);
  return s;
}

/* sub: the folder of masks; inside: the path below it, "" for itself. */
static r4_status add_folder(struct mask_index *m, const char *folder, const char *sub, const char *inside,
                            int depth, r4_error *e)
{
  enum { DEEPEST = 8 };
  struct text at = {0}, path = {0};
  text_add(&at, "%s%s%s", sub, *inside ? "/" : "", inside);
  char *here = text_done(&at, folder, e);
  if (!here) return R4_E_MEMORY;
  r4_status s = depth ? check_no_link(folder, here, e) : R4_OK;
  for (int folders = 0; !s && folders < (depth < DEEPEST ? 2 : 1); folders++) {
    struct names *names = NULL;
    s = folder_scan(folder, here, folders, &names, e);
    for (size_t k = 0; !s && k < names->n; k++) {
      if (!folders && !is_image_name(names->name[k])) continue;
      text_add(&path, "%s%s%s", inside, *inside ? "/" : "", names->name[k]);
      char *below = text_done(&path, folder, e);
      if (!below) s = R4_E_MEMORY;
      if (!s) s = folders ? add_folder(m, folder, sub, below, depth + 1, e) : add_mask(m, sub, below, e);
      r4_mem_free(below);
    }
    names_drop(names);
  }
  r4_mem_free(here);
  return s;
}

r4_status mask_index_add(struct mask_index *m, const char *folder, const char *sub, r4_error *e)
{
  char *path = file_join(folder, sub, e);
  if (!path) return R4_E_MEMORY;
  bool there = file_is_folder(path);
  r4_mem_free(path);
  return there ? add_folder(m, folder, sub, "", 0, e) : R4_OK;
}

static int by_key(const void *a, const void *b)
{
  const struct mask_file *p = a, *q = b;
  int order = strcmp(p->key, q->key);
  return order ? order : strcmp(p->path, q->path);
}

r4_status mask_index_sort(struct mask_index *m, const char *folder, r4_error *e)
{
  if (m->n) qsort(m->at, m->n, sizeof *m->at, by_key);
  for (size_t k = 1; k < m->n; k++)
    if (!strcmp(m->at[k].key, m->at[k - 1].key))
      return r4_fail(e, R4_E_PARSE, "%s: %s and %s are both masks of %s, expected one", folder,
                     m->at[k - 1].path, m->at[k].path, m->at[k].key);
  return R4_OK;
}

static struct mask_file *find_key(struct mask_index *m, const char *key, size_t n)
{
  size_t low = 0, high = m->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = strncmp(m->at[middle].key, key, n);
    if (!order) order = m->at[middle].key[n] != 0;
    if (!order) return m->at + middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const char *mask_index_find(struct mask_index *m, const char *file)
{
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  struct mask_file *found = find_key(m, file, stem(file));
  if (!found) found = find_key(m, name, stem(name));
  if (!found) return NULL;
  found->used = true;
  return found->path;
}

void mask_index_clear(struct mask_index *m)
{
  for (size_t k = 0; k < m->n; k++) {
    r4_mem_free(m->at[k].key);
    r4_mem_free(m->at[k].path);
  }
  r4_mem_free(m->at);
  *m = (struct mask_index){0};
}
