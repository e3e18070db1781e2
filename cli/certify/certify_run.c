/* The seeds of a run, one after the other: model, examples, claim, files. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/certify.h"
#include "timer.h"
#include "train.h"

static const double QUIET = 5; /* seconds without a line */

struct work {
  struct certify_settings *o;
  const struct claim *claim;
  r4_split split;
  struct run *run;
  r4_data *data, *train;
  r4_net *net; /* of the settings */
  char data_file[PATH_SIZE], data_hash[R4_HASH_SIZE];
  struct certify_row *row;
  size_t rows;
};

static int fail(const r4_error *e)
{
  return cli_fail("certify", e->status, e->text);
}

/* On a terminal a line that changes. Elsewhere a line now and then, from the time on when somebody wonders; the first
 * of them is the estimate of work that takes long. */
static bool is_due(const struct certify_job *j, size_t done, size_t of, double spent)
{
  static double shown_at;
  double now = timer_now();
  if (j->terminal ? now < shown_at + 0.2 && done < of : done == of || spent < QUIET || now < shown_at + QUIET)
    return false;
  shown_at = now;
  return true;
}

void certify_progress(const struct certify_job *j, const char *doing, size_t done, size_t of, double began)
{
  double spent = timer_now() - began;
  if (!is_due(j, done, of, spent)) return;
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return;
  fprintf(f, "r4 certify: seed %lld (%zu of %zu): %s, %zu of %zu examples", (long long)j->run->seed[j->seed],
          j->seed + 1, j->run->seeds, doing, done, of);
  if (done && done < of && spent > 1) {
    fprintf(f, ", ");
    watch_left(f, spent * (double)(of - done) / (double)done);
  }
  if (!fclose(f)) j->terminal ? watch_line(done < of ? text : "") : (void)fprintf(stderr, "%s\n", text);
  free(text);
}

/* ---- Files ---- */

static int refuse_file(const char *path)
{
  fprintf(stderr, "r4 certify: %s exists; --force overwrites it\n", shown(path).text);
  return EXIT_USAGE;
}

/* Whether a run that was interrupted left something, of any seed: what it kept goes seed by seed at its end. */
static bool going_on(const struct work *w)
{
  bool kept = false;
  for (size_t k = 0; k < w->run->seeds; k++) {
    const struct certify_job j = {.o = w->o, .run = w->run, .seed = k};
    if (w->o->seed < 0 || w->run->seed[k] == w->o->seed) kept |= w->claim->kept(&j);
  }
  return kept;
}

/* The format may have one %d, for the seed. */
static int certificate_path(const struct work *w, size_t k, char path[PATH_SIZE])
{
  char name[128];
  const char *mark = strstr(w->o->out, "%d");
  w->claim->file_name(w->o, name, sizeof name);
  int n;
  if (!*w->o->out)
    n = snprintf(path, PATH_SIZE, "%s/certificate-%s.txt", w->run->folder[k], name);
  else if (mark)
    n = snprintf(path, PATH_SIZE, "%.*s%lld%s", (int)(mark - w->o->out), w->o->out, (long long)w->run->seed[k],
                 mark + 2);
  else
    n = snprintf(path, PATH_SIZE, "%s", w->o->out);
  if (n < 0 || n >= PATH_SIZE) return cli_fail("certify", R4_E_ARGUMENT, "the path of the certificate is too long");
  if (!is_file(path) || w->o->force) return EXIT_DONE;
  return going_on(w) ? EXIT_DONE : refuse_file(path);
}

static int check_out(const struct work *w)
{
  if (w->run->seeds < 2 || w->o->seed >= 0 || !*w->o->out || strstr(w->o->out, "%d")) return EXIT_DONE;
  fprintf(stderr, "r4 certify: --out %s: the run has %zu seeds; expected a %%d for the seed, or --seed\n",
          shown(w->o->out).text, w->run->seeds);
  return EXIT_USAGE;
}

static int data_path(struct work *w)
{
  size_t length = strlen(w->o->out), stem = length > 4 && !strcmp(w->o->out + length - 4, ".txt") ? length - 4 : length;
  const char *mark = strstr(w->o->out, "%d");
  if (mark) stem = (size_t)(mark - w->o->out);
  int n = *w->o->data  ? snprintf(w->data_file, PATH_SIZE, "%s", w->o->data)
          : *w->o->out ? snprintf(w->data_file, PATH_SIZE, "%.*s.npz", (int)stem, w->o->out)
                       : snprintf(w->data_file, PATH_SIZE, "%s/certificate-%s.npz", w->o->run, w->o->split);
  return n < 0 || n >= PATH_SIZE ? cli_fail("certify", R4_E_ARGUMENT, "the path of the data is too long") : EXIT_DONE;
}

