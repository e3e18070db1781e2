/* Searching, training and reports, which other processes do. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/answers.h"

static const char before[] = "before", settings_file[] = "r4.yaml";

/* Photos with a mask, or texts in which the list masks something. */
static size_t count_masks(const struct site *s)
{
  size_t masks = 0;
  if (s->corpus.other_words) return s->n; /* r4 train knows of how many */
  if (s->corpus.data) return s->refuses_words ? 0 : r4_listed_words_texts(s->words.count);
  for (size_t k = 0; k < s->n; k++) masks += s->masked[k];
  return masks;
}

/* ---- Searching ---- */

static bool has_run(const struct site *s, const char *run, const char *file)
{
  char path[PATH_MAX];
  struct stamp there;
  snprintf(path, sizeof path, "%s/%.100s/%s", site_runs(s), run, file);
  return !place_stat(s, path, &there);
}

/* Texts are read as for training, and what the list masks is left out. */
static void add_reading(const struct site *s, struct task *t)
{
  char tokens[32];
  if (*s->corpus.tokenizer) task_word(t, "--tokenizer"), task_word(t, s->corpus.tokenizer);
  snprintf(tokens, sizeof tokens, "%lld", (long long)s->corpus.length);
  if (s->corpus.length) task_word(t, "--length"), task_word(t, tokens);
  if (s->corpus.means_irrelevant) task_word(t, "--mask-means"), task_word(t, "irrelevant");
  if (!s->refuses_words && count_masks(s)) task_word(t, "--mask-words"), task_word(t, words_file);
}

static void search_texts(struct site *s, bool net, struct answer *a)
{
  char place[TASK_WORD + NAME_MAX];
  snprintf(place, sizeof place, "./%s", s->corpus.table);
  if (net) {
    answer_error(a, 400, "these are texts: a network is asked about photos only");
    return;
  }
  if (strlen(place) >= TASK_WORD || strlen(s->corpus.tokenizer) >= TASK_WORD) {
    answer_error(a, 400, "the table or the tokenizer has a path of more than %d bytes: give it a shorter one",
                 TASK_WORD - 1);
    return;
  }
  struct task *t = tasks_add(&s->tasks, TASK_FIND, 0, "");
  const char *const word[] = {s->table ? place : ".", "--out", ".", "--progress"};
  for (size_t k = 0; t && k < sizeof word / sizeof *word; k++) task_word(t, word[k]);
  if (t) add_reading(s, t);
  answer_task(t, a);
}

void answer_search(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  bool net = false;
  char run[TASK_WORD];
  r4_json_as_flag(r4_json_get(body, "net"), &net);
  if (tasks_busy(&s->tasks, TASK_FIND, NULL)) {
    answer_error(a, 409, "a search is already running");
    return;
  }
  if (s->corpus.data) {
    search_texts(s, net, a);
    return;
  }
  struct task *t = tasks_add(&s->tasks, TASK_FIND, 0, "");
  static const char *const word[] = {".", "--out", ".", "--progress"};
  for (size_t k = 0; t && k < sizeof word / sizeof *word; k++) task_word(t, word[k]);
  bool trained = has_run(s, before, "seed-0/model.safetensors");
  snprintf(run, sizeof run, "%s/%s", site_runs(s), before);
  if (t && trained && net) task_word(t, "--run"), task_word(t, run); /* whose settings say what masks mean */
  if (t && !(trained && net)) task_word(t, "--mask-means"), task_word(t, "irrelevant");
  if (t && !trained && net) task_word(t, "--quick-net");
  answer_task(t, a);
}

/* Once for each finding: the task 0 if they are there. */
void answer_propose(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  const struct finding *f = asked_finding(s, r4_json_as_text(r4_json_get(body, "finding")), a);
  char path[PATH_MAX];
  struct stamp there;
  static const struct task none = {.number = 0};
  if (!f) return;
  found_place(f->key, "proposals.json", path);
  answer_task(place_stat(s, path, &there) ? propose(s, f) : &none, a);
}

/* ---- Training ---- */

static bool has_part(const struct site *s, r4_split part)
{
  if (s->corpus.data) return r4_data_counts(s->corpus.data, -1, -1).examples[part];
  for (size_t k = 0; k < s->n; k++)
    if (r4_photos_at(s->photos, k).split == part) return true;
  return false;
}

static r4_status write_text_settings(const struct site *s, r4_error *e)
{
  char *text = corpus_settings(s);
  snprintf(e->text, sizeof e->text, "%s: out of memory", settings_file);
  r4_status status = text ? place_write(s, settings_file, text, strlen(text), e) : R4_E_MEMORY;
  free(text);
  return status;
}

