/* What to train: FILE, a preset or a run, and what the command line changes of it. */
#include <string.h>
#include <unistd.h>

#include "train.h"

/* The folder of this program's own file, for presets that were installed with it. */
static void program_folder(char *path, size_t size)
{
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  path[n > 0 ? n : 0] = 0;
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

/* The first path of a list of forms, each with the folder of this program and a name, that is a file. */
static bool find_first(const char *const *form, const char *name, char *path, size_t size)
{
  char program[PATH_SIZE / 2];
  program_folder(program, sizeof program);
  for (; *form; form++) {
    int n =
      **form == '@' ? snprintf(path, size, *form + 1, program, name) : snprintf(path, size, *form, name);
    if (n > 0 && (size_t)n < size && is_file(path)) return true;
  }
  return false;
}

/* What FILE stands for: itself, FILE/config.yaml of a run, or a preset here, in the source tree or where it was
 * installed. */
static bool find_file(const char *file, char path[PATH_SIZE])
{
  static const char *const form[] = {"%s",
                                     "%s/config.yaml",
                                     "experiments/%s.yaml",
                                     "@%s/../experiments/%s.yaml",
                                     "@%s/../share/r4/experiments/%s.yaml",
                                     NULL};
  return find_first(form, file, path, PATH_SIZE);
}

bool train_find_experiment(const char *name, char *folder, size_t size)
{
  static const char *const form[] = {"%s/table.csv", "experiments/%s/table.csv",
                                     "@%s/../experiments/%s/table.csv",
                                     "@%s/../share/r4/experiments/%s/table.csv", NULL};
  if (!find_first(form, name, folder, size)) return false;
  *strrchr(folder, '/') = 0;
  return true;
}

bool train_find_ablations(char *folder, size_t size)
{
  static const char *const form[] = {"experiments/ablations/%s", "@%s/../experiments/ablations/%s",
                                     "@%s/../share/r4/experiments/ablations/%s", NULL};
  if (!find_first(form, "masks.csv", folder, size)) return false;
  *strrchr(folder, '/') = 0;
  return true;
}

/* What is written in a file of settings is a matter of configuration, whatever is wrong with it. */
static int settings_code(r4_status status)
{
  return status == R4_E_PARSE ? EXIT_USAGE : cli_code(status);
}

/* A folder of photos is what people have at hand first. */
static void say_not_found(const char *command, const char *file)
{
  const char *why = is_folder(file) ? "is a folder, but not a run; expected a settings file that has a line \"data: "
                                      "FOLDER\" and one for the net (r4 help train)"
                                    : "no such file, preset or run";
  fprintf(stderr, "r4 %s: %s: %s\n", command, shown(file).text, why);
}

r4_settings *train_settings(const char *command, const char *file, const struct words *row,
                            const struct words *set, int *code)
{
  r4_error e = {0};
  char path[PATH_SIZE];
  r4_settings *s = r4_settings_new();
  r4_status status = s ? R4_OK : R4_E_MEMORY;
  if (!status && !find_file(file, path)) {
    say_not_found(command, file);
    *code = EXIT_USAGE;
    r4_settings_free(s);
    return NULL;
  }
  if (!status) status = r4_settings_read(s, path, &e);
  for (size_t k = 0; row && k < row->n && !status; k++)
    status = r4_settings_set(s, row->word[k], "table.csv", &e);
  for (size_t k = 0; k < set->n && !status; k++) status = r4_settings_set(s, set->word[k], "--set", &e);
  if (!status) status = r4_settings_check(s, &e);
  for (size_t k = 0; !status && r4_settings_idle(s, k, &e); k++)
    fprintf(stderr, "r4 %s: %s\n", command, e.text);
  for (size_t k = 0; !status && r4_settings_renamed(s, k, &e); k++)
    fprintf(stderr, "r4 %s: %s\n", command, e.text);
  if (!status) return s;
  cli_fail(command, status, e.text);
  *code = settings_code(status);
  r4_settings_free(s);
  return NULL;
}
