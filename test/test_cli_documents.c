/* The commands of the documents: each line of a block that is one is run, in its order, in a folder of its document
 * with photos, texts, runs and nets as the documents assume them, or checked against the help, with the reason in a
 * table here. Needs $R4, the command. README.md has test_cli_readme. The tests run in the root of the tree. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "document_case.h"
#include "folder_make.h"
#include "known_case.h"
#include "mydata_case.h"

/* ---- The tables ---- */

/* RUNS in the folder of its document; HELP: as this cannot be run, its commands, options, settings and names of data
 * are looked up; TESTED: another test runs it, and HELP. */
enum how { RUNS, HELP, TESTED };

/* What is done with commands that have this text, the first line that fits: they are run with more options, must end
 * with this code, or are not run. All other commands are run as they are, and must end with 0. */
static const struct rule {
  const char *document, *text;
  enum how how;
  const char *more;
  int code;
  const char *why;
} rules[] = {
  {"README.md", "r4 ", TESTED, "", 0, "test_cli_readme runs them"},
  {"", "r4 data get", HELP, "", 0, "needs a network"},
  {"", "make", HELP, "", 0, "builds this tree, or installs"},
  {"", "pip install", HELP, "", 0, "make python-check installs it"},
  {"", "dpkg-buildpackage", HELP, "", 0, "a build of its own, with the tests"},
  {"", "ssh", HELP, "", 0, "needs other machines"},
  {"", "srun", HELP, "", 0, "needs Slurm; scripts/check-slurm has one"},
  {"", "sbatch", HELP, "", 0, "needs Slurm; scripts/check-slurm has one"},
  {"", "mpirun", HELP, "", 0, "needs MPI; scripts/check-mpi runs it"},
  {"", "experiments/gauntlet/", HELP, "", 0, "trains for hours"},
  {"", "table.py", HELP, "", 0, "needs Python"},
  {"", "parallel", HELP, "", 0, "needs other machines"},
  {"", "r4 data show pets", HELP, "", 0, "its photos are got by hand"},
  {"", "r4 data show salient-imagenet", HELP, "", 0, "its photos are got by hand"},
  {"", "train experiments/salient-imagenet", HELP, "", 0, "its photos are got by hand"},
  {"", "eval runs/salient-erm", HELP, "", 0, "its photos are got by hand"},
  {"", "eval runs/r3-features", HELP, "", 0, "the run before it is only planned"},
  {"", "train isic-pretrained/r3-features", HELP, "", 0, "its photos are got by hand"},
  {"doc/serve.md", "r4 serve", TESTED, "", 0, "does not end by itself; test_cli_serve runs it"},
  {"", "data lint", RUNS, "", 1, "there is something wrong with these photos"},
  {"doc/certificates.md", "--words run", RUNS, " --examples 4", 0, "for time"},
  {"doc/certificates.md", "--vnnlib", RUNS, " --force", 0, "the certificate exists by then"},
  {"doc/certificates.md", "r4 verify", RUNS, "", 1, "this one has a counter-example"},
  {"", "r4 work runs/s --status", RUNS, "", 1, "more are left: for time, one run of the plan is made"},
  {"", "r4 work runs/s", RUNS, " --most 1", 0, "for time"},
  {"doc/report.md", "--ablations", RUNS, " --force", 0, "the page exists by then"},
  {"", "--plan", RUNS, "", 0, "is planned already"},
  {"", "--slurm", RUNS, "", 0, "is planned already"},
  {"", "r4 reproduce", RUNS, " --plan", 0, "trains for hours: all its presets and settings are read"},
  {"", "r4 ablate", RUNS, " --plan", 0, "trains for hours: all its presets and settings are read"},
  {"", "r4 sweep", RUNS, " --plan", 0, "trains for hours: all its settings are read"},
};

