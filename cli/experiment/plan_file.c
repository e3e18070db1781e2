/* plan.json: which runs several processes share, and by which command they are listed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "experiment/run_plan.h"
#include "json_out.h"

static int refuse(const char *path, const char *why)
{
  char text[PATH_MAX + 600];
  snprintf(text, sizeof text, "%s: %s", path, why);
  return cli_fail("work", R4_E_ARGUMENT, text);
}

static const char *name_of(const struct listed_run *r)
{
  const char *slash = strrchr(r->folder, '/');
  return slash ? slash + 1 : r->folder;
}

/* ---- Writing ---- */

static int64_t most_threads(const struct run_list *l)
{
  int64_t most = 1;
  for (size_t k = 0; k < l->runs; k++) {
    int64_t threads = run_list_threads(l, l->run[k].settings);
    if (threads > most) most = threads;
  }
  return most;
}

static void add_runs(r4_json *w, const struct run_list *l)
{
  r4_json_open(w, "runs", '[');
  for (size_t k = 0; k < l->runs; k++) {
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "name", name_of(&l->run[k]));
    r4_json_text(w, "asked", l->run[k].asked);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
}

struct writing {
  const struct run_list *l;
  char folder[PATH_MAX];
};

static int print_plan(FILE *f, const void *user)
{
  const struct writing *x = user;
  const struct plan_options *o = x->l->plan;
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_text(w, "command", x->l->command);
  r4_json_open(w, "words", '[');
  for (int k = 0; k < o->argc; k++) r4_json_text(w, NULL, o->argv[k]);
  r4_json_close(w, ']');
  r4_json_text(w, "folder", x->folder);
  r4_json_whole(w, "threads", most_threads(x->l));
  r4_json_whole(w, "beside", run_list_beside(x->l));
  add_runs(w, x->l);
  r4_json_checksum(w);
  return json_print(f, x->l->command, w);
}

/* Whoever makes a run has read the plan that is there. */
static int refuse_if_at_work(const struct run_list *l)
{
  char who[CLAIM_WHY], text[CLAIM_WHY + PATH_SIZE + 100];
  for (size_t k = 0; k < l->runs; k++) {
    struct claim c = plan_claim(l, k);
    if (claim_look(&c, who) != CLAIM_TAKEN) continue;
    snprintf(text, sizeof text, "%s: %s makes %s, by the plan that is there: stop that first", l->out, who,
             name_of(&l->run[k]));
    return cli_fail(l->command, R4_E_BUSY, text);
  }
  return EXIT_DONE;
}

static void say_next(const struct run_list *l, const char *folder)
{
  bool slurm = l->plan->slurm;
  fprintf(
    stderr,
    "%zu runs of %lld thread%s each are planned; on each machine that sees %s, as often as it has CPUs for: ",
    l->runs, (long long)most_threads(l), most_threads(l) > 1 ? "s" : "", shown(folder).text);
  fprintf(stderr, slurm ? "sbatch " : "r4 work ");
  cli_print_word(stderr, folder);
  fprintf(stderr, "%s\n", slurm ? "/plan.sbatch" : "");
}

/* Slurm writes what tasks say into OUT/work, and starts none if it cannot. */
static int write_script(const struct run_list *l, const char *out)
{
  char work[PATH_MAX + 16], text[PATH_MAX + 200];
  const char *slash = strrchr(out, '/');
  const struct plan_array a = {.name = slash[1] ? slash + 1 : "r4",
                               .out = out,
                               .runs = l->runs,
                               .beside = l->plan->slurm,
                               .cpus = most_threads(l) * run_list_beside(l)};
  const struct result_file file = {"plan.sbatch", plan_slurm_print};
  snprintf(work, sizeof work, "%s/work", out);
  snprintf(text, sizeof text, "%s: a folder cannot be made here", work);
  int code = folder_refuse_link(l->command, work);
  if (!code && !folder_make(work)) code = cli_fail(l->command, R4_E_IO, text);
  return code ? code : results_write(l->command, l->out, 1, &file, &a);
}

int plan_write(struct run_list *l)
{
  static struct writing w;
  char out[PATH_MAX], text[PATH_MAX + 200];
  const struct result_file file = {"plan.json", print_plan};
  int code = refuse_if_at_work(l);
  w.l = l;
  if (!code && !getcwd(w.folder, sizeof w.folder)) code = cli_fail(l->command, R4_E_IO, strerror(errno));
  if (!code) code = results_write(l->command, l->out, 1, &file, &w);
  if (code) return code;
  if (!realpath(l->out, out)) {
    snprintf(text, sizeof text, "%s: %s", l->out, strerror(errno));
    return cli_fail(l->command, R4_E_IO, text);
  }
  if (l->plan->slurm) code = write_script(l, out);
  if (!code) say_next(l, out);
  return code;
}