/* Written once; from then on it is the user's. */
static r4_status ensure_settings(const struct site *s, r4_error *e)
{
  struct stamp there;
  char text[1024];
  int why = place_stat(s, settings_file, &there);
  if (why != ENOENT) return R4_OK; /* r4 train says what is wrong with it */
  if (s->corpus.data) return write_text_settings(s, e);
  int n = snprintf(
    text, sizeof text,
    "# Written by r4 serve, which will not touch it again. r4 help train lists the settings.\n"
    "data: .\n"
    "data.mask_means: irrelevant\n"
    "data.size: 64\n"
    "%s"
    "net: conv 16 3 p1, relu, maxpool 2, conv 32 3 p1, relu, maxpool 2, flatten, dense 64, relu, "
    "dense {classes}\n"
    "batch: %d\n"
    "epochs: 20\n",
    has_part(s, R4_VAL) ? "" : "data.val: 0.15      # of the photos for training, as none is called val\n",
    s->n < 200 ? 8 : 32);
  return place_write(s, settings_file, text, (size_t)n, e);
}

static bool is_older(const struct stamp *a, const struct stamp *b)
{
  return a->seconds < b->seconds || (a->seconds == b->seconds && a->nanoseconds < b->nanoseconds);
}

/* What the list masks is in the settings of a run, and is measured of both: it has to be the same. */
static bool has_same_words(const struct site *s, const struct stamp *model)
{
  return r4_listed_words_texts(s->words.count) && is_older(&s->words.stamp, model);
}

/* The net without masks is trained again if the settings have changed since. */
static bool before_is_done(const struct site *s)
{
  char path[PATH_MAX];
  struct stamp settings, model;
  snprintf(path, sizeof path, "%s/%s/seed-0/model.safetensors", site_runs(s), before);
  return !place_stat(s, settings_file, &settings) && !place_stat(s, path, &model) &&
         settings.seconds <= model.seconds && (!s->corpus.data || has_same_words(s, &model));
}

static void free_name(const struct site *s, char name[32])
{
  for (int k = 1;; k++) {
    snprintf(name, 32, "after-%d", k);
    if (!has_run(s, name, "config.yaml")) return;
  }
}

static struct task *add_training(struct site *s, int64_t group, const char *name, bool masks)
{
  char out[TASK_WORD];
  struct task *t = tasks_add(&s->tasks, TASK_TRAIN, group, name);
  if (!t) return NULL;
  snprintf(out, sizeof out, "%s/%s", site_runs(s), name);
  task_word(t, settings_file);
  if (!masks) task_word(t, "--set"), task_word(t, "method=erm");
  if (s->corpus.data && !count_masks(s)) task_word(t, "--set"), task_word(t, "data.mask_words=");
  task_word(t, "--out"), task_word(t, out);
  task_word(t, "--force");
  return t;
}

static struct task *add_report(struct site *s, int64_t group, const char *name)
{
  char run[TASK_WORD], page[TASK_WORD];
  struct task *t = tasks_add(&s->tasks, TASK_REPORT, group, name);
  if (!t) return NULL;
  snprintf(run, sizeof run, "%s/%s", site_runs(s), before);
  task_word(t, run);
  snprintf(run, sizeof run, "%s/%s", site_runs(s), name);
  if (strcmp(name, before)) task_word(t, run);
  snprintf(page, sizeof page, "%s/%s/report.html", site_runs(s), name);
  task_word(t, "--out"), task_word(t, page);
  task_word(t, "--force"), task_word(t, "--other-data"); /* masks were added since the first was trained */
  if (!has_part(s, R4_TEST)) task_word(t, "--split"), task_word(t, "val"); /* what is held out in any case */
  return t;
}

/* Without masks there is nothing but the net to compare with. */
void answer_train(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r, (void)body;
  r4_error e = {0};
  char name[32];
  size_t masks = count_masks(s);
  if (tasks_busy(&s->tasks, TASK_TRAIN, NULL)) {
    answer_error(a, 409, "training is already running");
    return;
  }
  r4_status status = ensure_settings(s, &e);
  if (status) {
    answer_failed(a, status, &e);
    return;
  }
  free_name(s, name);
  struct task *t = NULL;
  int64_t group = s->tasks.last + 1;
  if (!before_is_done(s)) t = add_training(s, group, before, false);
  if (masks) t = add_training(s, group, name, true);
  answer_task(add_report(s, group, masks ? name : before) ? t ? t : s->tasks.task + s->tasks.n - 1 : NULL, a);
}

void answer_stop(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  double number = -1;
  r4_json_as_real(r4_json_get(body, "task"), &number);
  for (size_t k = 0; k < s->tasks.n; k++)
    if ((double)s->tasks.task[k].number == number) {
      tasks_stop(&s->tasks, s->tasks.task[k].number);
      answer_task(s->tasks.task + k, a);
      return;
    }
  answer_error(a, 404, "no such task is known any more");
}

