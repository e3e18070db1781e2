/* The ablations of a report: a file results.json, the folder that has it, or one whose folders have them. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static int add(struct report *r, const char *file)
{
  r4_error e = {0};
  r4_ablation *new = r4_ablation_read(file, &e);
  if (!new) {
    report_note(r, "%s is left out, as it could not be read.", shown(file).text);
    return cli_fail("report", e.status, e.text);
  }
  r4_ablation **grown = realloc(r->ablation, (r->ablations + 1) * sizeof *grown);
  if (!grown) {
    r4_ablation_free(new);
    return cli_fail("report", R4_E_MEMORY, "");
  }
  r->ablation = grown;
  r->ablation[r->ablations++] = new;
  return EXIT_DONE;
}

static bool has_results(const char *folder, const char *name, char path[PATH_SIZE])
{
  int n = snprintf(path, PATH_SIZE, "%s%s%s/results.json", folder, *name ? "/" : "", name);
  return n < PATH_SIZE && is_file(path);
}

static int add_folder(struct report *r, const char *folder)
{
  struct dirent **entry = NULL;
  char path[PATH_SIZE], text[PATH_SIZE + 100];
  int worst = EXIT_DONE, found = 0;
  if (has_results(folder, "", path)) return add(r, path);
  int n = scandir(folder, &entry, NULL, alphasort);
  for (int k = 0; k < n; k++) {
    bool one = *entry[k]->d_name != '.' && has_results(folder, entry[k]->d_name, path);
    int code = one ? add(r, path) : EXIT_DONE;
    if (code > worst) worst = code;
    found += one;
    free(entry[k]);
  }
  free(entry);
  if (found) return worst;
  report_note(r, "%s has no results of r4 ablate.", shown(folder).text);
  snprintf(text, sizeof text, "%s: no results.json in it, nor in a folder in it", folder);
  return cli_fail("report", R4_E_IO, text);
}

int report_add_ablations(struct report *r)
{
  int worst = EXIT_DONE;
  for (size_t k = 0; k < r->o.ablations.n; k++) {
    const char *path = r->o.ablations.word[k];
    int code = is_file(path) ? add(r, path) : add_folder(r, path);
    if (code > worst) worst = code;
  }
  return worst;
}
