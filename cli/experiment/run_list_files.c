/* Values, folders and files of a list of runs. */
#include <errno.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/run_list.h"

static bool is_among(const char *text, size_t n, char (*list)[VALUE_SIZE])
{
  for (size_t k = 0; k < n; k++)
    if (!strcmp(list[k], text)) return true;
  return false;
}

bool list_split(const char *text, char between, size_t *n, char to[MAX_VALUES][VALUE_SIZE])
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

void list_folder(const char *out, const char *name, char folder[PATH_SIZE])
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

bool list_out(const char *command, const char *out, const char *path, const char *ending, char to[PATH_SIZE / 2])
{
  const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
  int n = *out ? snprintf(to, PATH_SIZE / 2, "%s", out)
               : snprintf(to, PATH_SIZE / 2, "runs/%.*s%s", (int)strcspn(name, "."), name, ending);
  if (n < PATH_SIZE / 2) return true;
  fprintf(stderr, "r4 %s: --out is a path of %d characters, too long\n", command, n);
  return false;
}

static int write_file(const char *command, const char *folder, const struct result_file *file,
                      const void *user)
{
  char path[PATH_SIZE + 128], part[PATH_MAX], text[PATH_SIZE + 256];
  snprintf(path, sizeof path, "%.*s/%.100s", PATH_SIZE, folder, file->name);
  FILE *f = folder_make(folder) ? file_beside(path, part) : NULL;
  int code = f ? file->print(f, user) : EXIT_DONE;
  if (f && !fclose(f) && !code && !rename(part, path)) return EXIT_DONE;
  snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
  return code ? code : cli_fail(command, R4_E_IO, text);
}

int results_write(const char *command, const char *folder, size_t n, const struct result_file *file,
                  const void *user)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < n && !code; k++) code = write_file(command, folder, &file[k], user);
  return code;
}

int plot_print(FILE *f, const char *command, r4_plot *p)
{
  char *svg = r4_plot_svg(p);
  r4_plot_free(p);
  if (!svg) return cli_fail(command, R4_E_MEMORY, "");
  fputs(svg, f);
  r4_string_free(svg);
  return EXIT_DONE;
}
