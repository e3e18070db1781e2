/* The command on folders made to do harm: names that are more than text, files that never end, no home. Needs $R4. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"

#define HARMLESS(...)    \
  do {                   \
    EXPECT(__VA_ARGS__); \
    command_harmless();  \
  } while (0)

static void names_do_no_harm(void **state)
{
  (void)state;
  static const char *const names[] = {"c\x1b]0;title\x07t", "c\xff", "d\xc2\x9b\x31mog",
                                      "e\xe2\x80\xae\nf\"\\"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    for (int i = 0; i < 2; i++) {
      char path[64];
      snprintf(path, sizeof path, "names/%s/%s%d.png", names[k], names[k], i);
      put_grey(scratch_folder(), path, 8, 8, (uint8_t)(k + 1),
               200); /* twice the same, so that lint names it */
    }
  HARMLESS("$R4 data show names", 0, "\nc\\x1b]0;title\\x07t ", "\nd\\u009b1mog ", "\ne\\u202e\\x0af\"\\ ");
  HARMLESS("$R4 data show names --json", 0, "\"c\\u001b]0;title\\u0007t\"", "\"d\\u009b1mog\"");
  js_free(command_json());
  HARMLESS("$R4 data lint names", 1, "(e\\u202e\\x0af\"\\/e\\u202e\\x0af\"\\0.png)");
  HARMLESS("$R4 data lint names --json", 1, "repeated");
  js_free(command_json());
  EXPECT("$R4 data show names --out names.png >/dev/null && head -c 4 names.png | tail -c 3", 0, "PNG");
  HARMLESS("mkdir \"$(printf 'x\\033[2Jy')\"; $R4 data show \"$(printf 'x\\033[2Jy')\"", 3,
           "x\\x1b[2Jy: not a known");
  put_text(scratch_folder(), "names/metadata.csv", "file,label\n\x1b[1m.png,cat\n");
  HARMLESS("$R4 data show names", 3, "file \\x1b[1m.png: is neither in");
}

static void runs_do_no_harm(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "pets", .cat = "c\x1b[31mt", .dog = "d\xffg", .test = 6, .masked = true});
  pets_settings("pets.yaml", "pets", "method: r3\nlambda: 0.1\n");
  HARMLESS("$R4 train pets.yaml --out run --quiet", 0, "run");
  command_run("$R4 eval run");
  command_harmless();
  assert_non_null(strstr(command_output, "c\\x1b[31mt"));
  command_run("$R4 eval run --json");
  command_harmless();
  js_free(command_json());
  command_run("$R4 eval run run --json >/dev/null; $R4 eval run run");
  command_harmless();
  command_run("$R4 explain run --out run.png");
  command_harmless();
}

/* Somebody shortens the cache while a run looks into it. */
static void cache_that_is_shortened(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "shortened", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("shortened.yaml", "shortened", "method: erm\ndata.cache: shortened-cache\n");
  EXPECT("$R4 train shortened.yaml --set epochs=1000000 --out cut --quiet 2>said & pid=$!; for _ in $(seq 600); do "
         "[ -s cut/seed-0/log.jsonl ] && break; sleep 0.05; done; for f in shortened-cache/*.images; do : >$f; done; "
         "wait $pid; code=$?; cat said; exit $code",
         3, ".images: became shorter while it was in use");
}

static void without_a_home(void **state)
{
  (void)state;
  EXPECT("mkdir nowhere && cd nowhere && unset R4_DATA_DIR XDG_DATA_HOME HOME; $R4 data get mnist", 3,
         "r4 data get: there is no folder of data sets: set R4_DATA_DIR");
  EXPECT("cd nowhere && unset R4_DATA_DIR XDG_DATA_HOME HOME; $R4 data show mnist", 3, "set R4_DATA_DIR");
  EXPECT("cd nowhere && unset R4_DATA_DIR XDG_DATA_HOME HOME; $R4 data list", 0,
         "not on this machine; r4 data get mnist");
  EXPECT("cd nowhere && unset R4_DATA_DIR XDG_DATA_HOME HOME; $R4 data show digits:10", 0, "11 examples");
  EXPECT("ls -A nowhere | wc -l", 0, "0\n");
}

/* These would wait for ever. */
static void pipes_are_refused(void **state)
{
  (void)state;
  put_grey(scratch_folder(), "pipes/cat/a.png", 8, 8, 1, 2);
  EXPECT("mkfifo pipes/cat/b.png p.npz p.yaml && timeout 20 $R4 data show pipes", 3,
         "b.png: is a pipe, expected a file");
  EXPECT("timeout 20 $R4 data show p.npz", 3, "p.npz: is a pipe, expected a file");
  EXPECT("timeout 20 $R4 data lint p.npz", 3, "p.npz: is a pipe, expected a file");
  EXPECT("mkdir run-of-pipes && mkfifo run-of-pipes/config.yaml && timeout 20 $R4 eval run-of-pipes", 3,
         "config.yaml: is a pipe, expected a file");
}

/* ---- Links in the folder of a run that came from somebody else ---- */

