#include "known_case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* ---- The tables ---- */

/* Options of programs of others, in sentences. */
static const struct {
  const char *option, *of;
} foreign[] = {
  {"--cpus-per-task", "srun"}, {"--signal", "sbatch"},      {"--requeue", "sbatch"},
  {"--map-by", "mpirun"},      {"--bind-to", "mpirun"},     {"--build-arg", "podman"},
  {"--isolation", "podman"},   {"--nthreads", "dask"},      {"--cflags", "pkg-config"},
  {"--libs", "pkg-config"},    {"--logdir", "tensorboard"}, {"--quiet", "r4-check"},
};

/* What sentences have that looks like a command or a file. */
static const struct {
  const char *text, *why;
} neither[] = {
  {"was", "a message: r4 was compiled for .."},
  {"cannot", "a message: r4 cannot .."},
  {"src/op/softplus.c", "the example that a reader writes"},
};

/* ---- What is wrong, of all documents ---- */

static int faults;

void wrong(struct place at, const char *format, ...)
{
  va_list values;
  char text[4000];
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  print_error("%s:%d: %s\n", at.document, at.line, text);
  faults++;
}

int wrong_count(void)
{
  int n = faults;
  faults = 0;
  return n;
}

/* ---- What help knows ---- */

/* What the shell prints, until the next call. */
static const char *printed(const char *line)
{
  command_run(line);
  return command_output;
}

/* The help of a command, of "train --all" for settings; "" if there is no such command. */
static const char *help_of(const char *command)
{
  static struct {
    char command[40], *text;
  } known[60];
  size_t i = 0;
  for (; known[i].text; i++)
    if (!strcmp(known[i].command, command)) return known[i].text;
  if (i + 1 == sizeof known / sizeof *known) fail_msg("more commands than a test can look up");
  char line[100];
  snprintf(line, sizeof line, "r4 help %s", command);
  snprintf(known[i].command, sizeof known[i].command, "%s", command);
  known[i].text = strdup(command_run(line) ? "" : command_output);
  return known[i].text;
}

/* word stands in text, and no part of a longer name. */
bool has_word(const char *text, const char *word)
{
  size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at++) {
    char before = at == text ? ' ' : at[-1], after = at[n];
    bool ends = !isalnum((unsigned char)word[n - 1]) ||
                (!isalnum((unsigned char)after) && !(after && strchr("_-", after)));
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-.", before) && ends) return true;
  }
  return false;
}

/* "KEY=VALUE": a setting of the help. */
void known_setting(struct place at, const char *text)
{
  char line[100];
  snprintf(line, sizeof line, "\n  %.*s ", (int)strcspn(text, "="), text);
  if (!strcmp(text, "KEY=VALUE") || strstr(help_of("train --all"), line)) return;
  wrong(at, "no setting \"%s\" (r4 help train --all)", text);
}

/* ---- A command, word by word ---- */

static bool is_neither(const char *text)
{
  for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
    if (!strcmp(neither[i].text, text)) return true;
  return false;
}

struct words {
  char text[1600], *word[200];
  size_t n;
};

/* Quotes belong to no word; what separates commands is a word of its own. */
static void split(const char *text, struct words *w)
{
  snprintf(w->text, sizeof w->text, "%s", text);
  w->n = 0;
  for (char *rest = NULL, *word = strtok_r(w->text, " \t\n", &rest); word;
       word = strtok_r(NULL, " \t\n", &rest)) {
    word += strspn(word, "\"'([");
    size_t n = strlen(word);
    while (n && strchr("\"')]", word[n - 1])) word[--n] = 0;
    if (n && w->n + 1 < sizeof w->word / sizeof *w->word) w->word[w->n++] = word;
  }
}

static bool ends_command(const char *word)
{
  static const char *const end[] = {";", "|", "&", "&&", "do", "done;", ">"};
  for (size_t i = 0; i < sizeof end / sizeof *end; i++)
    if (!strcmp(word, end[i])) return true;
  return false;
}

/* "r4 data show ...": the command and how many words its name has; 0 if it is a placeholder or an option. */
static size_t name_of(const struct words *w, size_t first, char *name, size_t room)
{
  if (first >= w->n || !islower((unsigned char)w->word[first][0])) return 0;
  bool two =
    !strcmp(w->word[first], "data") && first + 1 < w->n && islower((unsigned char)w->word[first + 1][0]);
  snprintf(name, room, "%s%s%s", w->word[first], two ? " " : "", two ? w->word[first + 1] : "");
  return two ? 2 : 1;
}