/* What stands for something of the reader's, and what it is here. */
static const struct {
  const char *document, *word, *here;
} stands_for[] = {
  {"doc/certificates.md", "RUN --words", "runs/words --words"},
  {"", "RUN...", "runs/mydata runs/erm"},
  {"", "RUN", "runs/small"},
  {"", "CERTIFICATE MODEL.safetensors DATA.npz", "$CERTIFIED"},
  {"", "NET.onnx SPEC.vnnlib", "specs/seed-0.onnx specs/seed-0-00000.vnnlib"},
  {"doc/certificates.md", "DIR", "claims"},
  {"doc/scale.md", "--out runs/s --slurm", "--out runs/slurm --slurm"}, /* runs/s has another plan by then */
  {"", "experiments/decoy-mnist/certified/run OUT",
   "\"$ROOT\"/experiments/decoy-mnist/certified/run certified"},
  {"doc/onnx.md", "data.size: 64", "data.size: 16"},
  {"doc/onnx.md", "preprocess: imagenet", "preprocess: none"}, /* theirs takes grey photos */
  {"doc/find.md", "border-red-green-low", "cell-1-1-light-high"},
  {"doc/explain.md", "smoothgrad,...", "smoothgrad"},
  {"doc/recipes.md", "RECIPE", "decoy-mnist"},
  {"doc/recipes.md", "SOURCE", "digits:200"},
  {"doc/recipes.md", "--seed N", "--seed 3"},
  {"doc/recipes.md", "SHARE|none", "none"},
  {"doc/recipes.md", "...", "--out G.npz"},
  {"", "FILE.png", "maps.png"},
  {"doc/recipes.md", "[", ""}, /* what is in brackets may be left out: it is not */
  {"doc/recipes.md", "]", ""},
  {"doc/explain.md", "[", ""},
  {"doc/explain.md", "]", ""},
};

/* First words of commands; others are found by their line next to one of these. */
static const char *const programs[] = {
  "r4",   "r4-check", "make",    "pip",    "pip3",     "python", "python3",    "dpkg-buildpackage",
  "for",  "srun",     "sbatch",  "mpirun", "parallel", "ssh",    "jq",         "cat",
  "cd",   "apt",      "apt-get", "sudo",   "docker",   "podman", "git",        "curl",
  "wget", "npm",      "export",  "cc",     "gcc",      "cmake",  "tensorboard"};

/* ---- What a reader would have ---- */

static void put_texts(void)
{
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  fprintf(f, "text,label,split\n");
  for (int i = 0; i < 80; i++)
    fprintf(f, "%s %s of the,%s,%s\n", i % 2 ? "movie" : "film", i % 3 ? "good" : "bad",
            i % 2 ? "pos" : "neg",
            i % 10 == 9   ? "test"
            : i % 10 == 8 ? "val"
                          : "train");
  fclose(f);
  put_text(scratch_folder(), "films.csv", text);
  free(text);
  put_text(
    scratch_folder(), "films.yaml",
    "data: films.csv\ndata.tokenizer: vocab.txt\ndata.mask_words: movie film\nepochs: 12\nbatch: 8\nrate: "
    "0.03\n"
    "method: erm\nwords.list: movie film good\nnet: embedding 400 8, leaf, dense 8, relu, mean, dense 2\n");
}

static const char *const prepared[] = {
  "mkdir masks photos && cp mydata/masks/p00[124].png masks && cp mydata/images/p00[124].png photos",
  "cp \"$ROOT\"/test/tokens/vocab.txt .",
  "r4 train mydata.yaml --set method=erm --out runs/erm --quiet",
  "r4 train mydata.yaml --out runs/mydata --quiet",
  "cp -r runs/mydata runs/cert-r4",
  "r4 train mydata.yaml --set 'net=flatten, dense 8, relu, dense {classes}' --set epochs=40 --out runs/small "
  "--quiet",
  "mkdir certified && cp -r runs/small certified",
  "r4 certify runs/small --range --vnnlib specs --out c.txt --data c.npz",
  "r4 train films.yaml --out runs/words --quiet",
  "r4 export runs/mydata --onnx theirs.onnx",
  "r4 ablate own --only rate --out runs/decoy-mnist-ablations --quiet",
};

static char readme_text[1 << 16];

static void read_readme(void)
{
  FILE *f = fopen("README.md", "r");
  assert_non_null(f);
  readme_text[fread(readme_text, 1, sizeof readme_text - 1, f)] = 0;
  fclose(f);
}

/* Reviews as R4_DATA_DIR/imdb has them, and the files of words and rewritten texts next to them. */
static void put_downloads(const char *folder)
{
  put_text(folder, "imdb/reviews.json",
           "[{\"t\": \"a fine film\", \"s\": 1}, {\"t\": \"a bad film\", \"s\": 0}]\n");
  put_text(folder, "base/imdb_bad_pos.txt", "good\n");
  put_text(folder, "base/imdb_bad_neg.txt", "bad\n");
  put_text(folder, "base/orig/test.tsv", "Sentiment\tText\nPositive\ta fine film\n");
  put_text(folder, "base/new/test.tsv", "Sentiment\tText\nNegative\ta bad film\n");
}