/* The command on a copy of the run, in which name is a link to a file outside, refuses; the file stays as it was. */
static void link_is_refused(const char *name, const char *command, const char *says)
{
  char line[400];
  snprintf(line, sizeof line,
           "rm -rf copy && cp -r linked copy && echo kept > outside.txt && "
           "ln -sf \"$PWD/outside.txt\" copy/%s && $R4 %s",
           name, command);
  EXPECT(line, 3, says, "is a link");
  EXPECT("cat outside.txt", 0, "kept\n");
}

static void links_in_runs_lead_nowhere(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "pets2", .cat = "cat", .dog = "dog", .test = 6});
  pets_settings("pets2.yaml", "pets2", "tensorboard: true\n");
  EXPECT("$R4 train pets2.yaml --out linked --quiet", 0, "");
  static const char resume[] = "train copy --resume --quiet", force[] = "train copy --force --quiet";
  link_is_refused("lock", resume, "copy/lock: ");
  link_is_refused("lock", force, "copy/lock: ");
  link_is_refused("seed-0/lock", resume, "seed-0/lock: ");
  link_is_refused("seed-0/metrics.csv", resume, "seed-0/metrics.csv: ");
  link_is_refused("seed-0/metrics.csv", force, "seed-0/metrics.csv: ");
  link_is_refused("seed-0/events.out.tfevents.r4", resume, "seed-0/events.out.tfevents.r4: ");
  link_is_refused("seed-0/log.jsonl", force, "seed-0/log.jsonl: ");
}

/* A folder of a seed is one, and no link to another: neither to train there nor to keep what is measured. */
static void linked_folders_are_refused(void **state)
{
  (void)state;
  EXPECT("rm -rf copy && cp -r linked copy && mv copy/seed-0 elsewhere && ln -s ../elsewhere copy/seed-0 && "
         "echo kept > elsewhere/x.part; $R4 train copy --force --quiet",
         3, "copy/seed-0: is a link, expected a folder");
  EXPECT("$R4 eval copy", 3, "copy/seed-0: is a link, expected a folder");
  EXPECT("ls elsewhere", 0, "x.part\n");
  command_lacks("eval.json");
  EXPECT("mkdir -p swept far && ln -s ../far swept/runs && "
         "$R4 sweep pets2.yaml --over rate=0.01,0.02 --set epochs=1 --out swept --quiet; ls -A far",
         0, "swept/runs: is a link, expected a folder");
  command_lacks("config.yaml");
}

/* What only reads a run makes no folder that its settings name, and adds nothing to one that is there. */
static void caches_of_runs_are_only_read(void **state)
{
  (void)state;
  EXPECT("rm -rf copy && cp -r linked copy && sed -i 's|^data.cache:.*|data.cache: \"'$PWD'/kept\"|' "
         "copy/config.yaml copy/seed-0/config.yaml && grep kept copy/config.yaml && $R4 eval copy && "
         "$R4 explain copy --out x.png && $R4 report copy --out x.html && $R4 predict copy pets2/images/00.png; ls",
         0, "x.html");
  command_lacks("kept\n");
  EXPECT("mkdir kept && $R4 eval copy && ls -A kept | wc -l", 0, "\n0\n");
  EXPECT("$R4 train copy --out cached --set data.cache=kept --quiet && ls -A kept | grep -c images$", 0, "\n1\n");
}

/* A spreadsheet runs what begins so. */
static void tables_run_nothing(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "sums", .cat = "=1+1", .dog = "@sum", .test = 4});
  pets_settings("sums.yaml", "sums", "");
  EXPECT("$R4 train sums.yaml --out summed --quiet && cp sums/images/00.png =a.png && "
         "cp sums/images/01.png +b.png && $R4 predict summed =a.png +b.png --csv",
         0, "\n'=a.png,'=1+1,0.", "\n'+b.png,'@sum,0.");
}

/* What is written beside and renamed: a link there goes, and nothing behind it changes. */
static void links_beside_lead_nowhere(void **state)
{
  (void)state;
  EXPECT("mkdir -p swept2 && echo kept > outside.txt && ln -s ../outside.txt swept2/results.json.part && "
         "$R4 sweep pets2.yaml --over rate=0.01,0.02 --set epochs=1 --out swept2 --quiet >/dev/null && "
         "cat outside.txt && cat swept2/results.json",
         0, "kept\n{");
}

int main(void)
{
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_do_no_harm), cmocka_unit_test(runs_do_no_harm),
                                     cmocka_unit_test(cache_that_is_shortened),
    cmocka_unit_test(without_a_home), cmocka_unit_test(pipes_are_refused),
                                     cmocka_unit_test(links_in_runs_lead_nowhere),
                                     cmocka_unit_test(linked_folders_are_refused),
                                     cmocka_unit_test(caches_of_runs_are_only_read),
                                     cmocka_unit_test(tables_run_nothing),
                                     cmocka_unit_test(links_beside_lead_nowhere)};
  return cmocka_run_group_tests_name("cli_hostile", tests, scratch_make, scratch_remove);
}
