/* The command r4: a table of commands, as in git. */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "help.h"

static const struct command *const commands[] = {
  &command_data,    &command_find,  &command_train,  &command_eval,      &command_certify, &command_verify,
  &command_explain,
  &command_predict, &command_export, &command_reproduce, &command_ablate,  &command_sweep,
  &command_work,    &command_report,  &command_serve,  &command_bench,     &command_graph,   &command_nets,
  &command_ops,     NULL};

static const struct command root = {
  .summary = "r4 trains networks that are right for the right reasons.",
  .details = "Exit codes: 0 done, 1 the result is negative, 2 usage or settings,\n"
             "            3 input (a file is missing or damaged), output or memory.",
  .parts = commands,
};

int cli_code(r4_status status)
{
  bool usage = status == R4_E_ARGUMENT || status == R4_E_SHAPE || status == R4_E_RULE;
  return usage ? EXIT_USAGE : EXIT_WORLD;
}

int cli_fail(const char *name, r4_status status, const char *text)
{
  char safe[4096]; /* paths may be in it */
  if (!*text) text = status == R4_E_MEMORY ? "out of memory" : r4_status_name(status);
  r4_text_printable(text, safe, sizeof safe);
  fprintf(stderr, "r4 %s: %s\n", name, safe);
  return cli_code(status);
}

/* $'..' is the form of bash, zsh and others that can hold control characters. */
void cli_print_word(FILE *f, const char *s)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+,@%=";
  bool control = false;
  if (*s && !s[strspn(s, plain)]) {
    fputs(s, f);
    return;
  }
  for (const char *c = s; *c; c++) control = control || iscntrl((unsigned char)*c);
  fputs(control ? "$'" : "'", f);
  for (; *s; s++) {
    if (iscntrl((unsigned char)*s))
      fprintf(f, "\\%03o", (unsigned)(unsigned char)*s);
    else if (control && (*s == '\'' || *s == '\\'))
      fprintf(f, "\\%c", *s);
    else
      fprintf(f, *s == '\'' ? "'\\''" : "%c", *s);
  }
  fputc('\'', f);
}

struct shown shown(const char *s)
{
  struct shown to;
  r4_text_printable(s, to.text, sizeof to.text);
  return to;
}

enum { PATH_SIZE = 64 }; /* for "r4 data make" */

static const struct command *find(const struct command *c, const char *name)
{
  for (const struct command *const *part = c->parts; part && *part; part++)
    if (!strcmp((*part)->name, name)) return *part;
  return NULL;
}

/* The part of c that has a part of this name: "lint" is one of "data". */
static const struct command *owner(const struct command *c, const char *name)
{
  for (const struct command *const *part = c->parts; part && *part; part++)
    if (find(*part, name)) return *part;
  return NULL;
}

static int unknown(const struct command *c, const char *path, const char *name)
{
  const char *best = NULL;
  size_t least = 3;
  for (const struct command *const *part = c->parts; part && *part; part++) {
    size_t distance = r4_word_distance(name, (*part)->name);
    if (distance < least) least = distance, best = (*part)->name;
  }
  const struct command *below = c == &root ? owner(c, name) : NULL;
  fprintf(stderr, "%s: no command \"%s\"", path, name);
  if (below)
    fprintf(stderr, "; did you mean %s %s?", below->name, name);
  else if (best)
    fprintf(stderr, "; did you mean %s?", best);
  fprintf(stderr, "\nTry: r4 help%s\n", path + strlen("r4"));
  return EXIT_USAGE;
}

static void help_parts(FILE *f, const struct command *c, const char *path)
{
  if (c == &root)
    fprintf(f, "%s", c->summary);
  else
    fprintf(f, "%s: %s", path, c->summary);
  fprintf(f, "\n\nUsage: %s COMMAND [OPTIONS]\n\n", path);
  for (const struct command *const *part = c->parts; *part; part++)
    fprintf(f, "  %-9s  %s\n", (*part)->name, (*part)->summary);
  if (c == &root)
    fprintf(f, "  %-9s  %s\n", "help",
            "explain a command, a setting or the methods: r4 help train, r4 help lambda, r4 help methods");
  else
    fprintf(f, "\nMore about one of them: r4 help%s COMMAND\n", path + strlen("r4"));
  fprintf(f, "\n%s\n", c->details);
}