/* The command after word "r4": it, its options and its settings are in the help, and data sets in the list. */
static void known_command(struct place at, const struct words *w, size_t first)
{
  char name[80], option[80];
  size_t n = name_of(w, first, name, sizeof name);
  if (!n || !strcmp(name, "help") || is_neither(name)) return;
  const char *help = help_of(name);
  if (!*help) wrong(at, "no command \"r4 %s\"", name);
  for (size_t i = first + n; i < w->n && !ends_command(w->word[i]); i++) {
    const char *word = w->word[i], *value = i + 1 < w->n ? w->word[i + 1] : "";
    snprintf(option, sizeof option, "%.*s", (int)strcspn(word, "=|"), word);
    if (strncmp(option, "--", 2)) continue;
    if (!has_word(help, option)) wrong(at, "r4 %s has no %s", name, option);
    if (!strcmp(option, "--set") || !strcmp(option, "--over")) known_setting(at, value);
  }
  const char *what = first + n < w->n ? w->word[first + n] : "NAME";
  if (!strcmp(name, "data get") && islower((unsigned char)what[0]) &&
      !has_word(printed("r4 data list"), what))
    wrong(at, "r4 data list has no %s", what);
}

static const char *file_text(const char *path)
{
  static char text[1 << 17];
  FILE *f = fopen(path, "r");
  if (!f) fail_msg("there is no %s", path);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  return text;
}

/* "make TARGET NAME=VALUE": both are in the Makefile. */
static void known_target(struct place at, const struct words *w, size_t first)
{
  const char *makefile = file_text("Makefile");
  for (size_t i = first; i < w->n && !ends_command(w->word[i]); i++) {
    char word[80];
    size_t n = strcspn(w->word[i], "=");
    if (w->word[i][0] == '-' || strchr(w->word[i], '/') ||
        isupper((unsigned char)w->word[i][0]) != (w->word[i][n] == '='))
      continue;
    snprintf(word, sizeof word, w->word[i][n] ? "%.*s" : "\n%.*s:", (int)n, w->word[i]);
    if (w->word[i][n] ? !has_word(makefile, word) : !strstr(makefile, word))
      wrong(at, "make knows no \"%s\"", w->word[i]);
  }
}

/* A path of the tree, as far as it is one: what stands for something is none. */
static void known_path(struct place at, const char *word)
{
  if (is_neither(word)) return;
  static const char *const folder[] = {"scripts/",  "experiments/", "src/",   "cli/",  "test/",  "bench/",
                                       "examples/", "include/",     "check/", "nets/", "python/"};
  struct stat about;
  for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
    if (!strncmp(word, folder[i], strlen(folder[i])) && !strpbrk(word, "*{}<>$ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
        stat(word, &about))
      wrong(at, "there is no %s", word);
}

/* All that can be looked up of a command that is not run. */
void known_line(struct place at, const char *text)
{
  struct words w;
  split(text, &w);
  for (size_t i = 0; i < w.n; i++) {
    const char *slash = strrchr(w.word[i], '/'), *base = slash ? slash + 1 : w.word[i];
    if (!strcmp(base, "r4") && !strchr(w.word[i], '=')) known_command(at, &w, i + 1);
    if (!i && !strcmp(base, "make")) known_target(at, &w, 1);
    if (!i) known_path(at, w.word[i]);
  }
}

/* ---- Options alone ---- */

static bool is_foreign(const char *option)
{
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (!strcmp(foreign[i].option, option)) return true;
  return false;
}

/* An option without its command: some command has it. */
void known_option(struct place at, const char *text)
{
  static char *all;
  char option[80];
  if (!all)
    all = strdup(
      printed("for c in $(r4 help | awk '/^  [a-z]/ {print $1}') \"data get\" \"data make\" \"data show\" "
              "\"data lint\"; do r4 help $c; done; cat \"$ROOT\"/scripts/*"));
  snprintf(option, sizeof option, "%.*s", (int)strcspn(text, "= |"), text);
  if (!has_word(all, option) && !is_foreign(option)) wrong(at, "no command has %s", option);
}

void known_paths(struct place at, const char *text)
{
  struct words w;
  split(text, &w);
  for (size_t i = 0; i < w.n; i++) known_path(at, w.word[i]);
}

void known_key(struct place at, const char *text)
{
  char key[100];
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-.");
  if (strncmp(text + n, ": ", 2) || !memchr(text, '.', n)) return;
  snprintf(key, sizeof key, "%.*s=", (int)n, text);
  known_setting(at, key);
}