/* ---- Reading ---- */

void plan_free(struct plan *p)
{
  r4_json_value_free(p->root);
  p->root = NULL;
}

/* Positive, and not more than a machine may have. */
static bool take_count(const r4_json_value *root, const char *key, int64_t *to)
{
  double n = 0;
  if (!r4_json_as_real(r4_json_get(root, key), &n) || !(n >= 1 && n <= 65536)) return false;
  *to = (int64_t)n;
  return true;
}

static bool take_all(struct plan *p)
{
  const r4_json_value *words = r4_json_get(p->root, "words");
  p->command = r4_json_as_text(r4_json_get(p->root, "command"));
  p->folder = r4_json_as_text(r4_json_get(p->root, "folder"));
  p->runs = r4_json_size(r4_json_get(p->root, "runs"));
  p->words = r4_json_size(words);
  bool good = p->command && p->folder && p->words < sizeof p->word / sizeof *p->word;
  for (size_t k = 0; k < p->words && good; k++)
    good = (p->word[k] = r4_json_as_text(r4_json_at(words, k))) != NULL;
  return good && take_count(p->root, "threads", &p->threads) && take_count(p->root, "beside", &p->beside);
}

int plan_read(const char *path, struct plan *p)
{
  char why[200];
  r4_error e = {0};
  *p = (struct plan){.root = r4_json_read_sealed(path, &e)};
  if (!p->root) return cli_fail("work", e.status, e.text);
  const char *version = r4_json_as_text(r4_json_get(p->root, "r4"));
  bool same = version && !strcmp(version, R4_VERSION);
  snprintf(why, sizeof why,
           "is of r4 %.60s, this is r4 " R4_VERSION ": plan again, with the version that works",
           version ? shown(version).text : "?");
  int code = !same ? refuse(path, why) : !take_all(p) ? refuse(path, "is not a plan of runs") : EXIT_DONE;
  if (code) plan_free(p);
  return code;
}

/* ---- Agreeing ---- */

static bool is_one_folder(const char *a, const char *b)
{
  struct stat x, y;
  return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A copy of a plan would make runs in the folder of the original. */
static int check_place(const struct run_list *l, const char *path)
{
  char folder[PATH_MAX], why[PATH_SIZE + 100];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (is_one_folder(folder, l->out)) return EXIT_DONE;
  snprintf(why, sizeof why, "is the plan of the folder %s, and was moved or copied: plan again", l->out);
  return refuse(path, why);
}

static int check_runs(const struct run_list *l, const struct plan *p, const char *path)
{
  char why[400];
  const r4_json_value *runs = r4_json_get(p->root, "runs");
  if (p->runs != l->runs) {
    snprintf(why, sizeof why, "%zu runs are planned, and the command lists %zu now: plan again", p->runs,
             l->runs);
    return refuse(path, why);
  }
  for (size_t k = 0; k < l->runs; k++) {
    const r4_json_value *run = r4_json_at(runs, k);
    const char *name = r4_json_as_text(r4_json_get(run, "name")),
               *asked = r4_json_as_text(r4_json_get(run, "asked"));
    if (name && asked && !strcmp(name, name_of(&l->run[k])) && !strcmp(asked, l->run[k].asked)) continue;
    snprintf(why, sizeof why, "%.250s has other settings or data now than when it was planned: plan again",
             name_of(&l->run[k]));
    return refuse(path, why);
  }
  return EXIT_DONE;
}

/* With fewer threads a run would end with other bits. */
static int check_threads(const struct run_list *l, const char *path)
{
  char why[300];
  int64_t here = threads_share(1), most = most_threads(l);
  if (most <= here || l->plan->work->status) return EXIT_DONE;
  snprintf(why, sizeof why,
           "its runs compute with %lld threads each, and this process may use %lld: their results would be "
           "others. Give "
           "it more CPUs, or plan with --set threads=%lld",
           (long long)most, (long long)here, (long long)here);
  return refuse(path, why);
}

int plan_take(struct run_list *l)
{
  const struct plan_work *w = l->plan->work;
  int64_t room = threads_share(1) / w->plan->threads;
  l->threads = w->plan->threads;
  if (l->rows) l->jobs = w->plan->beside < room ? w->plan->beside : room > 1 ? room : 1;
  l->quiet = l->quiet || w->quiet;
  int code = check_place(l, w->path);
  if (!code) code = check_runs(l, w->plan, w->path);
  return code ? code : check_threads(l, w->path);
}