/* An experiment with an ablation of two points. */
static void put_experiment(void)
{
  put_text(scratch_folder(), "own/erm.yaml",
           "data: mydata\ndata.mask_means: irrelevant\nmethod: erm\nepochs: 2\n"
           "net: flatten, dense {classes}\neval.kappa_examples: 0\n");
  put_text(scratch_folder(), "own/table.csv", "name,preset\nERM,erm\n");
  put_text(scratch_folder(), "own/ablations/rate.csv", "name,preset,x,values\nERM,erm,rate,0.001 0.01\n");
}

/* All of it is made once, in base, and copied for each document. */
static int make(void **state)
{
  char root[1000], path[3000], bin[1000];
  if (scratch_make(state) || !getcwd(root, sizeof root)) return -1;
  read_readme();
  mydata_photos(), mydata_settings(readme_text);
  put_texts(), put_experiment(), put_downloads(scratch_folder());
  snprintf(bin, sizeof bin, "%s/bin", scratch_folder());
  snprintf(path, sizeof path, "%s:%s", bin, getenv("PATH"));
  setenv("ROOT", root, 1), setenv("PATH", path, 1), setenv("R4_DATA_DIR", scratch_folder(), 1);
  setenv("CERTIFIED", "c.txt runs/small/seed-0/model.safetensors c.npz", 1);
  EXPECT("mkdir bin && ln -s $R4 bin/r4 && ln -s $(dirname $R4)/r4-check bin && rm -r new && mv mydata "
         "mydata.yaml films.* own base",
         0);
  for (size_t i = 0; i < sizeof prepared / sizeof *prepared; i++) {
    char line[1000];
    snprintf(line, sizeof line, "cd base && %s", prepared[i]);
    EXPECT(line, 0);
  }
  return 0;
}

/* ---- Blocks ---- */

static bool is_command(const char *text)
{
  char first[100];
  const char *begin = text + strspn(text, "(");
  snprintf(first, sizeof first, "%.*s", (int)strcspn(begin, " \n"), begin);
  if (!strncmp(first, "experiments/", 12) || !strncmp(first, "scripts/", 8) || !strncmp(first, "build", 5))
    return true;
  if (*begin != *text) return !strncmp(begin, "printf", 6);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(first, programs[i])) return true;
  return false;
}

/* "": all documents. */
static bool is_for(struct place at, const char *document)
{
  return !*document || !strcmp(at.document, document);
}

static const struct rule *rule_for(struct place at, const char *text)
{
  static const struct rule as_it_is = {"", "", RUNS, "", 0, ""};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (is_for(at, rules[i].document) && has_word(text, rules[i].text)) return rules + i;
  return &as_it_is;
}

/* text with what stands for something replaced. */
static void filled_in(struct place at, const char *text, char *to, size_t room)
{
  char before[2000];
  snprintf(to, room, "%s", text);
  for (size_t i = 0; i < sizeof stands_for / sizeof *stands_for; i++) {
    const char *word = stands_for[i].word;
    if (!is_for(at, stands_for[i].document)) continue;
    for (char *found = to; (found = strstr(found, word)); found += strlen(stands_for[i].here)) {
      snprintf(before, sizeof before, "%s", to);
      snprintf(found, room - (size_t)(found - to), "%s%s", stands_for[i].here,
               before + (found - to) + strlen(word));
    }
  }
}

/* A folder of its own for each document, made when it is needed. */
static void folder_for(struct place at)
{
  static char document[200];
  if (!strcmp(document, at.document)) return;
  snprintf(document, sizeof document, "%s", at.document);
  EXPECT("rm -rf here && cp -r base here", 0);
}

static void it_works(struct place at, const char *text, const struct rule *rule)
{
  char filled[1700], line[2000];
  filled_in(at, text, filled, sizeof filled);
  int n = snprintf(line, sizeof line, "%s%s", filled, rule->more);
  assert_in_range(n, 1, sizeof line - 1);
  folder_for(at);
  setenv("LINE", line, 1);
  int code =
    command_run("cd here && timeout 60 sh -c \"$LINE\""); /* as a command that waits would for ever */
  if (code == 127 && !strncmp(line, "jq ", 3)) {          /* not needed by anything else */
    print_message("# not run, as there is no jq: %s:%d\n", at.document, at.line);
    return;
  }
  if (code != rule->code || strstr(command_output, "Traceback"))
    wrong(at, "%s: code %d, expected %d; \"%.1500s\"", line, code, rule->code, command_output);
}