/* Whether a certificate is about the examples of this hash. */
static bool is_about(const char *path, const char *hash)
{
  char line[256];
  bool same = false;
  FILE *f = fopen(path, "r");
  while (f && !same && fgets(line, sizeof line, f) && strncmp(line, "example", 7)) same = strstr(line, hash);
  if (f) fclose(f);
  return same;
}

/* This command writes it as well. */
static bool is_written_now(const struct work *w, const char *path)
{
  char own[PATH_SIZE];
  for (size_t k = 0; k < w->run->seeds; k++)
    if ((w->o->seed < 0 || w->run->seed[k] == w->o->seed) && !certificate_path(w, k, own) && !strcmp(own, path))
      return true;
  return false;
}

/* Certificates in the folders of seeds, and beside the data, that can no longer be checked when these change. */
static void tell_of_orphans(const struct work *w, const char *folder, const char *old)
{
  DIR *d = opendir(folder);
  for (struct dirent *entry; d && (entry = readdir(d));) {
    char path[2 * PATH_SIZE];
    const char *end = strrchr(entry->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!end || strcmp(end, ".txt") || !is_about(path, old) || is_written_now(w, path)) continue;
    fprintf(stderr, "r4 certify: --force: %s was about the examples that %s held, and can no longer be checked\n",
            shown(path).text, shown(w->data_file).text);
  }
  if (d) closedir(d);
}

static void tell_of_all_orphans(const struct work *w, const char *old)
{
  char beside[PATH_SIZE];
  snprintf(beside, sizeof beside, "%s", w->data_file);
  char *slash = strrchr(beside, '/');
  if (slash) *slash = 0;
  bool told = false;
  for (size_t k = 0; k < w->run->seeds; k++) {
    tell_of_orphans(w, w->run->folder[k], old);
    told |= !strcmp(w->run->folder[k], beside);
  }
  if (!told) tell_of_orphans(w, slash ? beside : ".", old);
}

/* Equal examples give equal bytes: a file that is there is left alone if it has them, and refused otherwise. */
static int keep_data(const struct work *w, const char *beside)
{
  char now[R4_HASH_SIZE];
  r4_error e = {0};
  if (is_file(w->data_file)) {
    if (r4_file_hash(w->data_file, now, &e)) return fail(&e);
    if (!strcmp(now, w->data_hash)) return EXIT_DONE;
    if (!w->o->force) {
      fprintf(stderr, "r4 certify: %s exists and holds other examples, which certificates may be about: --data FILE "
                      "writes these elsewhere, --force overwrites it\n",
              shown(w->data_file).text);
      return EXIT_USAGE;
    }
    tell_of_all_orphans(w, now);
  }
  if (!rename(beside, w->data_file)) return EXIT_DONE;
  fprintf(stderr, "r4 certify: %s: %s\n", shown(w->data_file).text, strerror(errno));
  return EXIT_WORLD;
}

static int save_data(struct work *w, const r4_net *net)
{
  char beside[PATH_SIZE + 8];
  r4_error e = {0};
  snprintf(beside, sizeof beside, "%s.part", w->data_file);
  r4_status s = r4_certificate_data_save(net, w->data, beside, &e);
  if (!s) s = r4_file_hash(beside, w->data_hash, &e);
  int code = s ? fail(&e) : keep_data(w, beside);
  remove(beside);
  return code;
}

/* ---- A seed ---- */

/* The certificate of a run that was interrupted behind it is the same; another is not overwritten. */
static r4_status save_beside(const struct work *w, const r4_certificate *c, const char *path, bool *same, r4_error *e)
{
  char beside[PATH_SIZE + 8], new[R4_HASH_SIZE], old[R4_HASH_SIZE];
  snprintf(beside, sizeof beside, "%s.part", path);
  *same = true;
  if (!is_file(path) || w->o->force) return r4_certificate_save(c, path, e);
  r4_status s = r4_certificate_save(c, beside, e);
  if (!s) s = r4_file_hash(beside, new, e);
  if (!s) s = r4_file_hash(path, old, e);
  *same = s || !strcmp(new, old);
  remove(beside);
  return s;
}

static int save(struct work *w, struct certify_job *j, const char *path)
{
  r4_error e = {0};
  bool same = true;
  r4_certificate *c = &j->certificate;
  c->examples = r4_data_count(w->data);
  c->example = j->example;
  memcpy(c->data, w->data_hash, sizeof c->data);
  r4_status s = r4_file_hash(w->run->model[j->seed], c->model, &e);
  if (!s) s = save_beside(w, c, path, &same, &e);
  return s ? fail(&e) : same ? EXIT_DONE : refuse_file(path);
}

/* For whoever shows what was measured. Of some examples, or other data, nobody else speaks. */
static void keep_figures(const struct work *w, const struct certify_job *j)
{
  char hash[R4_HASH_SIZE];
  r4_measured *m = w->claim->figures && !w->o->examples && !w->o->other_data ? calloc(1, sizeof *m) : NULL;
  if (!m) return;
  r4_data_hash(w->data, hash);
  if (w->claim->figures(j, m)) r4_proved_save(m, w->run->folder[j->seed], w->split, hash, NULL);
  free(m);
}

