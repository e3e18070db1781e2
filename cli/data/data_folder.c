/* Folders and known data sets on the disk. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/cmd_data.h"

bool path_make(char path[PATH_MAX], const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = vsnprintf(path, PATH_MAX, format, args);
  va_end(args);
  return n >= 0 && n < PATH_MAX;
}

bool folder_make(const char *path)
{
  char part[PATH_MAX];
  if (!path_make(part, "%s", path)) return false;
  for (char *at = part; *at;) {
    at += strcspn(at + 1, "/") + 1;
    char end = *at;
    *at = 0;
    if (mkdir(part, 0777) && errno != EEXIST) return false;
    *at = end;
  }
  return true;
}

int folder_refuse_link(const char *command, const char *path)
{
  struct stat about;
  if (lstat(path, &about) || !S_ISLNK(about.st_mode)) return EXIT_DONE;
  fprintf(stderr, "r4 %s: %s: is a link, expected a folder: r4 does not write through links\n", command,
          shown(path).text);
  return EXIT_WORLD;
}

/* What a killed process left goes, and so does a link: a new file is made, nothing is followed. */
FILE *file_beside(const char *path, char part[PATH_MAX])
{
  if (!path_make(part, "%s.part", path)) return NULL;
  remove(part);
  return fopen(part, "wx");
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
  (void)about, (void)kind, (void)place;
  remove(path); /* what cannot be removed is left, and swept the next time */
  return 0;
}

void folder_remove(const char *path)
{
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool ends_with(const char *s, const char *ending)
{
  size_t n = strlen(s), m = strlen(ending);
  return n >= m && !strcmp(s + n - m, ending);
}

bool folder_find(const char *folder, const char *ending, char path[PATH_MAX])
{
  DIR *d = opendir(folder);
  bool found = false;
  for (struct dirent *entry; d && !found && (entry = readdir(d));)
    found = ends_with(entry->d_name, ending) && path_make(path, "%s/%s", folder, entry->d_name);
  if (d) closedir(d);
  return found;
}

void folder_sweep(const char *folder, const char *name)
{
  char start[NAME_MAX], path[PATH_MAX], *end;
  snprintf(start, sizeof start, ".%s.", name);
  DIR *d = opendir(folder);
  for (struct dirent *entry; d && (entry = readdir(d));) {
    if (strncmp(entry->d_name, start, strlen(start))) continue;
    long pid = strtol(entry->d_name + strlen(start), &end, 10);
    if (pid <= 0 || strcmp(end, ".part") || !kill((pid_t)pid, 0) || errno != ESRCH) continue;
    if (path_make(path, "%s/%s", folder, entry->d_name)) folder_remove(path);
  }
  if (d) closedir(d);
}

/* ---- Known data sets ---- */

const r4_known *known_find(const char *name)
{
  const r4_known *k;
  for (size_t i = 0; (k = r4_known_at(i)); i++)
    if (!strcmp(k->name, name)) return k;
  return NULL;
}

bool known_path(const r4_known *k, char path[PATH_MAX])
{
  char *folder = r4_data_folder(NULL);
  bool made = folder && path_make(path, "%s/%s", folder, k->name);
  r4_string_free(folder);
  return made;
}

bool known_built_in(const r4_known *k)
{
  return !k->files && !k->by_hand;
}

bool known_is_here(const r4_known *k)
{
  char folder[PATH_MAX], file[PATH_MAX];
  if (!known_path(k, folder)) return false;
  if (k->by_hand) return !access(folder, R_OK | X_OK);
  for (size_t i = 0; i < k->files; i++)
    if (!path_make(file, "%s/%s", folder, k->file[i].name) || access(file, R_OK)) return false;
  return true;
}

double known_bytes(const r4_known *k)
{
  double sum = 0;
  for (size_t i = 0; i < k->files; i++) {
    if (!k->file[i].bytes) return 0;
    sum += (double)k->file[i].bytes;
  }
  return sum;
}
