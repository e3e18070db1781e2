/* Runs and their data: whether they belong together. */
#include <string.h>

#include "data/cmd_data.h"
#include "runs.h"

/* Says the text and, for errors of one kind, what helps. Returns an exit code. */
static int fail(const char *command, const r4_error *e, r4_status kind, const char *hint)
{
  char text[R4_ERROR_SIZE + 80];
  snprintf(text, sizeof text, "%s%s", e->text, e->status == kind ? hint : "");
  return cli_fail(command, e->status, text);
}

bool run_masks_changed(const struct run *r, const r4_data *d)
{
  char hash[R4_HASH_SIZE], unmasked[R4_HASH_SIZE];
  bool changed = false;
  r4_data_hash(d, hash);
  r4_data_hash_unmasked(d, unmasked);
  for (size_t k = 0; k < r->seeds && !changed; k++)
    if (r4_run_check_data(r->folder[k], hash, unmasked, &changed, NULL)) changed = false;
  return changed;
}

/* Where a manifest is missing nobody can tell: that is said, and no error. */
static int check_data(const char *command, const struct run *r, const r4_data *d)
{
  char hash[R4_HASH_SIZE], unmasked[R4_HASH_SIZE];
  bool masks_differ = false, any_differ = false;
  r4_data_hash(d, hash);
  r4_data_hash_unmasked(d, unmasked);
  for (size_t k = 0; k < r->seeds; k++) {
    r4_error e = {0};
    r4_status s = r4_run_check_data(r->folder[k], hash, unmasked, &masks_differ, &e);
    any_differ |= masks_differ;
    if (s == R4_E_IO)
      fprintf(stderr, "r4 %s: %s; so it is unknown whether these are the data of the run\n", command, e.text);
    else if (s)
      return fail(command, &e, R4_E_ARGUMENT, "; --other-data accepts them");
  }
  if (any_differ)
    fprintf(stderr, "r4 %s: %s: masks were added or changed since it was trained; this is with those of now\n", command,
            shown(r->folder[0]).text);
  return EXIT_DONE;
}

static const char MOVED[] = "; give their new place with --data";

static int locate(const char *command, r4_settings *s, const char *folder, const char *instead,
                  const char *hint)
{
  r4_error e = {0};
  return r4_settings_locate(s, folder, instead, &e) ? fail(command, &e, R4_E_IO, hint) : EXIT_DONE;
}

r4_data *run_data(const char *command, const struct run *r, const char *instead, bool any, int *code)
{
  r4_error e = {0};
  *code = locate(command, r->settings, r->folder[0], *instead ? instead : NULL, MOVED);
  if (*code) return NULL;
  r4_data *d = r4_run_data(r->settings, &e);
  if (!d) *code = fail(command, &e, R4_E_IO, MOVED);
  if (!d || any || !(*code = check_data(command, r, d))) return d;
  r4_data_free(d);
  return NULL;
}

int run_locate(const char *command, r4_settings *s, const char *path)
{
  int64_t seed[MAX_SEEDS];
  char folder[PATH_SIZE], manifest[PATH_SIZE + 16];
  size_t n = runs_seeds(path, seed);
  snprintf(folder, sizeof folder, "%s", path);
  for (size_t k = 0; k < n; k++) {
    runs_seed_folder(path, seed[k], folder);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", folder);
    if (is_file(manifest)) break;
  }
  return locate(command, s, folder, NULL, "; put it back there, or link to it");
}

bool run_split(const char *command, const char *word, r4_split *split)
{
  int number = R4_TEST;
  if (strcmp(word, SPLIT_AUTO) && !source_split(command, *word ? word : "nothing", &number)) return false;
  *split = (r4_split)number;
  return true;
}

static int no_examples(const char *command, const char *path, const char *split, const r4_data *all)
{
  r4_counts n = r4_data_counts(all, -1, -1);
  fprintf(stderr,
          "r4 %s: %s: no examples of %s, but --split train has %zu, --split val %zu and --split test %zu\n",
          command, shown(path).text, split, n.examples[R4_TRAIN], n.examples[R4_VAL], n.examples[R4_TEST]);
  return EXIT_USAGE;
}

/* Where nothing was set apart for the test, the examples for validation are the only ones that no weight was fitted
 * to. Who chose an epoch or a setting by them has figures that are too good, which must be said. */
static void choose_part(const char *command, const char *path, const r4_data *all, const char **word, r4_split *split)
{
  r4_counts n = r4_data_counts(all, -1, -1);
  bool val = !n.examples[R4_TEST] && n.examples[R4_VAL];
  *word = val ? "val" : "test";
  *split = val ? R4_VAL : R4_TEST;
  if (val)
    fprintf(stderr,
            "r4 %s: %s: there are no test examples, so these are figures of the %zu for validation; whoever chooses by "
            "them (an epoch, a setting) needs others for the last word\n",
            command, shown(path).text, n.examples[R4_VAL]);
}

r4_data *run_part(const char *command, const char *path, const r4_data *all, const char **word, r4_split *split,
                  int *code)
{
  r4_error e = {0};
  if (!strcmp(*word, SPLIT_AUTO)) choose_part(command, path, all, word, split);
  r4_data *part = r4_data_part(all, *split, &e);
  if (part && r4_data_count(part)) return part;
  *code = part ? no_examples(command, path, *word, all) : cli_fail(command, e.status, e.text);
  r4_data_free(part);
  return NULL;
}

r4_model *run_model(const char *path, const r4_net *settings_net, r4_error *e)
{
  r4_model *fits = settings_net ? r4_model_open(path, settings_net, e) : NULL;
  if (settings_net && !fits) return NULL;
  r4_model_free(fits);
  return r4_model_open(path, NULL, e);
}

size_t run_classes(const r4_model *m)
{
  int64_t outputs = r4_net_classes(r4_model_net(m));
  return outputs > 1 ? (size_t)outputs : 2;
}

bool run_classes_agree(const char *command, const char *path, const r4_model *m, const r4_data *d)
{
  size_t n = r4_data_classes(d), known = run_classes(m);
  for (size_t k = 0; k < n && k < known; k++) {
    if (!r4_model_class_name(m, k)) continue;
    struct shown own = shown(r4_model_class_name(m, k)), name = shown(r4_data_class_name(d, k));
    if (!strcmp(own.text, name.text))
      continue; /* JSON, which models have them in, knows no other bytes than UTF-8 */
    fprintf(
      stderr,
      "r4 %s: %s: class %zu of the net is \"%s\", but \"%s\" in the data; --other-data accepts that\n",
      command, shown(path).text, k, own.text, name.text);
    return false;
  }
  return true;
}

void run_add_proved(const char *command, r4_measured *m, const char *folder, r4_split part, const char *data_hash)
{
  r4_error e = {0};
  r4_status s = r4_proved_load(m, folder, part, data_hash, &e);
  if (s && s != R4_E_IO && s != R4_E_MEMORY) fprintf(stderr, "r4 %s: %s; it is left out\n", command, e.text);
}