static int certify_model(struct work *w, struct certify_job *j)
{
  char path[PATH_SIZE];
  int code = certificate_path(w, j->seed, path);
  if (!code && !w->o->other_data && !run_classes_agree("certify", w->run->model[j->seed], j->model, w->data))
    code = EXIT_USAGE;
  if (!code && !*w->data_hash) code = save_data(w, r4_model_net(j->model));
  double began = timer_now();
  if (!code) code = w->claim->certify(j);
  if (!code) code = save(w, j, path);
  if (code) return code;
  keep_figures(w, j);
  struct certify_row *row = &w->row[w->rows++];
  certify_row_of(j, row);
  row->cover = j->cover;
  j->cover = NULL;
  row->seconds = timer_now() - began;
  memcpy(row->file, path, sizeof path);
  snprintf(row->model, sizeof row->model, "%s", w->run->model[j->seed]);
  snprintf(row->data, sizeof row->data, "%s", w->data_file);
  return EXIT_DONE;
}

static int certify_seed(struct work *w, size_t k)
{
  r4_error e = {0};
  struct certify_job j = {.o = w->o, .run = w->run, .seed = k, .data = w->data, .train = w->train,
                          .terminal = isatty(STDERR_FILENO)};
  r4_model *m = run_model(w->run->model[k], w->net, &e);
  if (!m) return fail(&e);
  j.model = m;
  j.example = calloc(r4_data_count(w->data), sizeof *j.example);
  int code = j.example ? certify_model(w, &j) : cli_fail("certify", R4_E_MEMORY, "");
  bool last = k + 1 == w->run->seeds || w->o->seed >= 0;
  if (!code && last) code = (w->o->json ? certify_print_json : certify_print)(w->o, &j, w->row, w->rows);
  free(j.example);
  free(j.cover);
  free(j.ids);
  r4_model_free(m);
  return code;
}

static int certify_seeds(struct work *w)
{
  bool found = false;
  int code = check_out(w);
  for (size_t k = 0; k < w->run->seeds && !code; k++) {
    if (w->o->seed >= 0 && w->run->seed[k] != w->o->seed) continue;
    found = true;
    code = certify_seed(w, k);
  }
  for (size_t k = 0; k < w->run->seeds && !code; k++) {
    const struct certify_job j = {.o = w->o, .run = w->run, .seed = k};
    if (w->o->seed < 0 || w->run->seed[k] == w->o->seed) w->claim->saved(&j);
  }
  if (found || code) return code;
  fprintf(stderr, "r4 certify: %s has no model of seed %lld\n", shown(w->o->run).text, (long long)w->o->seed);
  return EXIT_USAGE;
}

/* ---- The run ---- */

static r4_data *first_examples(const r4_data *d, size_t n, r4_error *e)
{
  size_t all = r4_data_count(d);
  if (!n || n > all) n = all;
  size_t *example = calloc(n + 1, sizeof *example);
  for (size_t i = 0; example && i < n; i++) example[i] = i;
  r4_data *part = example ? r4_data_subset(d, n, example, e) : NULL;
  if (!example) e->status = R4_E_MEMORY;
  free(example);
  return part;
}

static int open_data(struct work *w, const r4_data *all)
{
  r4_error e = {0};
  int code = EXIT_DONE;
  r4_data *part = run_part("certify", w->o->run, all, &w->o->split, &w->split, &code);
  if (!part) return code;
  w->data = first_examples(part, (size_t)w->o->examples, &e);
  r4_data_free(part);
  w->train = w->data ? r4_data_part(all, R4_TRAIN, &e) : NULL;
  w->net = w->train ? r4_settings_net(w->run->settings, all, &e) : NULL;
  return w->net ? EXIT_DONE : fail(&e);
}

int certify_run(struct certify_settings *o, const struct claim *claim, r4_split split)
{
  int code = EXIT_DONE;
  struct work w = {.o = o, .claim = claim, .split = split, .run = runs_open("certify", o->run, &code)};
  if (!w.run) return code;
  r4_data *all = run_data("certify", w.run, o->data_now, o->other_data, &code);
  if (all) code = open_data(&w, all);
  r4_data_free(all);
  w.row = calloc(w.run->seeds, sizeof *w.row);
  if (!code && !w.row) code = cli_fail("certify", R4_E_MEMORY, "");
  if (!code) code = data_path(&w);
  if (!code) code = certify_seeds(&w);
  for (size_t k = 0; k < w.rows && !code; k++)
    if (w.row[k].broken) code = EXIT_NO;
  for (size_t k = 0; k < w.rows; k++) free(w.row[k].cover);
  free(w.row);
  r4_net_free(w.net);
  r4_data_free(w.data);
  r4_data_free(w.train);
  runs_free(w.run);
  return code;
}