static int help(const struct command *c, const char *path, bool all)
{
  if (c->parts) {
    help_parts(stdout, c, path);
    return EXIT_DONE;
  }
  printf("%s: %s\n\nUsage: %s", path, c->summary, path);
  options_usage(c->options);
  printf("\n\n%s\n", c->details);
  if (c->options->name) printf("\n");
  options_help(c->options);
  if (c->more) c->more(all);
  return EXIT_DONE;
}

/* Appends the name of a part to the path of the whole. */
static void go_down(char path[PATH_SIZE], const char *name)
{
  size_t length = strlen(path);
  snprintf(path + length, PATH_SIZE - length, " %s", name);
}

/* r4 help COMMAND .. [--all], or a topic: a setting, "methods". */
static int run_help(int argc, char **argv)
{
  char path[PATH_SIZE] = "r4";
  const struct command *c = &root;
  bool all = false;
  for (int k = 0; k < argc; k++) {
    const struct command *part = find(c, argv[k]);
    if (!strcmp(argv[k], "--all")) {
      all = true;
      continue;
    }
    if (c == &root && !strcmp(argv[k], "help")) continue; /* r4 help help */
    if (!part && (c == &root || c->more) && help_topic(argv[k])) return EXIT_DONE; /* r4 help train explain */
    if (!part) return unknown(c, path, argv[k]);
    go_down(path, part->name);
    c = part;
  }
  int code = help(c, path, all);
  if (help_is_setting(c->name ? c->name : "")) printf("\nThe setting %s: r4 help train %s\n", c->name, c->name);
  return code;
}

static bool has_all(int argc, char **argv)
{
  for (int k = 0; k < argc; k++)
    if (!strcmp(argv[k], "--all")) return true;
  return false;
}

static bool is_help(const char *word)
{
  return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int print_version(void)
{
  printf("r4 %s\n", R4_VERSION);
  printf("built for %s\n", r4_cpu_built_for());
  const char *features = r4_cpu_features();
  char dnn[R4_VERSION_SIZE];
  r4_onednn_version(dnn);
  printf("oneDNN %s\n", dnn);
  const char *missing = r4_bf16_missing();
  printf("precision bf16: %s\n", missing ? missing : "yes");
  printf("this CPU has %s\n", *features ? features : "no features known to r4, which knows those of x86");
  return EXIT_DONE;
}

static int run(int argc, char **argv)
{
  char path[PATH_SIZE] = "r4", **all = argv;
  const struct command *c = &root;
  for (argc--, argv++; c->parts; argc--, argv++) {
    if (argc < 1) {
      help_parts(stderr, c, path);
      return EXIT_USAGE;
    }
    if (is_help(argv[0])) return help(c, path, false);
    if (c == &root && !strcmp(argv[0], "help")) return run_help(argc - 1, argv + 1);
    if (c == &root && (!strcmp(argv[0], "--version") || !strcmp(argv[0], "version"))) return print_version();
    const struct command *part = find(c, argv[0]);
    if (!part) return unknown(c, path, argv[0]);
    go_down(path, part->name);
    c = part;
  }
  for (int k = 0; k < argc; k++)
    if (is_help(argv[k])) return help(c, path, c->more && has_all(argc, argv));
  if (c->threads != THREADS_NONE) threads_settle(all);
  mapped_catch_missing(path + strlen("r4 "));
  if (c->threads == THREADS_HERE) threads_use(path + strlen("r4 "), 0, false);
  return c->run(argc, argv);
}

/* A full disk must not look like success. */
int main(int argc, char **argv)
{
  int code = run(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    perror("r4: writing the result");
    return EXIT_WORLD;
  }
  return code;
}
