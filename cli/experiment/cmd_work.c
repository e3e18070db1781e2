/* r4 work: trains runs of a plan, as one of many. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/run_plan.h"

struct work_settings {
  const char *out;
  bool status, again, wait, quiet;
  int64_t most;
};

#define AT(field) offsetof(struct work_settings, field)
static const struct option options[] = {
  {"OUT", OPTION_WORD, AT(out), NULL, 0, 0,
   "folder with a plan.json, by r4 sweep, reproduce or ablate with --plan"},
  {"status", OPTION_FLAG, AT(status), NULL, 0, 0,
   "train nothing; print what is done, running and failed, and the tables of what is done; exit code 1 until all is "
   "done"},
  {"wait", OPTION_FLAG, AT(wait), NULL, 0, 0, "stay while others train, and take over what they leave unfinished"},
  {"most", OPTION_WHOLE, AT(most), "0", 0, 1000000, "end after N runs; 0: when none is left"},
  {"again", OPTION_FLAG, AT(again), NULL, 0, 0, "also try failed runs once more"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  {0},
};

/* The commands that list runs. */
static const struct {
  const struct command *command;
  int (*list)(int argc, char **argv, const struct plan_work *w);
} lists[] = {
  {&command_sweep, sweep_list},
  {&command_reproduce, reproduce_list},
  {&command_ablate, ablate_list},
};

/* The command of the plan once more, where it was given. */
static int give_again(struct plan *p, const struct plan_work *w)
{
  char *argv[sizeof p->word / sizeof *p->word], text[PATH_MAX + 200];
  for (size_t k = 0; k < p->words; k++)
    argv[k] = (char *)(uintptr_t)p->word[k]; /* options are read, and not changed */
  if (chdir(p->folder)) {
    snprintf(text, sizeof text, "%s: the plan was made in the folder %s: %s", w->path, p->folder,
             strerror(errno));
    return cli_fail("work", R4_E_IO, text);
  }
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
    if (!strcmp(lists[k].command->name, p->command)) return lists[k].list((int)p->words, argv, w);
  snprintf(text, sizeof text, "%s: is a plan of r4 %.60s, which lists no runs", w->path, p->command);
  return cli_fail("work", R4_E_ARGUMENT, text);
}

static int run(int argc, char **argv)
{
  struct work_settings o;
  static struct plan p;
  char folder[PATH_MAX], path[PATH_MAX + 16], text[PATH_MAX + 200];
  if (!options_read("work", options, &o, argc, argv)) return EXIT_USAGE;
  if (!realpath(o.out, folder)) {
    snprintf(text, sizeof text, "%s: %s", o.out, strerror(errno));
    return cli_fail("work", R4_E_IO, text);
  }
  snprintf(path, sizeof path, "%s/plan.json", folder);
  if (!is_file(path)) {
    snprintf(text, sizeof text,
             "%s: there is no plan.json: r4 sweep, reproduce or ablate with --plan makes one", o.out);
    return cli_fail("work", R4_E_IO, text);
  }
  int code = plan_read(path, &p);
  if (code) return code;
  const struct plan_work w = {.path = path,
                              .plan = &p,
                              .status = o.status,
                              .again = o.again,
                              .wait = o.wait,
                              .quiet = o.quiet,
                              .most = o.most};
  code = give_again(&p, &w);
  plan_free(&p);
  return code;
}

const struct command command_work = {
  .name = "work",
  .summary = "train runs of a plan, as one of many workers",
  .details = "Trains the next run of a plan that is neither done nor taken by another worker, and then the next, until "
             "none is left.\n"
             "Start as many workers as you like, on any machines that see the folder. If one is killed, another takes "
             "over its run,\n"
             "from the checkpoint. Ctrl-C, SIGTERM and SIGUSR1 save and stop. A run that failed is tried again with "
             "--again only;\n"
             "OUT/work/NAME.log has what it said. See doc/scale.md.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