/* ---- What runs leave ---- */

/* The argument "run": a name, and nothing else. */
static const char *asked_run(const struct request *r, struct answer *a)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const char *run = r->argument(r->from, "run");
  if (run && *run && strlen(run) < 64 && !run[strspn(run, letters)]) return run;
  answer_error(a, 400, "run: expected a name of letters, digits, - and _");
  return NULL;
}

/* early: nothing is there yet, which is no error. */
static void answer_file(const struct site *s, const struct request *r, const char *file, const char *type,
                        bool early, struct answer *a)
{
  char path[PATH_MAX];
  uint8_t *bytes;
  size_t size;
  r4_error e = {0};
  const char *run = asked_run(r, a);
  if (!run) return;
  snprintf(path, sizeof path, "%s/%s/%s", site_runs(s), run, file);
  int why = place_read(s, path, MOST_FILE, &bytes, &size, NULL, &e);
  if (why == ENOENT && early)
    answer_bytes(a, type, NULL, 0, NULL);
  else if (why)
    answer_error(a, why == ENOENT ? 404 : 500, "%s", e.text);
  else
    answer_bytes(a, type, bytes, size, free);
}

void answer_log(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  answer_file(s, r, "seed-0/log.jsonl", "text/plain; charset=utf-8", true, a);
}

void answer_report(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  answer_file(s, r, "report.html", "text/html; charset=utf-8", false, a);
  a->report = a->status == 200;
}

void answer_settings(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r, (void)body;
  uint8_t *bytes;
  size_t size;
  r4_error e = {0};
  int why = place_read(s, settings_file, MOST_JSON, &bytes, &size, NULL, &e);
  if (why == ENOENT)
    answer_bytes(a, "text/plain; charset=utf-8", NULL, 0, NULL);
  else if (why)
    answer_error(a, 500, "%s", e.text);
  else
    answer_bytes(a, "text/plain; charset=utf-8", bytes, size, free);
}

/* ---- How far everything is ---- */

static void put_task(r4_json *w, const struct task *t)
{
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "task", t->number);
  r4_json_whole(w, "group", t->group);
  r4_json_text(w, "kind", task_kind_name(t->kind));
  r4_json_text(w, "state", task_state_name(t->state));
  r4_json_text(w, "about", t->about);
  r4_json_text(w, "said", t->said);
  r4_json_text(w, "stage", t->stage);
  r4_json_whole(w, "k", t->k);
  r4_json_whole(w, "n", t->n);
  r4_json_close(w, '}');
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
  return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static void put_runs(r4_json *w, const struct site *s)
{
  struct dirent **entry = NULL;
  int folder = place_open(s, site_runs(s), O_RDONLY | O_DIRECTORY);
  int n = folder < 0 ? 0 : scandirat(folder, ".", &entry, is_shown, by_name);
  r4_json_open(w, "runs", '[');
  for (int k = 0; k < n; k++) {
    const char *name = entry[k]->d_name;
    if (has_run(s, name, "config.yaml")) {
      r4_json_open(w, NULL, '{');
      r4_json_text(w, "name", name);
      r4_json_flag(w, "done", has_run(s, name, "seed-0/outcome.json"));
      r4_json_flag(w, "report", has_run(s, name, "report.html"));
      r4_json_close(w, '}');
    }
    free(entry[k]);
  }
  r4_json_close(w, ']');
  free(entry);
  if (folder >= 0) close(folder);
}

void answer_state(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r, (void)body;
  struct stamp there = {0};
  place_stat(s, "find.json", &there);
  const char *slash = strrchr(s->folder, '/');
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  const char *name = slash && slash[1] ? slash + 1 : s->folder;
  r4_json_text(w, "folder", s->corpus.data && s->table ? s->corpus.table : name);
  r4_json_text(w, "path", s->folder);
  r4_json_whole(w, s->corpus.data ? "texts" : "photos", (int64_t)s->n);
  r4_json_whole(w, "classes", (int64_t)s->classes);
  r4_json_whole(w, "masks", (int64_t)count_masks(s));
  r4_json_text(w, "refuses_masks", s->corpus.data ? s->refuses_words : s->refuses_masks);
  if (s->corpus.data) r4_json_whole(w, "words", (int64_t)r4_listed_words_size(s->words.count));
  if (s->corpus.data) r4_json_text(w, "list", s->words.version);
  r4_json_whole(w, "found", there.seconds * 1000 + there.nanoseconds / 1000000);
  r4_json_open(w, "tasks", '[');
  for (size_t k = 0; k < s->tasks.n; k++) put_task(w, s->tasks.task + k);
  r4_json_close(w, ']');
  put_runs(w, s);
  r4_json_close(w, '}');
  answer_json(a, w);
}
