/* Lists, folders and files of a fleet. */
#include <errno.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/fleet.h"

static bool is_among(const char *text, size_t n, char (*list)[VALUE_SIZE])
{
  for (size_t k = 0; k < n; k++)
    if (!strcmp(list[k], text)) return true;
  return false;
}

bool fleet_split(const char *text, char between, size_t *n, char to[MAX_VALUES][VALUE_SIZE])
{
  const char end[] = {strchr(text, ';') ? ';' : between, 0};
  for (*n = 0; *text;) {
    text += strspn(text, " ");
    size_t length = strcspn(text, end), trimmed = length;
    while (trimmed && text[trimmed - 1] == ' ') trimmed--;
    if (trimmed) {
      if (*n == MAX_VALUES || trimmed >= VALUE_SIZE) return false;
      snprintf(to[*n], VALUE_SIZE, "%.*s", (int)trimmed, text);
      if (is_among(to[*n], *n, to)) return false;
      ++*n;
    }
    text += length + (text[length] != 0);
  }
  return true;
}

void fleet_folder(const char *out, const char *name, char folder[PATH_SIZE])
{
  enum { LONG = 120, KEPT = 100 };
  char part[LONG + 32], hash[R4_HASH_SIZE];
  r4_hash(name, strlen(name), hash);
  snprintf(part, sizeof part, "%.*s", strlen(name) > LONG ? KEPT : LONG, name);
  for (char *c = part; *c; c++)
    if (strchr(" /\n,", *c)) *c = '_';
  if (strlen(name) > LONG) snprintf(part + KEPT, sizeof part - KEPT, "-%.16s", hash);
  snprintf(folder, PATH_SIZE, "%.*s/runs/%s", PATH_SIZE / 2, out, part);
}

int fleet_write(const char *command, const char *folder, const char *name,
                int (*print)(FILE *f, const void *user), const void *user)
{
  char path[PATH_SIZE + 128], part[PATH_MAX], text[PATH_SIZE + 256];
  snprintf(path, sizeof path, "%.*s/%.100s", PATH_SIZE, folder, name);
  FILE *f = folder_make(folder) ? file_beside(path, part) : NULL;
  int code = f ? print(f, user) : EXIT_DONE;
  if (f && !fclose(f) && !code && !rename(part, path)) return EXIT_DONE;
  snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
  return code ? code : cli_fail(command, R4_E_IO, text);
}