/* Counts of what was seen, over all documents. */
struct seen {
  int ran, looked_up;
};

static void a_command(const struct block_line *l, struct seen *seen)
{
  const struct rule *rule = rule_for(l->at, l->text);
  known_line(l->at, l->text);
  if (rule->how == RUNS)
    it_works(l->at, l->text, rule), seen->ran++;
  else
    seen->looked_up++;
}

/* Next to a command, "key: value" is a line of a file of settings, and all others are commands that nobody knows here.
 * */
static void not_a_command(const struct block_line *l)
{
  char key[200];
  size_t n = strcspn(l->text, ":");
  snprintf(key, sizeof key, "%.*s=", (int)n, l->text);
  if (l->text[n] != ':') wrong(l->at, "neither run nor looked up: \"%s\"", l->text);
  known_setting(l->at, key);
}

/* A block that begins with "# NAME.yaml" is that file, filled in; returns whether it is one. */
static bool put_settings(const struct block_line *line, size_t n)
{
  char text[4000] = "", filled[1700], name[100];
  size_t used = 0;
  if (sscanf(line->text, "# %90s", name) != 1 || !strstr(name, ".yaml")) return false;
  for (size_t i = 1; i < n; i++) {
    filled_in(line[i].at, line[i].text, filled, sizeof filled);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", filled);
    assert_true(used < sizeof text);
  }
  char path[120];
  snprintf(path, sizeof path, "here/%s", name);
  folder_for(line->at);
  put_text(scratch_folder(), path, text);
  return true;
}

static void commands_of(const char *document, void *to)
{
  size_t n;
  struct block_line *line = document_lines(document, &n);
  for (size_t first = 0, end; first < n; first = end) {
    bool session = line[first].session, commands = false;
    for (end = first; end < n && line[end].block == line[first].block; end++)
      commands = commands || is_command(line[end].text);
    if (!commands && put_settings(line + first, end - first)) continue;
    for (size_t i = first; commands && i < end; i++) {
      if (is_command(line[i].text) && (!session || line[i].session))
        a_command(line + i, to);
      else if (!session && *line[i].text)
        not_a_command(line + i);
    }
  }
  free(line);
}

/* 50 commands and more, so that none is overlooked because a block is not seen as one. */
static void every_command_works(void **state)
{
  (void)state;
  struct seen seen = {0};
  assert_in_range(documents_each(commands_of, &seen), 40, 1000);
  print_message("# %d commands run, %d looked up\n", seen.ran, seen.looked_up);
  assert_in_range(seen.ran, 40, 1000);
  assert_int_equal(wrong_count(), 0);
}

/* ---- Sentences ---- */

/* Tables and ablations are planned, which reads them. */
static void it_is_planned(struct place at, const char *text)
{
  const struct rule rule = {"", "", RUNS, " --plan --out ../planned", 0, ""};
  if (strstr(text, " --plan")) return;
  if (strstr(text, "data.from=few.jsonl")) return; /* a table that a reader makes first */
  EXPECT("rm -rf planned", 0);
  it_works(at, text, &rule);
}

static void a_code(struct place at, const char *text, void *to)
{
  ++*(int *)to;
  known_line(at, text);
  known_paths(at, text);
  known_key(at, text);
  if (!strncmp(text, "--", 2)) known_option(at, text);
  bool whole = !strncmp(text, "r4 reproduce ", 13) || !strncmp(text, "r4 ablate ", 10);
  if (whole && islower((unsigned char)strchr(text + 3, ' ')[1])) it_is_planned(at, text);
}

static void codes_of(const char *document, void *to)
{
  document_codes(document, a_code, to);
}

static void what_sentences_name_exists(void **state)
{
  (void)state;
  int n = 0;
  documents_each(codes_of, &n);
  assert_in_range(n, 1000, 100000);
  assert_int_equal(wrong_count(), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_command_works),
                                     cmocka_unit_test(what_sentences_name_exists)};
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli documents", tests, make, scratch_remove);
}
